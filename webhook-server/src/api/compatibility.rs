//! Where the hosted product decides otherwise than the document, and its infrastructure tools count
//! on it (`docs/migrating.md`).

use std::collections::HashMap;

use axum::extract::{FromRequest, Request};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use webhook_core::model::{BucketSpec, Function, OutputSpec};

use crate::{
    api::{
        error::ApiError,
        extract::{Raw, parse},
    },
    state::AppState,
};

/// A specification with a switch. The hosted product takes a missing switch for off, and this server
/// for on.
pub(crate) trait Switched {
    /// The field of the switch.
    const FIELD: &'static str;

    fn switch(&mut self) -> &mut bool;
}

impl Switched for BucketSpec {
    const FIELD: &'static str = "stream";

    fn switch(&mut self) -> &mut bool {
        &mut self.stream
    }
}

impl Switched for OutputSpec {
    const FIELD: &'static str = "tls_verification";

    fn switch(&mut self) -> &mut bool {
        &mut self.tls_verification
    }
}

/// As [`JsonObject`](crate::api::extract::JsonObject), with the switch as the compatibility says.
#[derive(Debug)]
pub(crate) struct Spec<T>(pub(crate) T);

impl<T: DeserializeOwned + Switched> FromRequest<AppState> for Spec<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let Raw(body) = Raw::from_request(request, state).await?;
        let mut spec: T = parse(&body)?;
        if state.is_as_hosted() && !has(&body, T::FIELD) {
            *spec.switch() = false;
        }
        Ok(Self(spec))
    }
}

/// The function as its sender knows it: the hosted product answers a source in base64.
pub(crate) fn as_sent(state: &AppState, mut function: Function) -> Function {
    if state.is_as_hosted() && function.spec.sent_in_base64 {
        function.spec.payload = STANDARD.encode(&function.spec.payload);
    }
    function
}

/// Whether the object has the field with a value.
fn has(json: &[u8], field: &str) -> bool {
    #[derive(Deserialize)]
    struct Fields<'a>(#[serde(borrow)] HashMap<std::borrow::Cow<'a, str>, Option<IgnoredAny>>);

    let fields = serde_json::from_slice::<Fields>(json);
    fields.is_ok_and(|Fields(fields)| fields.get(field).is_some_and(Option::is_some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_other_depths_are_no_value() {
        for (json, expected) in [
            (r#"{"stream":false}"#, true),
            (r#"{"str\u0065am":true}"#, true),
            (r#"{"stream":null}"#, false),
            (r#"{"name":"stream","auth":{"stream":true}}"#, false),
            ("{}", false),
        ] {
            assert_eq!(has(json.as_bytes(), "stream"), expected, "{json}");
        }
    }
}
