//! The words of rules. The parser knows each by these tables only, so that
//! messages and documentation can name all of them.

use super::signature::{self, Digest};

/// What a rule is made of.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    And,
    Or,
    Not,
    Match,
}

/// How a parameter is tested.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Value,
    Contains,
    DoesNotContain,
    Regex,
    Hmac(Digest),
    IpWhitelist,
}

/// Where a parameter comes from.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    Header,
    Query,
    Payload,
    Body,
    Request,
    Webhook,
    Text,
    EntirePayload,
    EntireQuery,
    EntireHeaders,
}

/// Which part of the request the origin `request` means.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Method,
    Path,
    RemoteAddr,
}

/// Which of the things that were found out about a webhook the origin `webhook` means.
#[derive(Clone, Copy)]
pub(super) enum Finding {
    Verified,
    Event,
    DuplicateOf,
}

pub(super) const OPERATORS: [(&str, Operator); 4] = [
    ("and", Operator::And),
    ("or", Operator::Or),
    ("not", Operator::Not),
    ("match", Operator::Match),
];

pub(super) const KINDS: [(&str, Kind); 12] = [
    ("value", Kind::Value),
    ("contains", Kind::Contains),
    ("substring", Kind::Contains),
    ("does-not-contain", Kind::DoesNotContain),
    ("regex", Kind::Regex),
    ("payload-hmac-sha1", Kind::Hmac(signature::SHA1)),
    ("payload-hmac-sha256", Kind::Hmac(signature::SHA256)),
    ("payload-hmac-sha512", Kind::Hmac(signature::SHA512)),
    ("payload-hash-sha1", Kind::Hmac(signature::SHA1)),
    ("payload-hash-sha256", Kind::Hmac(signature::SHA256)),
    ("payload-hash-sha512", Kind::Hmac(signature::SHA512)),
    ("ip-whitelist", Kind::IpWhitelist),
];

pub(super) const ORIGINS: [(&str, Origin); 12] = [
    ("header", Origin::Header),
    ("query", Origin::Query),
    ("url", Origin::Query),
    ("payload", Origin::Payload),
    ("body", Origin::Body),
    ("raw-request-body", Origin::Body),
    ("request", Origin::Request),
    ("webhook", Origin::Webhook),
    ("string", Origin::Text),
    ("entire-payload", Origin::EntirePayload),
    ("entire-query", Origin::EntireQuery),
    ("entire-headers", Origin::EntireHeaders),
];

pub(super) const PARTS: [(&str, Part); 3] =
    [("method", Part::Method), ("path", Part::Path), ("remote-addr", Part::RemoteAddr)];

/// Named as the fields of a log are.
pub(super) const FINDINGS: [(&str, Finding); 3] = [
    ("verified", Finding::Verified),
    ("event", Finding::Event),
    ("duplicate_of", Finding::DuplicateOf),
];

/// What `word` means.
pub(super) fn meaning<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

/// All words, for people.
pub(super) fn list<T>(words: &[(&'static str, T)]) -> String {
    words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
}
