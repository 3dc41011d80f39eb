//! Who sent a request that came through the operator's own proxies.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, header::HOST};
use ipnet::IpNet;

use super::ingest::ClientAddr;
use crate::relay::headers::{FORWARDED_FOR, FORWARDED_HOST, FORWARDED_PROTO};

/// The networks of proxies whose `X-Forwarded-For`, `-Proto` and `-Host` are
/// believed. By default there are none, and these headers are only passed on.
///
/// ```
/// use http::Request;
/// use webhook_core::relay::{ClientAddr, TrustedProxies};
///
/// let proxies: TrustedProxies = "10.0.0.0/8, 192.0.2.7".parse()?;
/// let mut request = Request::new(());
/// request.headers_mut().insert("x-forwarded-for", "203.0.113.9, 10.1.1.1".parse()?);
/// let proxy = ClientAddr { ip: "10.2.2.2".parse()?, secure: false };
/// let client = proxies.client(proxy, &mut request);
/// assert_eq!(client.ip, "203.0.113.9".parse::<std::net::IpAddr>()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    networks: Vec<IpNet>,
}

/// An entry of a list of networks that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{entry:?} is not a network such as 10.0.0.0/8 or an address")]
pub struct InvalidProxies {
    entry: String,
}

impl TrustedProxies {
    /// Whether a request from this address may say who it is for.
    #[must_use]
    pub fn trusts(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.networks.iter().any(|network| network.contains(&ip))
    }

    /// Who sent a request that arrived from `peer`. When that is a trusted
    /// proxy, the request is brought into the form that it would have without
    /// the proxy, so that what is kept of it and sent on is true:
    ///
    /// * the client is the rightmost address of `X-Forwarded-For` that is not a
    ///   trusted one itself (the leftmost when all are); from there on the
    ///   header is cut, and what the client itself claimed is left;
    /// * it came over TLS or not as the last `X-Forwarded-Proto` says;
    /// * `Host` becomes the last `X-Forwarded-Host`.
    ///
    /// What a header does not say, or says in a way that is not understood, is
    /// as the connection has it. A request from anybody else is left alone.
    pub fn client<B>(&self, peer: ClientAddr, request: &mut Request<B>) -> ClientAddr {
        if !self.trusts(peer.ip) {
            return peer;
        }
        let ip = self.forwarded_for(peer.ip, request.headers_mut());
        let secure = match last(request.headers(), &FORWARDED_PROTO) {
            Some(proto) if proto.eq_ignore_ascii_case(b"https") => true,
            Some(proto) if proto.eq_ignore_ascii_case(b"http") => false,
            _ => peer.secure,
        };
        if let Some(Ok(host)) =
            last(request.headers(), &FORWARDED_HOST).map(HeaderValue::from_bytes)
        {
            request.headers_mut().insert(HOST, host);
            if request.uri().authority().is_some() {
                let path = request.uri().path_and_query().cloned();
                *request.uri_mut() = path.map_or_else(Uri::default, Uri::from);
            }
        }
        ClientAddr { ip, secure }
    }

    fn forwarded_for(&self, peer: IpAddr, headers: &mut HeaderMap) -> IpAddr {
        let chain: Vec<&[u8]> = headers
            .get_all(&FORWARDED_FOR)
            .iter()
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .collect();
        let mut client = peer;
        let mut claimed = chain.len();
        while let Some(hop) = claimed.checked_sub(1).and_then(|last| chain.get(last)) {
            let Some(ip) = address(hop) else { break };
            (client, claimed) = (ip, claimed - 1);
            if !self.trusts(ip) {
                break;
            }
        }
        let claims = chain.get(..claimed).unwrap_or_default().join(b", ".as_slice());
        match HeaderValue::from_bytes(&claims) {
            Ok(claims) if !claims.is_empty() => {
                headers.insert(&FORWARDED_FOR, claims);
            }
            _ => {
                headers.remove(&FORWARDED_FOR);
            }
        }
        client
    }
}

impl FromStr for TrustedProxies {
    type Err = InvalidProxies;

    /// Reads networks and addresses separated by commas or blanks.
    fn from_str(text: &str) -> Result<Self, InvalidProxies> {
        let networks = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                let network = entry.parse::<IpNet>();
                network
                    .or_else(|_| entry.parse::<IpAddr>().map(IpNet::from))
                    .map_err(|_| InvalidProxies { entry: entry.to_owned() })
            });
        Ok(Self { networks: networks.collect::<Result<_, _>>()? })
    }
}

/// What the nearest proxy says: the last entry of the last header.
fn last<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    let value = headers.get_all(name).iter().next_back()?.as_bytes();
    let entry = value.rsplit(|byte| *byte == b',').next()?.trim_ascii();
    (!entry.is_empty()).then_some(entry)
}

/// An address, with a port or without.
fn address(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim_matches('"');
    let ip = hop
        .parse::<IpAddr>()
        .or_else(|_| hop.parse::<SocketAddr>().map(|address| address.ip()))
        .or_else(|_| hop.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>());
    ip.ok().map(|ip| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// The client, and the headers that are left, of a request from `peer`.
    fn seen(peer: &str, headers: &[(&str, &str)]) -> (ClientAddr, Request<()>) {
        let proxies: TrustedProxies = "10.0.0.0/8,192.0.2.7 fd00::/8".parse().expect("a list");
        let mut request = Request::builder().uri("/a?b").header("host", "inside");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(()).expect("a request");
        let client = proxies.client(ClientAddr { ip: ip(peer), secure: false }, &mut request);
        (client, request)
    }

    #[test]
    fn a_stranger_is_not_believed() {
        let headers = [
            ("x-forwarded-for", "203.0.113.9"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "victim.example"),
        ];
        let (client, request) = seen("198.51.100.1", &headers);
        assert_eq!(client, ClientAddr { ip: ip("198.51.100.1"), secure: false });
        assert_eq!(request.headers()["host"], "inside");
        assert_eq!(request.headers()["x-forwarded-for"], "203.0.113.9");
        let mut request = Request::builder().header("x-forwarded-for", "1.1.1.1").body(());
        let request = request.as_mut().expect("a request");
        let peer = ClientAddr { ip: ip("10.0.0.1"), secure: true };
        assert_eq!(TrustedProxies::default().client(peer, request), peer);
    }

    #[test]
    fn the_rightmost_stranger_is_the_client() {
        for (chain, client, left) in [
            (&["203.0.113.9"][..], "203.0.113.9", ""),
            (&["203.0.113.9, 10.1.1.1"], "203.0.113.9", ""),
            (&["1.1.1.1, 203.0.113.9,10.1.1.1 , 192.0.2.7"], "203.0.113.9", "1.1.1.1"),
            (&["1.1.1.1, 10.9.9.9, 203.0.113.9"], "203.0.113.9", "1.1.1.1, 10.9.9.9"),
            (&["1.1.1.1", "203.0.113.9, 10.1.1.1"], "203.0.113.9", "1.1.1.1"),
            (&["10.1.1.1, 10.2.2.2"], "10.1.1.1", ""),
            (&["unknown, 10.2.2.2"], "10.2.2.2", "unknown"),
            (&["203.0.113.9, unknown"], "10.0.0.1", "203.0.113.9, unknown"),
            (&["203.0.113.9:4711"], "203.0.113.9", ""),
            (&["[2001:db8::1]:4711, fd00::1"], "2001:db8::1", ""),
            (&["2001:db8::1"], "2001:db8::1", ""),
            (&["::ffff:203.0.113.9, ::ffff:10.1.1.1"], "203.0.113.9", ""),
            (&[""], "10.0.0.1", ""),
            (&[], "10.0.0.1", ""),
        ] {
            let headers: Vec<_> = chain.iter().map(|value| ("x-forwarded-for", *value)).collect();
            let (found, request) = seen("10.0.0.1", &headers);
            assert_eq!(found.ip, ip(client), "{chain:?}");
            let rest = request.headers().get("x-forwarded-for");
            assert_eq!(rest.map_or("", |rest| rest.to_str().expect("text")), left, "{chain:?}");
        }
    }

    #[test]
    fn scheme_and_host_are_those_that_the_nearest_proxy_says() {
        for (proto, secure) in [
            ("https", true),
            ("HTTPS", true),
            ("http", false),
            ("http, https", true),
            ("gopher", false),
        ] {
            let (client, _) = seen("::ffff:10.0.0.1", &[("x-forwarded-proto", proto)]);
            assert_eq!(client.secure, secure, "{proto}");
        }
        let (_, request) = seen("10.0.0.1", &[("x-forwarded-host", "evil.example, a.example:8")]);
        assert_eq!(request.headers()["host"], "a.example:8");
        let (_, request) = seen("10.0.0.1", &[("x-forwarded-host", "")]);
        assert_eq!(request.headers()["host"], "inside");
    }

    #[test]
    fn a_forwarded_host_goes_before_the_authority_of_the_uri() {
        let proxies: TrustedProxies = "10.0.0.1".parse().expect("a list");
        let request = Request::builder().uri("http://inside.example/a?b");
        let mut request = request.header("x-forwarded-host", "a.example").body(()).expect("one");
        proxies.client(ClientAddr { ip: ip("10.0.0.1"), secure: false }, &mut request);
        assert_eq!(request.uri(), "/a?b");
        assert_eq!(super::super::requested_host(&request).expect("one"), Some("a.example"));
    }

    #[test]
    fn lists_are_checked() {
        assert_eq!("".parse(), Ok(TrustedProxies::default()));
        for wrong in ["proxy.example", "10.0.0.0/33", "10.0.0.1-10.0.0.9", "true"] {
            let error = wrong.parse::<TrustedProxies>().expect_err(wrong);
            assert!(error.to_string().contains("is not a network"), "{error}");
        }
    }
}
