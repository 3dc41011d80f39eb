//! The words of rules, each once: operators, match types and sources.
//!
//! The parser, explanations, the tables of the documentation, the OpenAPI document and the form
//! of the dashboard read these tables. A new word is added here, and where it is evaluated.

mod sources;

pub use sources::{NamedPart, ParameterName, ParameterSource, SOURCES};
pub(crate) use sources::{Of, Origin, Part};

use super::{
    number::Comparison,
    signature::{self, Digest},
};

/// What a rule is made of.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    And,
    Or,
    Not,
    Match,
}

pub(super) const OPERATORS: [(&str, Operator); 4] = [
    ("and", Operator::And),
    ("or", Operator::Or),
    ("not", Operator::Not),
    ("match", Operator::Match),
];

/// How a match tests its parameter: one word that the field `type` of a match may have.
#[derive(Debug)]
#[non_exhaustive]
pub struct MatchType {
    /// The word itself.
    pub word: &'static str,
    /// Other words that mean the same.
    pub aliases: &'static [&'static str],
    /// What the parameter is compared with.
    pub operand: Operand,
    /// Its name in a list of tests, behind the parameter.
    pub label: &'static str,
    /// How a sentence says that a parameter passes; `{}` stands for the operand.
    pub says: &'static str,
    /// What a parameter that passes does, for documentation.
    pub help: &'static str,
    /// How a sentence says that a parameter fails.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "an explanation reads it"))]
    pub(crate) fails: &'static str,
    /// Which parameter would have passed.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "an explanation reads it"))]
    pub(crate) wanted: &'static str,
    /// Which parameter would have failed.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "an explanation reads it"))]
    pub(crate) unwanted: &'static str,
    pub(crate) kind: Kind,
}

/// What a parameter is compared with, which decides the field of the match that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operand {
    /// Nothing.
    None,
    /// A text.
    Text,
    /// A number, as JSON or as a text that is one.
    Number,
    /// A text that the parameter may contain.
    Part,
    /// A regular expression.
    Regex,
    /// A secret that signs the body.
    Secret,
    /// Networks and addresses with blanks between them. The match has no parameter.
    Networks,
}

impl Operand {
    /// The field of the match that holds it.
    #[must_use]
    pub const fn field(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Text | Self::Number => Some("value"),
            Self::Part => Some("substring"),
            Self::Regex => Some("regex"),
            Self::Secret => Some("secret"),
            Self::Networks => Some("ip-range"),
        }
    }
}

/// How a match is evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Value,
    IsNot,
    Contains,
    DoesNotContain,
    StartsWith,
    EndsWith,
    Exists,
    Compares(Comparison),
    Regex,
    Hmac(Digest),
    IpWhitelist,
}

impl MatchType {
    /// The type that `word` means.
    #[must_use]
    pub fn of(word: &str) -> Option<&'static Self> {
        MATCH_TYPES.iter().find(|it| it.words().any(|known| known == word))
    }

    /// The word and its aliases.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.word].into_iter().chain(self.aliases.iter().copied())
    }
}

/// The match types.
pub const MATCH_TYPES: &[MatchType] = &[
    MatchType {
        word: "value",
        aliases: &[],
        operand: Operand::Text,
        label: "is",
        says: "is {}",
        help: "equals the text; the comparison takes constant time, as it may be a token",
        fails: "is not {}",
        wanted: "{}",
        unwanted: "anything but {}",
        kind: Kind::Value,
    },
    MatchType {
        word: "is-not",
        aliases: &[],
        operand: Operand::Text,
        label: "is not",
        says: "is not {}",
        help: "exists and does not equal the text",
        fails: "is {}",
        wanted: "anything but {}",
        unwanted: "{}",
        kind: Kind::IsNot,
    },
    MatchType {
        word: "contains",
        aliases: &["substring"],
        operand: Operand::Part,
        label: "contains",
        says: "contains {}",
        help: "contains the text",
        fails: "does not contain {}",
        wanted: "one that contains {}",
        unwanted: "none that contains {}",
        kind: Kind::Contains,
    },
    MatchType {
        word: "does-not-contain",
        aliases: &[],
        operand: Operand::Part,
        label: "does not contain",
        says: "does not contain {}",
        help: "is there and does not contain the text",
        fails: "contains {}",
        wanted: "one without {}",
        unwanted: "one that contains {}",
        kind: Kind::DoesNotContain,
    },
    MatchType {
        word: "starts-with",
        aliases: &[],
        operand: Operand::Text,
        label: "starts with",
        says: "starts with {}",
        help: "starts with the text",
        fails: "does not start with {}",
        wanted: "one that starts with {}",
        unwanted: "none that starts with {}",
        kind: Kind::StartsWith,
    },
    MatchType {
        word: "ends-with",
        aliases: &[],
        operand: Operand::Text,
        label: "ends with",
        says: "ends with {}",
        help: "ends with the text",
        fails: "does not end with {}",
        wanted: "one that ends with {}",
        unwanted: "none that ends with {}",
        kind: Kind::EndsWith,
    },
    MatchType {
        word: "exists",
        aliases: &[],
        operand: Operand::None,
        label: "exists",
        says: "exists",
        help: "exists, with any value",
        fails: "is missing",
        wanted: "any value",
        unwanted: "none",
        kind: Kind::Exists,
    },
    MatchType {
        word: "greater-than",
        aliases: &[],
        operand: Operand::Number,
        label: "is greater than",
        says: "is greater than {}",
        help: "is a number greater than this one",
        fails: "is not greater than {}",
        wanted: "a number greater than {}",
        unwanted: "none greater than {}",
        kind: Kind::Compares(Comparison::GreaterThan),
    },
    MatchType {
        word: "at-least",
        aliases: &[],
        operand: Operand::Number,
        label: "is at least",
        says: "is at least {}",
        help: "is a number, and equal to this one or greater",
        fails: "is not at least {}",
        wanted: "a number of at least {}",
        unwanted: "none of at least {}",
        kind: Kind::Compares(Comparison::AtLeast),
    },
    MatchType {
        word: "less-than",
        aliases: &[],
        operand: Operand::Number,
        label: "is less than",
        says: "is less than {}",
        help: "is a number less than this one",
        fails: "is not less than {}",
        wanted: "a number less than {}",
        unwanted: "none less than {}",
        kind: Kind::Compares(Comparison::LessThan),
    },
    MatchType {
        word: "at-most",
        aliases: &[],
        operand: Operand::Number,
        label: "is at most",
        says: "is at most {}",
        help: "is a number, and equal to this one or less",
        fails: "is not at most {}",
        wanted: "a number of at most {}",
        unwanted: "none of at most {}",
        kind: Kind::Compares(Comparison::AtMost),
    },
    MatchType {
        word: "regex",
        aliases: &[],
        operand: Operand::Regex,
        label: "matches the regex",
        says: "matches {}",
        help: "has a match of the regex (the syntax of RE2) anywhere",
        fails: "does not match {}",
        wanted: "one that matches {}",
        unwanted: "none that matches {}",
        kind: Kind::Regex,
    },
    hmac(
        "payload-hmac-sha256",
        &["payload-hash-sha256"],
        "is the HMAC-SHA256 under",
        "is the HMAC-SHA256 of the body under the secret, in hexadecimal digits",
        signature::SHA256,
    ),
    hmac(
        "payload-hmac-sha1",
        &["payload-hash-sha1"],
        "is the HMAC-SHA1 under",
        "is the HMAC-SHA1 of the body under the secret, in hexadecimal digits",
        signature::SHA1,
    ),
    hmac(
        "payload-hmac-sha512",
        &["payload-hash-sha512"],
        "is the HMAC-SHA512 under",
        "is the HMAC-SHA512 of the body under the secret, in hexadecimal digits",
        signature::SHA512,
    ),
    MatchType {
        word: "ip-whitelist",
        aliases: &[],
        operand: Operand::Networks,
        label: "(no parameter) the sender is in the networks",
        says: "is in {}",
        help: "(without a parameter) passes when the sender's address is in one of the networks",
        fails: "is not in {}",
        wanted: "one in {}",
        unwanted: "one outside of {}",
        kind: Kind::IpWhitelist,
    },
];

const fn hmac(
    word: &'static str,
    aliases: &'static [&'static str],
    label: &'static str,
    help: &'static str,
    digest: Digest,
) -> MatchType {
    MatchType {
        word,
        aliases,
        operand: Operand::Secret,
        label,
        says: "is the signature of the body under the rule's secret",
        help,
        fails: "is not the signature of the body under the rule's secret",
        wanted: "the signature of the body under the rule's secret",
        unwanted: "anything but the signature of the body",
        kind: Kind::Hmac(digest),
    }
}

/// All words of a table, for an error.
pub(super) fn list(words: impl Iterator<Item = &'static str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
