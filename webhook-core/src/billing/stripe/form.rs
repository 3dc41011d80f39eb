//! What Stripe is sent.

use std::fmt;

use url::form_urlencoded::byte_serialize;

/// A form whose keys may be nested, `address[city]`.
#[derive(Debug, Default)]
pub(super) struct Form(String);

impl Form {
    pub(super) fn add(&mut self, key: &str, value: impl fmt::Display) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.extend(byte_serialize(key.as_bytes()));
        self.0.push('=');
        self.0.extend(byte_serialize(value.to_string().as_bytes()));
    }

    pub(super) fn encode(self) -> String {
        self.0
    }
}
