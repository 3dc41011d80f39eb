//! Requests that scripts send.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use serde_json::Value;
use url::Url;
use webhook_core::{
    forward::{ForwardRequest, ForwardResponse},
    function::ScriptLimits,
    model::hops,
};

use super::{Bounds, ModuleError, tree::plain_text, url::encode_query};

/// The options of a request that are plain data.
#[derive(Debug, Default)]
pub(crate) struct RequestOptions {
    /// A text, or an object of names and values.
    pub(crate) query: Option<Value>,
    pub(crate) headers: Option<Value>,
    pub(crate) cookies: Option<Value>,
    pub(crate) body: Option<Vec<u8>>,
    /// A text, or an object: an urlencoded body.
    pub(crate) form: Option<Value>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) auth: Option<(String, String)>,
}

fn invalid(message: impl std::fmt::Display) -> ModuleError {
    ModuleError::invalid(format!("http: {message}"))
}

/// A request as a forwarder takes it, sent because of a webhook that has passed `hops` relays:
/// a function that sends to an input of its own makes a loop as well. Its texts are of at most the limits'
/// length, and its body is charged, because several may wait to be sent.
pub(crate) fn request(
    method: &str,
    url: &str,
    options: RequestOptions,
    hops: u16,
    limits: &ScriptLimits,
    bounds: &mut Bounds,
) -> Result<ForwardRequest, ModuleError> {
    let RequestOptions { query, headers, cookies, body, form, timeout, auth } = options;
    let (longest, max_response_bytes) = (limits.total_time, limits.http_response_bytes);
    let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes())
        .map_err(|_| invalid("not a request method"))?;
    let mut url = Url::parse(url).map_err(|error| invalid(format!("address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("an address must begin with http:// or https://"));
    }
    if let Some(query) = query {
        let more = text_or_query(&query, limits.string_bytes)?;
        let whole = match url.query().filter(|query| !query.is_empty()) {
            Some(query) => format!("{query}&{more}"),
            None => more,
        };
        url.set_query(Some(&whole).filter(|query| !query.is_empty()).map(String::as_str));
    }
    let url = url.as_str().parse().map_err(|error| invalid(format!("address: {error}")))?;
    let mut request = ForwardRequest::new(method, url);
    request.body = Bytes::from(body.unwrap_or_default());
    request.timeout = timeout.unwrap_or(longest).min(longest);
    request.max_response_bytes = max_response_bytes;
    if let Some(form) = form {
        request.body = Bytes::from(text_or_query(&form, limits.string_bytes)?);
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers.insert(header::CONTENT_TYPE, form);
    }
    for (name, value) in fields(headers.as_ref(), "headers")? {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| invalid(format!("{name:?} is not a header name")))?;
        set(&mut request, name, &value)?;
    }
    let cookies = fields(cookies.as_ref(), "cookies")?;
    if !cookies.is_empty() {
        let cookies: Vec<_> =
            cookies.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        set(&mut request, header::COOKIE, &cookies.join("; "))?;
    }
    if let Some((user, pass)) = auth {
        let credentials = STANDARD.encode(format!("{user}:{pass}"));
        set(&mut request, header::AUTHORIZATION, &format!("Basic {credentials}"))?;
    }
    hops::write(hops, &mut request.headers);
    bounds.take(request.body.len())?;
    Ok(request)
}

fn set(request: &mut ForwardRequest, name: HeaderName, value: &str) -> Result<(), ModuleError> {
    let value = HeaderValue::from_str(value)
        .or_else(|_| HeaderValue::from_bytes(value.as_bytes()))
        .map_err(|_| invalid(format!("header {name} has a value with control characters")))?;
    match request.headers.try_insert(name, value) {
        Ok(_) => Ok(()),
        Err(_) => Err(invalid("too many headers")),
    }
}

fn text_or_query(value: &Value, longest: usize) -> Result<String, ModuleError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => encode_query(other, longest),
    }
}

/// The plain values of an object as text.
fn fields(value: Option<&Value>, what: &str) -> Result<Vec<(String, String)>, ModuleError> {
    let fields = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.is_empty() => return Ok(Vec::new()),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err(invalid(format!("{what} must be a table of names and values"))),
    };
    let fields = fields.iter().map(|(name, value)| match plain_text(value) {
        Some(text) if !value.is_null() => Ok((name.clone(), text.into_owned())),
        _ => Err(invalid(format!("{what}: {name:?} must have a plain value"))),
    });
    fields.collect()
}

/// The cookies that an answer sets, without their attributes.
pub(crate) fn cookies(response: &ForwardResponse) -> Vec<(String, String)> {
    let cookies = response.headers.get_all(header::SET_COOKIE).iter();
    let pairs = cookies.filter_map(|cookie| {
        let text = String::from_utf8_lossy(cookie.as_bytes()).into_owned();
        let (name, value) = text.split(';').next()?.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn build(options: RequestOptions) -> Result<ForwardRequest, ModuleError> {
        let mut bounds = Bounds::of_memory(1 << 20);
        let mut limits = ScriptLimits::default();
        limits.string_bytes = 1_000;
        request("post", "https://example.com/a?x=1", options, 4, &limits, &mut bounds)
    }

    #[test]
    fn options_become_a_request() {
        let request = build(RequestOptions {
            query: Some(json!({"y": 2})),
            headers: Some(json!({"X-A": "b", "X-N": 5, "X-Webhook-Relay-Hops": "0"})),
            cookies: Some(json!({"c": "d", "e": "f"})),
            form: Some(json!({"k": "v w"})),
            timeout: Some(Duration::from_secs(60)),
            auth: Some(("me".to_owned(), "pw".to_owned())),
            body: None,
        })
        .expect("good options");
        assert_eq!(request.url.to_string(), "https://example.com/a?x=1&y=2");
        assert_eq!(request.method, Method::POST);
        assert_eq!(request.headers["x-n"], "5");
        assert_eq!(request.headers["x-webhook-relay-hops"], "5", "a script cannot lower it");
        assert_eq!(request.headers["cookie"], "c=d; e=f");
        assert_eq!(request.headers["authorization"], "Basic bWU6cHc=");
        assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
        assert_eq!((&request.body[..], request.timeout), (&b"k=v+w"[..], Duration::from_secs(5)));
        assert!(request.tls_verification);
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let send = |method, url| {
            let mut bounds = Bounds::of_memory(1 << 20);
            request(
                method,
                url,
                RequestOptions::default(),
                0,
                &ScriptLimits::default(),
                &mut bounds,
            )
        };
        assert!(send("a b", "http://h").is_err());
        for url in ["", "/a", "ftp://h", "file:///etc/passwd", "http://"] {
            assert!(send("GET", url).is_err(), "{url}");
        }
        for headers in [json!("x"), json!({"a b": "c"}), json!({"a": {}}), json!({"a": "b\nc"})] {
            let headers = Some(headers);
            assert!(build(RequestOptions { headers, ..RequestOptions::default() }).is_err());
        }
    }

    #[test]
    fn bodies_are_bounded_and_charged() {
        let form = |length| RequestOptions {
            form: Some(json!({"k": "v".repeat(length)})),
            ..RequestOptions::default()
        };
        assert_eq!(build(form(1_000)).err(), Some(ModuleError::TooLong));
        let (mut bounds, limits) = (Bounds::of_memory(1_000), ScriptLimits::default());
        let mut send = || request("POST", "http://h", form(600), 0, &limits, &mut bounds);
        assert!(send().is_ok());
        assert_eq!(send().err(), Some(ModuleError::TooLarge));
    }
}
