//! Which headers are kept, and which are sent along.

use http::{
    HeaderMap, HeaderName, HeaderValue, Uri,
    header::{
        AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
        TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};

use crate::{
    error::Error,
    id::DeliveryId,
    model::{AuthType, BucketAuth, Webhook},
};

/// Headers that mean one connection, not the message (RFC 9110 section 7.6.1).
static HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// What is kept of the headers that came: all but the bucket's own credentials,
/// with the `Host` that HTTP/2 carries in the URI and that goes before the header
/// (RFC 9112 section 3.2.2).
pub(super) fn received(
    mut headers: HeaderMap,
    uri: &Uri,
    auth: &BucketAuth,
) -> Result<HeaderMap, Error> {
    if auth.kind != AuthType::None {
        headers.remove(AUTHORIZATION);
    }
    if let Some(authority) = uri.authority() {
        let host = HeaderValue::from_str(authority.as_str())
            .map_err(|_| Error::invalid("Host", "is not a header value"))?;
        headers.insert(HOST, host);
    }
    Ok(headers)
}

/// Leaves out what belongs to the connection and what is set anew for each message.
pub(super) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    headers.remove(CONTENT_LENGTH);
}

/// The headers of a delivery: those of the request with what the output and
/// the relay add.
pub(super) fn forwarded(
    request_headers: &HeaderMap,
    webhook: &Webhook,
    overwrite: &HeaderMap,
    delivery: DeliveryId,
) -> HeaderMap {
    let mut headers = request_headers.clone();
    drop_hop_by_hop(&mut headers);
    let host = headers.remove(HOST);

    if let Some(addr) = webhook.remote_addr {
        let before: Vec<&[u8]> =
            headers.get_all("x-forwarded-for").iter().map(HeaderValue::as_bytes).collect();
        let addr = addr.to_string();
        let chain = [before.as_slice(), &[addr.as_bytes()]].concat().join(b", ".as_slice());
        if let Ok(value) = HeaderValue::from_bytes(&chain) {
            headers.insert("x-forwarded-for", value);
        }
    }
    let scheme = if webhook.secure { "https" } else { "http" };
    headers.insert("x-forwarded-proto", HeaderValue::from_static(scheme));
    if let Some(host) = host {
        headers.insert("x-forwarded-host", host);
    }
    if let Ok(id) = HeaderValue::try_from(delivery.to_string()) {
        headers.insert("x-webhook-relay-id", id);
    }
    for name in overwrite.keys() {
        headers.remove(name);
    }
    headers.extend(overwrite.iter().map(|(name, value)| (name.clone(), value.clone())));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_the_connection_is_left_out() {
        let mut headers: HeaderMap = [
            ("connection", "close, X-Private , keep-alive"),
            ("x-private", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("content-length", "3"),
            ("te", "trailers"),
            ("upgrade", "h2c"),
            ("content-type", "text/plain"),
        ]
        .into_iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect();
        drop_hop_by_hop(&mut headers);
        assert_eq!(headers.len(), 1);
        assert_eq!(headers["content-type"], "text/plain");
    }
}
