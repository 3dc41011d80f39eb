//! Which headers are kept, and which are sent along.

use std::{io::Write, net::IpAddr};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Uri,
    header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, EXPECT, FORWARDED, HOST},
};

use crate::{
    error::Error,
    id::DeliveryId,
    model::{AuthType, BucketAuth, Webhook, hops},
};

/// Whether it means one connection, not the message (RFC 9110 section 7.6.1).
fn is_hop_by_hop(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "keep-alive"
            | "proxy-connection"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

pub(super) static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
pub(super) static FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
pub(super) static FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
static REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");
/// The marks of a relay begin with this.
const MARK: &str = "x-webhook-relay-";
static DELIVERY_ID: HeaderName = HeaderName::from_static("x-webhook-relay-id");

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

/// Removes the marks of a relay that a sender wrote: what is stored and sent on has marks of this
/// relay only. The count of relays is the exception, because it ends loops.
pub(super) fn drop_marks(headers: &mut HeaderMap) {
    let is_mark = |name: &&HeaderName| name.as_str().starts_with(MARK) && **name != hops::HEADER;
    let marks: Vec<_> = headers.keys().filter(is_mark).cloned().collect();
    for name in marks {
        headers.remove(name);
    }
}

/// What one message says of its own connection.
struct Hop<'a> {
    /// What `Connection` lists.
    named: Vec<&'a str>,
}

impl<'a> Hop<'a> {
    fn of(headers: &'a HeaderMap) -> Self {
        let lists = headers.get_all(CONNECTION).iter();
        let lists = lists.filter_map(|value| value.to_str().ok());
        Self { named: lists.flat_map(|list| list.split(',')).map(str::trim).collect() }
    }

    /// Whether it belongs to the connection, or is set anew for each message.
    fn has(&self, name: &HeaderName) -> bool {
        // What was expected is done: the relay has asked for the body (RFC 9110 §10.1.1).
        name == CONTENT_LENGTH
            || name == EXPECT
            || is_hop_by_hop(name.as_str())
            || self.named.iter().any(|named| name.as_str().eq_ignore_ascii_case(named))
    }
}

/// Leaves out what belongs to the connection and what is set anew for each message.
pub(super) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let hop = Hop::of(headers);
    let gone: Vec<_> = headers.keys().filter(|name| hop.has(name)).cloned().collect();
    for name in gone {
        headers.remove(name);
    }
}

/// The headers of a delivery: those of the request with what the output and
/// the relay add.
pub(super) fn forwarded(
    request_headers: &HeaderMap,
    webhook: &Webhook,
    overwrite: &HeaderMap,
    delivery: DeliveryId,
) -> HeaderMap {
    let hop = Hop::of(request_headers);
    // Nearly all of them stay, and a copy looks for no places.
    let mut headers = request_headers.clone();
    for name in request_headers.keys().filter(|name| *name == HOST || hop.has(name)) {
        headers.remove(name);
    }
    if let Some(addr) = webhook.remote_addr {
        let mut chain = Vec::with_capacity(64);
        for before in headers.get_all(&FORWARDED_FOR) {
            chain.extend_from_slice(before.as_bytes());
            chain.extend_from_slice(b", ");
        }
        // Writing to a vector does not fail.
        let _ = write!(chain, "{addr}");
        if let Ok(value) = HeaderValue::from_maybe_shared(Bytes::from(chain)) {
            headers.insert(&FORWARDED_FOR, value);
        }
    }
    let scheme = if webhook.secure { "https" } else { "http" };
    headers.insert(&FORWARDED_PROTO, HeaderValue::from_static(scheme));
    if let Some(host) = request_headers.get(HOST).filter(|_| !hop.has(&HOST)) {
        headers.insert(&FORWARDED_HOST, host.clone());
    }
    claims_of_senders(&mut headers, webhook, request_headers.get(HOST));
    if let Ok(id) = HeaderValue::try_from(delivery.to_string()) {
        headers.insert(&DELIVERY_ID, id);
    }
    if !overwrite.is_empty() {
        for name in overwrite.keys() {
            headers.remove(name);
        }
        headers.extend(overwrite.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    hops::write(webhook.checks.hops, &mut headers);
    headers
}

/// Keeps `X-Real-IP` and `Forwarded` of a sender from claiming another address: the first becomes
/// the address of the sender, the second ends with it. Neither is added where the sender sent none.
fn claims_of_senders(headers: &mut HeaderMap, webhook: &Webhook, host: Option<&HeaderValue>) {
    let address = webhook.remote_addr;
    if headers.remove(&REAL_IP).is_some()
        && let Some(Ok(address)) = address.map(|ip| HeaderValue::try_from(ip.to_string()))
    {
        headers.insert(&REAL_IP, address);
    }
    if !headers.contains_key(FORWARDED) {
        return;
    }
    let mut chain = Vec::with_capacity(128);
    for before in headers.get_all(FORWARDED) {
        // An open quotation would swallow what follows.
        let quotes = before.as_bytes().iter().filter(|byte| **byte == b'"').count();
        if quotes % 2 == 0 && !before.as_bytes().contains(&b'\\') {
            chain.extend_from_slice(before.as_bytes());
            chain.extend_from_slice(b", ");
        }
    }
    // Writing to a vector does not fail.
    let _ = match address {
        Some(IpAddr::V4(ip)) => write!(chain, "for={ip}"),
        Some(IpAddr::V6(ip)) => write!(chain, "for=\"[{ip}]\""),
        None => write!(chain, "for=unknown"),
    };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b".:-_[]".contains(byte);
    if let Some(host) = host.and_then(|host| host.to_str().ok())
        && host.as_bytes().iter().all(is_plain)
    {
        let _ = write!(chain, ";host=\"{host}\"");
    }
    let _ = write!(chain, ";proto={}", if webhook.secure { "https" } else { "http" });
    if let Ok(value) = HeaderValue::from_maybe_shared(Bytes::from(chain)) {
        headers.insert(FORWARDED, value);
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::{
        clock::Timestamp,
        id::{AccountId, BucketId, InputId, WebhookId},
        model::Request,
    };

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

    /// What leaves of a request with these headers, under the output's own.
    fn sent(headers: &[(&'static str, &'static str)], overwrite: &HeaderMap) -> HeaderMap {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let request = Request::new(Method::POST, headers.collect(), Bytes::new());
        let place = (AccountId::generate(), BucketId::generate(), InputId::generate());
        let webhook = Webhook {
            remote_addr: Some([203, 0, 113, 7].into()),
            secure: true,
            ..Webhook::new(WebhookId::generate(), place, request, Timestamp::default())
        };
        forwarded(&webhook.request.headers, &webhook, overwrite, DeliveryId::generate())
    }

    #[test]
    fn who_forwarded_is_appended_and_the_host_is_kept_aside() {
        let headers = [("host", "a.example"), ("x-forwarded-for", "192.0.2.1"), ("x-a", "1")];
        let mut sent = sent(&headers, &HeaderMap::new());
        assert!(sent.remove("x-webhook-relay-id").is_some());
        assert_eq!(sent.remove("x-webhook-relay-hops"), Some(HeaderValue::from_static("1")));
        assert_eq!(sent["x-forwarded-for"], "192.0.2.1, 203.0.113.7");
        assert_eq!(sent["x-forwarded-proto"], "https");
        assert_eq!(sent["x-forwarded-host"], "a.example");
        assert_eq!((sent.len(), &sent["x-a"]), (4, &HeaderValue::from_static("1")));
    }

    #[test]
    fn a_sender_writes_no_marks_of_the_relay_except_the_count() {
        let names = ["x-webhook-relay-id", "x-webhook-relay-replay-of", "x-webhook-relay-made-up"];
        let mut headers = HeaderMap::new();
        for name in names.into_iter().chain(["x-webhook-relay-hops", "x-webhook-relayed"]) {
            headers.append(name, HeaderValue::from_static("3"));
            headers.append(name, HeaderValue::from_static("4"));
        }
        drop_marks(&mut headers);
        assert_eq!((headers.keys_len(), hops::of(&headers)), (2, 4));
        assert!(headers.contains_key("x-webhook-relayed"));
    }

    #[test]
    fn no_header_claims_another_sender() {
        let none = sent(&[("x-a", "1")], &HeaderMap::new());
        assert!(!none.contains_key("x-real-ip") && !none.contains_key("forwarded"));
        let own = "for=203.0.113.7;host=\"a.example\";proto=https";
        for (claim, left) in [
            ("for=192.0.2.1;proto=http", "for=192.0.2.1;proto=http, "),
            ("for=\"[2001:db8::1]:80\"", "for=\"[2001:db8::1]:80\", "),
            ("for=\"192.0.2.1", ""),
            ("for=\"a\\\"", ""),
        ] {
            let headers = [("host", "a.example"), ("x-real-ip", "192.0.2.1"), ("forwarded", claim)];
            let sent = sent(&headers, &HeaderMap::new());
            assert_eq!(sent["x-real-ip"], "203.0.113.7");
            assert_eq!(sent["forwarded"], format!("{left}{own}"), "{claim}");
        }
        let headers = [("host", "a\";for=b"), ("forwarded", "for=c"), ("connection", "x-real-ip")];
        let sent = sent(&headers, &HeaderMap::new());
        assert_eq!(sent["forwarded"], "for=c, for=203.0.113.7;proto=https");
    }

    #[test]
    fn what_the_sender_expected_of_the_relay_is_not_expected_of_the_destination() {
        let sent = sent(&[("expect", "100-continue"), ("x-a", "1")], &HeaderMap::new());
        assert!(!sent.contains_key("expect") && sent.contains_key("x-a"), "{sent:?}");
    }

    #[test]
    fn what_the_connection_lists_is_not_passed_on_under_another_name() {
        let headers = [
            ("connection", "X-Forwarded-For, host"),
            ("host", "a.example"),
            ("x-forwarded-for", "192.0.2.1"),
        ];
        let sent = sent(&headers, &HeaderMap::new());
        assert_eq!(sent["x-forwarded-for"], "203.0.113.7");
        assert!(!sent.contains_key("x-forwarded-host") && !sent.contains_key("host"));
    }

    #[test]
    fn the_outputs_own_headers_replace_all_others() {
        let own = [("x-forwarded-for", "hidden"), ("x-a", "2"), ("host", "b.example")];
        let own = own
            .into_iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        let sent = sent(&[("host", "a.example"), ("x-a", "1"), ("x-a", "3")], &own);
        for (name, value) in &own {
            assert!(sent.get_all(name).iter().eq([value]), "{name}");
        }
        assert_eq!(sent["x-forwarded-host"], "a.example");
    }
}
