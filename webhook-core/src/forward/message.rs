//! What every HTTP-speaking forwarder does to a request and an answer.

use std::time::Duration;

use ::http::{
    HeaderMap, HeaderValue, Method,
    header::{CONTENT_LENGTH, HOST, HeaderName, TRANSFER_ENCODING},
    uri::{Authority, PathAndQuery, Uri},
};
use bytes::Bytes;
use tokio::time::Instant;

use super::ForwardError;

/// A request in the parts that do not depend on the connection it will take,
/// to a URL that is a [`destination`].
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) method: Method,
    pub(super) target: PathAndQuery,
    /// The `Host` header that replaces the URL's authority.
    pub(super) host: Option<HostOverride>,
    /// Without `Host`; `Content-Length` tells the body's length.
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A `Host` header, and the same for HTTP/2's `:authority`.
#[derive(Debug)]
pub(super) struct HostOverride {
    pub(super) header: HeaderValue,
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP/2 sends it"))]
    pub(super) authority: Authority,
}

impl Outgoing {
    pub(super) fn new(
        method: Method,
        url: &Uri,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Self, ForwardError> {
        if method == Method::CONNECT {
            return Err(ForwardError::Unsendable("method CONNECT opens a tunnel".to_owned()));
        }
        let target = match url.path_and_query() {
            // A query may follow the authority at once (RFC 9112 section 3.2.1).
            Some(target) if target.as_str().starts_with('?') => format!("/{}", target.as_str())
                .parse()
                .map_err(|error| ForwardError::Unsendable(format!("the path: {error}")))?,
            Some(target) => target.clone(),
            None => PathAndQuery::from_static("/"),
        };
        let host = match headers.remove(HOST) {
            Some(header) if !header.is_empty() => Some(HostOverride::new(header)?),
            _ => None,
        };
        // A length or coding that came from elsewhere would let the
        // destination see another end of the body than the one sent.
        headers.remove(TRANSFER_ENCODING);
        headers.remove(CONTENT_LENGTH);
        if !body.is_empty() {
            set(&mut headers, CONTENT_LENGTH, HeaderValue::from(body.len()))?;
        } else if expects_content(&method) {
            set(&mut headers, CONTENT_LENGTH, HeaderValue::from_static("0"))?;
        }
        Ok(Self { method, target, host, headers, body })
    }
}

impl HostOverride {
    fn new(header: HeaderValue) -> Result<Self, ForwardError> {
        match Authority::try_from(header.as_bytes()) {
            Ok(authority) if !authority.as_str().contains('@') => Ok(Self { header, authority }),
            _ => Err(ForwardError::Unsendable("header Host is not a host and port".to_owned())),
        }
    }
}

/// The scheme and authority of a URL that can be sent to, `https://example.com:8443`.
pub(super) fn destination(url: &Uri) -> Result<String, ForwardError> {
    let unsendable = |reason: &str| ForwardError::Unsendable(reason.to_owned());
    let scheme = match url.scheme_str() {
        Some(scheme @ ("http" | "https")) => scheme,
        Some(_) => return Err(unsendable("the scheme must be http or https")),
        None => return Err(unsendable("the URL is not absolute")),
    };
    let authority = url.authority().map(Authority::as_str).unwrap_or_default();
    if url.host().is_none_or(str::is_empty) {
        return Err(unsendable("host is missing"));
    }
    if authority.contains('@') {
        return Err(unsendable("user name and password do not belong into the URL"));
    }
    if url.port_u16() == Some(0) {
        return Err(unsendable("port 0 cannot be connected to"));
    }
    Ok([scheme, "://", authority].concat())
}

/// `HeaderMap::insert` that fails instead of panicking when the map is full.
pub(super) fn set(
    headers: &mut HeaderMap,
    name: HeaderName,
    value: HeaderValue,
) -> Result<(), ForwardError> {
    match headers.try_insert(name, value) {
        Ok(_) => Ok(()),
        Err(_) => Err(ForwardError::Unsendable("too many headers".to_owned())),
    }
}

/// Whether an empty body is told by `Content-Length: 0` (RFC 9110 §8.6). The
/// methods without content do not, unknown ones do, which harms nobody.
fn expects_content(method: &Method) -> bool {
    !matches!(
        *method,
        Method::GET | Method::HEAD | Method::DELETE | Method::OPTIONS | Method::TRACE
    )
}

/// When `timeout` from now ends; far away if it is too long for the clock.
pub(super) fn deadline(timeout: Duration) -> Instant {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or_else(|| now + DAY)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_url_is_sendable_or_refused(text in "https?://[a-z0-9.@:]{1,12}/\\PC{0,30}", host in "\\PC{0,12}") {
            let Ok(url) = text.parse::<Uri>() else { return Ok(()) };
            let mut headers = HeaderMap::new();
            if let Ok(host) = HeaderValue::try_from(host) {
                headers.insert(HOST, host);
            }
            headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
            match Outgoing::new(Method::POST, &url, headers, Bytes::new()) {
                Ok(outgoing) => {
                    prop_assert_eq!(Some(&outgoing.target), url.path_and_query());
                    prop_assert!(!outgoing.headers.contains_key(TRANSFER_ENCODING));
                    prop_assert_eq!(&outgoing.headers[CONTENT_LENGTH], "0");
                }
                Err(error) => prop_assert!(matches!(error, ForwardError::Unsendable(_)), "{error:?}"),
            }
        }
    }
}
