//! Asking whether an input would believe a request.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::Method;
use serde::{Deserialize, Serialize};

use super::{Headers, Request, wire};
use crate::{
    error::{Error, invalid_if},
    id::DeliveryId,
};

/// The request whose signature is asked about: that of a log, or one that is given.
/// Exactly one of the two is there.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignatureCheckRequest {
    /// The ID of a log of the input. How long ago its webhook was signed does not count.
    #[serde(default, deserialize_with = "wire::optional_id::deserialize")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub log_id: Option<DeliveryId>,
    /// A request as its sender made it, at this moment.
    #[serde(default, deserialize_with = "wire::optional_object")]
    pub request: Option<CheckedRequest>,
}

/// A request to an input.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CheckedRequest {
    /// The method, `POST`.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub method: String,
    /// What follows the input's address in the path, with its leading slash; or empty.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub path: String,
    /// The query without its question mark.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub raw_query: String,
    /// The headers. Where a scheme signs the URL, `Host` is part of it.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    pub headers: Headers,
    /// The body: text, or base64 where `body_encoding` says so.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub body: String,
    /// `base64`, or empty for text.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub body_encoding: String,
}

impl CheckedRequest {
    /// The request that it describes.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid), with the field that cannot be part of a request.
    pub fn into_request(self) -> Result<Request, Error> {
        let Self { method, path, raw_query, headers: Headers(headers), body, body_encoding } = self;
        let method = match method.as_str() {
            "" => Method::POST,
            text => Method::from_bytes(text.as_bytes()).map_err(|_| {
                Error::invalid("request.method", format!("{text:?} is not a method"))
            })?,
        };
        let reason = "must start with a slash";
        invalid_if(!path.is_empty() && !path.starts_with('/'), "request.path", reason)?;
        let body = match body_encoding.as_str() {
            "" => Bytes::from(body),
            "base64" => {
                let decoded = STANDARD.decode(&body);
                decoded.map_err(|_| Error::invalid("request.body", "is not base64"))?.into()
            }
            _ => {
                return Err(Error::invalid("request.body_encoding", "must be base64 or empty"));
            }
        };
        Ok(Request { method, extra_path: path, raw_query, headers, body })
    }
}

/// What an input says of a request's signature. It has nothing that would make a signature:
/// no secret, no parameter, and not the value that would be right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignatureCheck {
    /// Whether the request is from whoever has one of the secrets.
    pub verified: bool,
    /// Why it is not, as its sender would be told; empty if it is.
    pub reason: String,
    /// Which of the input's secrets made the signature, from 0; absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u32>))]
    pub secret_index: Option<usize>,
    /// The beginning of what the scheme signs of this request, at most 4 096 bytes. Secrets and
    /// parameters in it are `…`, and what is not UTF-8 is `U+FFFD`. Empty where
    /// nothing is signed, or what is signed is not there.
    pub signed_bytes_preview: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(json: &str) -> Result<Request, Error> {
        serde_json::from_str::<CheckedRequest>(json).expect(json).into_request()
    }

    #[test]
    fn a_body_is_text_unless_it_says_otherwise() -> Result<(), Error> {
        let text = request(r#"{"body":"aGk=","path":"/a","headers":{"X-A":"1"}}"#)?;
        assert_eq!((&text.method, &*text.body), (&Method::POST, &b"aGk="[..]));
        assert_eq!((&*text.extra_path, text.headers["x-a"].as_bytes()), ("/a", &b"1"[..]));
        let bytes = request(r#"{"body":"aGk=","body_encoding":"base64","method":"PUT"}"#)?;
        assert_eq!((bytes.method, &*bytes.body), (Method::PUT, &b"hi"[..]));
        Ok(())
    }

    #[test]
    fn refusals_name_the_field() {
        for (json, field) in [
            (r#"{"method":"a b"}"#, "request.method: "),
            (r#"{"path":"a"}"#, "request.path: "),
            (r#"{"body":"?","body_encoding":"base64"}"#, "request.body: "),
            (r#"{"body_encoding":"hex"}"#, "request.body_encoding: "),
        ] {
            let text = request(json).expect_err(json).to_string();
            assert!(text.starts_with(field), "{text}");
        }
    }
}
