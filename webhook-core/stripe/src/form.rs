//! What Stripe is sent.

use std::fmt;

use url::form_urlencoded::byte_serialize;

/// A form whose keys may be nested, `address[city]`.
#[derive(Debug, Default)]
pub(crate) struct Form(String);

impl Form {
    pub(crate) fn add(&mut self, key: &str, value: impl fmt::Display) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.extend(byte_serialize(key.as_bytes()));
        self.0.push('=');
        self.0.extend(byte_serialize(value.to_string().as_bytes()));
    }

    pub(crate) fn encode(self) -> String {
        self.0
    }
}
