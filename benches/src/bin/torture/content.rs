//! The content of a webhook that must arrive unchanged, as one hash for each part.

use ring::digest::{Context, SHA256};

/// Bytes of a hash: half of SHA-256's, because chance makes no two equal and no attacker takes
/// part.
const HASH: usize = 16;

type Hash = [u8; HASH];

/// Headers that belong to one connection (RFC 9110 section 7.6.1), that the relay sets
/// again for each message, or that it adds (docs/delivery.md).
const REPLACED: [&str; 17] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    "host",
    "content-length",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-webhook-relay-id",
    "x-webhook-relay-hops",
];

/// The hashes of one webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Of the method, the extra path and the query.
    target: Hash,
    /// Of every header that is not replaced on the way.
    headers: Hash,
    body: Hash,
}

impl Content {
    pub(crate) const BYTES: usize = 3 * HASH;

    /// `target` is the extra path with the query. The order of headers counts within one
    /// name, whose case does not.
    pub(crate) fn of<'a>(
        method: &str,
        target: &str,
        headers: impl Iterator<Item = (&'a str, &'a [u8])>,
        body: &[u8],
    ) -> Self {
        let named = headers.map(|(name, value)| (name.to_ascii_lowercase(), value));
        let mut kept: Vec<_> =
            named.filter(|(name, _)| !REPLACED.contains(&name.as_str())).collect();
        kept.sort_by(|(one, _), (other, _)| one.cmp(other));
        let lines = kept.iter().flat_map(|(name, value)| [name.as_bytes(), *value]);
        Self {
            target: hash([method.as_bytes(), target.as_bytes()]),
            headers: hash(lines),
            body: hash([body]),
        }
    }

    /// Names the parts that differ between this content and another one.
    pub(crate) fn differences(&self, other: &Self) -> Vec<&'static str> {
        let Self { target, headers, body } = self;
        let parts = [
            (*target == other.target, "method, path or query"),
            (*headers == other.headers, "headers"),
            (*body == other.body, "body"),
        ];
        parts.into_iter().filter(|(same, _)| !same).map(|(_, part)| part).collect()
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let parts = [self.target, self.headers, self.body];
        bytes.copy_from_slice(parts.as_flattened());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let part = |number: usize| {
            let mut hash = Hash::default();
            hash.copy_from_slice(&bytes[number * HASH..(number + 1) * HASH]);
            hash
        };
        Self { target: part(0), headers: part(1), body: part(2) }
    }
}

/// Hashes several texts. Their lengths are hashed too, so that no text can pass for a part of
/// its neighbour.
fn hash<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Hash {
    let mut context = Context::new(&SHA256);
    for text in texts {
        context.update(&(text.len() as u64).to_le_bytes());
        context.update(text);
    }
    let mut hash = Hash::default();
    hash.copy_from_slice(&context.finish().as_ref()[..HASH]);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(headers: &[(&'static str, &'static str)]) -> Content {
        let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        Content::of("POST", "/a?b", headers, b"body")
    }

    #[test]
    fn each_part_that_changes_is_named() {
        let sent = with(&[("a", "1")]);
        let none = std::iter::empty;
        assert_eq!(sent.differences(&with(&[("A", "1"), ("Host", "h")])), Vec::<&str>::new());
        assert_eq!(sent.differences(&with(&[("a", "2")])), ["headers"]);
        let other = Content::of("PUT", "/a?b", none(), b"bodz");
        assert_eq!(sent.differences(&other), ["method, path or query", "headers", "body"]);
        assert_eq!(Content::from_bytes(&sent.to_bytes()), sent);
    }

    #[test]
    fn the_order_of_headers_counts_within_one_name() {
        let sent = with(&[("a", "1"), ("b", "2"), ("a", "3")]);
        assert_eq!(sent, with(&[("b", "2"), ("a", "1"), ("a", "3")]));
        assert_ne!(sent, with(&[("a", "3"), ("b", "2"), ("a", "1")]));
        assert_ne!(sent, with(&[("a", "1"), ("b", "2")]));
    }
}
