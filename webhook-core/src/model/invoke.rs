//! What a caller gives a function to run on.

use std::collections::BTreeMap;

use crate::wire::Described;
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::Deserialize;

use super::{Checks, Driver, Headers, Invoked, Request, ScriptResponse, wire};
use crate::{
    error::{Error, invalid_if},
    id::DeliveryId,
};

/// The request that a function is invoked with, in any of the forms that
/// clients send: `{"request": {…}}`, flat, or nothing. The `execute_request`
/// of an `ExecuteLog` can be sent as it is.
#[derive(Clone, Debug, Default, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvokeRequest {
    /// The request; what is given beside it is then ignored.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub request: Option<InvokedRequest>,
    /// The destination's answer, to run the function as a response function.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub response: Option<InvokedResponse>,
    /// The flat form: the method, `POST`.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[field]
    pub method: String,
    /// The flat form: what follows the input's address in the path.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[field]
    pub path: String,
    /// The flat form: the query.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[field]
    pub raw_query: String,
    /// The flat form: the headers.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    #[field]
    pub headers: Headers,
    /// The flat form: the body as plain text.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[field]
    pub request_body: String,
}

/// A function that is not saved, and what it is run on.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TryRequest {
    /// The source text; base64 of it is taken as well.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub payload: String,
    /// The language of the source.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub driver: Driver,
    /// The request; without it a POST without a body.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub request: Option<InvokedRequest>,
    /// The destination's answer, to run the function as a response function.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub response: Option<InvokedResponse>,
}

/// A request for a function.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvokedRequest {
    /// The method, `POST`.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub method: String,
    /// What follows the input's address in the path.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub path: String,
    /// The query.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub raw_query: String,
    /// The headers.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    pub headers: Headers,
    /// The headers as an `ExecuteLog` has them, where `headers` are not given.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub header: BTreeMap<String, HeaderValues>,
    /// The body in base64; what is not base64 is the body itself.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub body: String,
    /// What `r.Metadata` reads.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub metadata: BTreeMap<String, String>,
    /// What `r.Verified` reads; nil if it is not given.
    #[serde(default)]
    pub verified: Option<bool>,
    /// What `r.EventType` reads; nil if it is not given.
    #[serde(default)]
    pub event: Option<String>,
    /// What `r.DuplicateOf` reads; nil if it is not given.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = "uuid"))]
    pub duplicate_of: Option<DeliveryId>,
}

/// A destination's answer for a response function.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvokedResponse {
    /// The status.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub status: u16,
    /// The headers.
    #[serde(default, deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    pub headers: Headers,
    /// The headers as an `ExecuteLog` has them, where `headers` are not given.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub header: BTreeMap<String, HeaderValues>,
    /// The body in base64; what is not base64 is the body itself.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub body: String,
}

/// The values of one header.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeaderValues {
    /// In their order.
    #[serde(default, deserialize_with = "wire::null_default")]
    pub values: Vec<String>,
}

impl InvokeRequest {
    /// What it means.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid), with the field that cannot be
    /// part of a request.
    pub fn into_invoked(self) -> Result<Invoked, Error> {
        let Self { request, response, method, path, raw_query, headers, request_body } = self;
        let (request, metadata, checks) = match request {
            Some(given) => {
                let headers = either(given.headers, given.header, "request.header")?;
                let InvokedRequest { method, path, raw_query, body, metadata, .. } = given;
                let InvokedRequest { verified, event, duplicate_of, .. } = given;
                let checks = Checks { verified, event, duplicate_of, ..Checks::default() };
                let place = Place { method: "request.method", path: "request.path" };
                let request = place.request(&method, path, &raw_query, headers, bytes(body))?;
                (request, metadata, checks)
            }
            None => {
                let place = Place { method: "method", path: "path" };
                let body = Bytes::from(request_body);
                let request = place.request(&method, path, &raw_query, headers.0, body)?;
                (request, BTreeMap::new(), Checks::default())
            }
        };
        let response = match response {
            Some(InvokedResponse { status, headers, header, body }) => Some(ScriptResponse {
                status,
                headers: either(headers, header, "response.header")?,
                body: bytes(body),
            }),
            None => None,
        };
        Ok(Invoked { request, response, metadata, checks })
    }
}

/// What the fields are called.
struct Place {
    method: &'static str,
    path: &'static str,
}

impl Place {
    fn request(
        &self,
        method: &str,
        extra_path: String,
        raw_query: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Request, Error> {
        let method = match method {
            "" => Method::POST,
            method => Method::from_bytes(method.as_bytes())
                .map_err(|_| Error::invalid(self.method, format!("{method:?} is not a method")))?,
        };
        let reason = "must start with a slash";
        invalid_if(!extra_path.is_empty() && !extra_path.starts_with('/'), self.path, reason)?;
        let raw_query = raw_query.strip_prefix('?').unwrap_or(raw_query).to_owned();
        Ok(Request { method, extra_path, raw_query, headers, body })
    }
}

fn bytes(text: String) -> Bytes {
    STANDARD.decode(&text).map_or_else(|_| Bytes::from(text), Bytes::from)
}

fn either(
    headers: Headers,
    listed: BTreeMap<String, HeaderValues>,
    field: &str,
) -> Result<HeaderMap, Error> {
    let Headers(mut headers) = headers;
    if !headers.is_empty() {
        return Ok(headers);
    }
    for (name, HeaderValues { values }) in listed {
        let key = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| Error::invalid(field, format!("{name:?} is not a header name")))?;
        for value in values {
            let value = HeaderValue::try_from(value).map_err(|_| {
                Error::invalid(field, format!("{name:?} has a value with control characters"))
            })?;
            headers
                .try_append(key.clone(), value)
                .map_err(|_| Error::invalid(field, "too many headers"))?;
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invoked(json: &str) -> Result<Invoked, Error> {
        let request: InvokeRequest = serde_json::from_str(json).expect(json);
        request.into_invoked()
    }

    #[test]
    fn three_forms() -> Result<(), Error> {
        let nothing = invoked("{}")?;
        assert_eq!((&nothing.request.method, nothing.request.body.len()), (&Method::POST, 0));

        let nested = invoked(
            r#"{"request":{"method":"PUT","path":"/a","raw_query":"?k=v","body":"aGk=",
                "headers":{"X-A":"1"},"metadata":{"k":"v"}}}"#,
        )?;
        let Request { method, extra_path, raw_query, headers, body } = nested.request;
        assert_eq!((method, &*extra_path, &*raw_query), (Method::PUT, "/a", "k=v"));
        assert_eq!((headers["x-a"].as_bytes(), &*body), (&b"1"[..], &b"hi"[..]));
        assert_eq!(nested.metadata["k"], "v");

        let flat = invoked(
            r#"{"method":"GET","raw_query":"k=v","request_body":"aGk=",
            "headers":{"X-A":["1","2"]},"request":null}"#,
        )?;
        assert_eq!((flat.request.method, &*flat.request.body), (Method::GET, &b"aGk="[..]));
        assert_eq!(flat.request.headers.get_all("x-a").iter().count(), 2);
        Ok(())
    }

    #[test]
    fn what_is_not_base64_is_the_body_itself() -> Result<(), Error> {
        let json = r#"{"request":{"body":"{\"a\":1}"},"response":{"status":404,"body":"gone!"}}"#;
        let Invoked { request, response, .. } = invoked(json)?;
        assert_eq!(request.body, r#"{"a":1}"#);
        let response = response.expect("it was given");
        assert_eq!((response.status, &*response.body), (404, &b"gone!"[..]));
        Ok(())
    }

    #[test]
    fn a_recorded_request_can_be_sent_as_it_is() -> Result<(), Error> {
        let json = r#"{"function_id":"x","request":{"body":"aGk=","body_modified":false,
            "header":{"X-A":{"values":["1","2"]}},"header_modified":false,"path":"","method":"POST",
            "raw_query":""}}"#;
        let request = invoked(json)?.request;
        assert_eq!(request.headers.get_all("x-a").iter().count(), 2);
        assert_eq!(request.body, "hi");
        Ok(())
    }

    #[test]
    fn refusals_name_the_field() {
        for (json, field) in [
            (r#"{"request":{"method":"a b"}}"#, "request.method: "),
            (r#"{"method":"a b"}"#, "method: "),
            (r#"{"request":{"path":"a"}}"#, "request.path: "),
            (r#"{"request":{"header":{"a b":{"values":["x"]}}}}"#, "request.header: "),
            (r#"{"response":{"header":{"a":{"values":["\u0000"]}}}}"#, "response.header: "),
        ] {
            let text = invoked(json).expect_err(json).to_string();
            assert!(text.starts_with(field), "{text}");
        }
    }
}
