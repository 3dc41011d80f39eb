//! What a browser sends of a form.

use std::time::Duration;

use axum::{
    body::to_bytes,
    extract::{FromRequest, Request},
};
use tokio::time::timeout;
use webhook_core::{Error, ErrorKind};

use crate::page::Problem;

/// How long a form may be.
const MAX_BYTES: usize = 4 << 20;
/// How long it may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Names and values, in the order of the form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Submitted(Vec<(String, String)>);

impl Submitted {
    #[cfg(test)]
    pub(crate) fn of(values: Vec<(String, String)>) -> Self {
        Self(values)
    }

    /// All names and values.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The last value of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().rev();
        values.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of this name, or nothing.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Whether a box of this name is checked.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl<S: Send + Sync> FromRequest<S> for Submitted {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let body = timeout(TIMEOUT, to_bytes(request.into_body(), MAX_BYTES)).await;
        let body = body.map_err(|_| Error::invalid("body", "did not arrive in time"))?;
        let body = body.map_err(|_| {
            let reason = format!("body: must be at most {MAX_BYTES} bytes long, and complete");
            Error::new(ErrorKind::TooLarge, reason)
        })?;
        let pairs = form_urlencoded::parse(&body);
        // Browsers send the end of a line in a text as two characters.
        let pairs = pairs.map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n")));
        Ok(Self(pairs.collect()))
    }
}
