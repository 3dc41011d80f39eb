//! The request that leaves for a destination.

use std::time::Duration;

use http::Uri;

use crate::{
    destination::Outgoing,
    forward::{ForwardError, path},
    id::DeliveryId,
    model::{OutputSpec, Request, Webhook},
    relay::headers,
};

/// How long an attempt may take when the output does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The error about a path that would leave the folder of a destination.
pub(in crate::relay) const CLIMBS: &str =
    "the path leads above the destination with its segments \"..\"";

/// The `request` of `webhook` as one attempt sends it.
pub(super) fn outgoing(
    spec: &OutputSpec,
    webhook: &Webhook,
    request: &Request,
    delivery: DeliveryId,
    max_response_bytes: usize,
) -> Result<Outgoing, ForwardError> {
    Ok(Outgoing {
        delivery,
        method: request.method.clone(),
        url: target(spec, request)?,
        headers: headers::forwarded(&request.headers, webhook, &spec.headers.0, delivery),
        body: request.body.clone(),
        tls_verification: spec.tls_verification,
        max_response_bytes,
        new_connection: false,
    })
}

/// How long one attempt may take.
pub(super) fn timeout(spec: &OutputSpec) -> Duration {
    spec.timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(DEFAULT_TIMEOUT)
}

/// Destination path and extra path, the destination's own query and the
/// webhook's. Nothing is decoded, cleaned or encoded again:
/// the destination sees the bytes that the sender sent.
fn target(spec: &OutputSpec, request: &Request) -> Result<Uri, ForwardError> {
    let unsendable = |what: &str| ForwardError::Unsendable(format!("{what} is not a valid URL"));
    let raw = spec.destination.as_str();
    let join = |destination| path::join(destination, extra_path(spec, request), &request.raw_query);
    if let Ok(uri) = join(raw).parse::<Uri>()
        && uri.authority().is_some()
    {
        return Ok(uri);
    }
    if raw.parse::<Uri>().is_ok_and(|uri| uri.authority().is_some()) {
        return Err(unsendable("the path"));
    }
    // International names and unescaped characters take the long way.
    let cleaned = url::Url::parse(raw).map_err(|_| unsendable("the destination"))?;
    join(cleaned.as_str()).parse().map_err(|_| unsendable("the path"))
}

/// The path that an output appends to its destination.
pub(in crate::relay) fn extra_path<'a>(spec: &OutputSpec, request: &'a Request) -> &'a str {
    if spec.lock_path { "" } else { &request.extra_path }
}

/// Why `request` may not be sent to the output; none when it may.
pub(in crate::relay) fn refused_path(spec: &OutputSpec, request: &Request) -> Option<&'static str> {
    path::climbs(extra_path(spec, request)).then_some(CLIMBS)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, Method};

    use super::*;

    fn sent(destination: &str, lock_path: bool, extra: &str, query: &str) -> String {
        let spec =
            OutputSpec { destination: destination.to_owned(), lock_path, ..OutputSpec::default() };
        let request = Request {
            method: Method::POST,
            extra_path: extra.to_owned(),
            raw_query: query.to_owned(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        target(&spec, &request).map_or_else(|error| error.to_string(), |uri| uri.to_string())
    }

    #[test]
    fn paths_and_queries_are_joined_and_left_as_they_are() {
        assert_eq!(sent("http://a/b", false, "", ""), "http://a/b");
        assert_eq!(sent("http://a/b/", false, "", ""), "http://a/b/");
        assert_eq!(sent("http://a", false, "/x", ""), "http://a/x");
        assert_eq!(sent("http://a/b/", false, "/x/", ""), "http://a/b/x/");
        assert_eq!(sent("http://a/b", false, "x", ""), "http://a/b/x");
        assert_eq!(sent("http://a/b", true, "/x", "q=1"), "http://a/b?q=1");
        assert_eq!(sent("http://a/b?k=v#f", false, "/x", "q=1"), "http://a/b/x?k=v&q=1");
        assert_eq!(sent("http://a/b?k=v", false, "", ""), "http://a/b?k=v");
        assert_eq!(
            sent("http://a/b", false, "/x%2F..//%41/../", "a=%20+"),
            "http://a/b/x%2F..//%41/../?a=%20+"
        );
        assert_eq!(
            sent("http://bücher.example/a b", false, "/x", ""),
            "http://xn--bcher-kva.example/a%20b/x"
        );
        assert_eq!(
            sent("http://a/b", false, "/x y", ""),
            "request cannot be sent: the path is not a valid URL"
        );
    }
}
