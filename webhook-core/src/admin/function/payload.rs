//! From what a caller sends as `payload` to the source that is stored.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};

use super::super::{Admin, check};
use crate::{
    error::{Error, ErrorKind},
    function::FunctionError,
    model::{Driver, FunctionSpec},
};

impl Admin {
    /// The source that `payload` is, or is base64 of; and whether it is base64.
    ///
    /// Text in base64 that decodes to a source which compiles is that source:
    /// a program of base64's characters alone, without blanks, quotes and
    /// brackets, would do nothing. Everything else is the source itself.
    pub(super) async fn source(
        &self,
        driver: Driver,
        payload: String,
    ) -> Result<(String, bool), Error> {
        let Some(decoded) = decode(&payload) else {
            return self.compile(driver, &payload).await.map(|()| (payload, false));
        };
        let refused = match self.compile(driver, &decoded).await {
            Ok(()) => return Ok((decoded, true)),
            Err(error) if error.kind() != ErrorKind::Invalid => return Err(error),
            Err(error) => error,
        };
        match self.compile(driver, &payload).await {
            Ok(()) => Ok((payload, false)),
            // Whoever sends base64 wants to know what is wrong inside of it.
            Err(_) => Err(refused),
        }
    }

    /// The source of a candidate, which is not saved.
    pub(super) async fn unsaved(&self, driver: Driver, payload: String) -> Result<String, Error> {
        let spec = FunctionSpec::new("", driver, payload);
        check::fields(&spec)?;
        Ok(self.source(driver, spec.payload).await?.0)
    }

    pub(super) async fn compile(&self, driver: Driver, source: &str) -> Result<(), Error> {
        let checked = match &self.functions {
            Some(runtime) => runtime.check(driver, source).await,
            None => Err(FunctionError::NoDriver(driver)),
        };
        checked.map_err(|error| match error {
            FunctionError::Busy => Error::unavailable(error.to_string(), Duration::from_secs(1)),
            FunctionError::NoDriver(_) => Error::invalid("driver", error),
            _ => Error::invalid("payload", error),
        })
    }
}

/// The text that this is base64 of, line breaks in it aside.
fn decode(payload: &str) -> Option<String> {
    let text: String = payload.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    let decoded = String::from_utf8(STANDARD.decode(text).ok()?).ok()?;
    (!decoded.trim().is_empty()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sources_are_not_base64() {
        for source in [
            "r:StopForwarding()",
            "return",
            "local a = 1\nlocal b = 2",
            "r.body = 'x';",
            "break",
            "-- a comment",
            "",
            "IAo=",
        ] {
            assert_eq!(decode(source), None, "{source}");
        }
    }

    proptest! {
        #[test]
        fn base64_is_found_however_it_is_broken(source in "[a-z].{0,200}", width in 4_usize..80) {
            let text = STANDARD.encode(&source);
            let lines: Vec<_> = text.as_bytes().chunks(width).collect();
            let broken = lines.join(&b"\r\n"[..]);
            let broken = String::from_utf8(broken).expect("base64 is text");
            prop_assert_eq!(decode(&broken), Some(source));
        }
    }
}
