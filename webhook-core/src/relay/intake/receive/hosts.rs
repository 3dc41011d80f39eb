//! Which host a request names.

use std::borrow::Cow;

use http::{Request, header::HOST};

use crate::error::{Error, invalid_if};

/// The longest name in the DNS, in bytes.
const MAX_NAME_BYTES: usize = 253;

/// The host that a request names, as it came: the authority of its URI, which
/// HTTP/2 and requests to proxies carry, or else the header `Host` (RFC 9112
/// section 3.2). None when it names none, or not in ASCII.
///
/// # Errors
///
/// `Invalid` when there is more than one `Host`: what stands before this
/// program may have gone by another one.
pub fn requested_host<B>(request: &Request<B>) -> Result<Option<&str>, Error> {
    let mut headers = request.headers().get_all(HOST).iter();
    let header = headers.next();
    invalid_if(headers.next().is_some(), "Host", "the header is given more than once")?;
    Ok(match request.uri().authority() {
        Some(authority) => Some(authority.as_str()),
        None => header.and_then(|header| header.to_str().ok()),
    })
}

/// The DNS name in a host: in lower case, without port and without the dot of
/// the root. None for addresses, for names of one label, and for what is no
/// name: none of them can be reserved.
#[must_use]
pub fn host_name(host: &str) -> Option<Cow<'_, str>> {
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit_once('.')?.1;
    let fits = name.len() <= MAX_NAME_BYTES
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && !last.bytes().all(|byte| byte.is_ascii_digit());
    if !fits {
        return None;
    }
    Some(match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_any_spelling() {
        for host in [
            "hooks.example.com",
            "HOOKS.Example.com",
            "hooks.example.com.",
            "hooks.example.com:8443",
            "Hooks.example.com.:443",
            "hooks.example.com:",
            "user@hooks.example.com",
        ] {
            assert_eq!(host_name(host).as_deref(), Some("hooks.example.com"), "{host}");
        }
        assert_eq!(host_name("XN--bcher-kva.example").as_deref(), Some("xn--bcher-kva.example"));
    }

    #[test]
    fn what_cannot_be_reserved_is_no_name() {
        let long = format!("{}.example", "a".repeat(250));
        for host in [
            "",
            ".",
            "..",
            "localhost",
            "localhost:80",
            "com.",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1.",
            "[::1]",
            "[::1]:80",
            "::1",
            "a.example:http",
            "a.example:80:80",
            "a_b.example",
            "a b.example",
            "bücher.example",
            "a.example/",
            "*.example",
            &long,
        ] {
            assert_eq!(host_name(host), None, "{host:?}");
        }
    }

    #[test]
    fn the_authority_goes_before_the_header() {
        let request = |uri: &str, hosts: &[&str]| {
            let mut request = Request::builder().uri(uri);
            for host in hosts {
                request = request.header("host", *host);
            }
            request.body(()).expect("a request")
        };
        let named = |uri, hosts| {
            let request = request(uri, hosts);
            requested_host(&request).map(|host| host.map(str::to_owned))
        };
        assert_eq!(named("/a", &[]).expect("none"), None);
        assert_eq!(named("/a", &["a.example:80"]).expect("one").as_deref(), Some("a.example:80"));
        let absolute = named("https://b.example/a", &["a.example"]).expect("one");
        assert_eq!(absolute.as_deref(), Some("b.example"));
        for uri in ["/", "https://b.example/"] {
            assert!(named(uri, &["a.example", "a.example"]).is_err());
        }
    }
}
