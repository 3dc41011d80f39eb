//! Rules: which webhooks pass an output.
//! Pure: a request and the sender's address in, yes or no out.
//!
//! A rule is a JSON object with one of four keys:
//!
//! | rule | passes when |
//! |---|---|
//! | `{"and": [rule, …]}` | every rule passes; so does an empty list |
//! | `{"or": [rule, …]}` | some rule passes; an empty list never does |
//! | `{"not": rule or [rule, …]}` | none passes |
//! | `{"match": {"type", "parameter", …}}` | the parameter is present and passes the test |
//! | `{}` | always |
//!
//! ```
//! use bytes::Bytes;
//! use http::{HeaderMap, Method};
//! use webhook_core::rule::{Request, Rules, Subject};
//!
//! let rules: Rules = serde_json::from_str(
//!     r#"{"and": [
//!         {"match": {"type": "value", "value": "push",
//!                    "parameter": {"source": "header", "name": "X-GitHub-Event"}}},
//!         {"match": {"type": "regex", "regex": "^refs/heads/(main|release-.*)$",
//!                    "parameter": {"source": "payload", "name": "ref"}}}
//!     ]}"#,
//! )?;
//!
//! let mut request = Request {
//!     method: Method::POST,
//!     extra_path: String::new(),
//!     raw_query: String::new(),
//!     headers: HeaderMap::from_iter([(
//!         "x-github-event".parse().expect("a header name"),
//!         "push".parse().expect("a header value"),
//!     )]),
//!     body: Bytes::from_static(br#"{"ref": "refs/heads/main"}"#),
//! };
//! assert!(rules.matches(&Subject::new(&request)));
//!
//! request.body = Bytes::from_static(br#"{"ref": "refs/heads/experiment"}"#);
//! assert!(!rules.matches(&Subject::new(&request)));
//!
//! let error = serde_json::from_str::<Rules>(r#"{"or": [{"match": {"type": "exact"}}]}"#)
//!     .expect_err("there is no such type");
//! assert!(error.to_string().starts_with("rules.or[0].match.type: unknown type \"exact\""));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! A program builds them without JSON: see [`Rule`].
//!
#![doc = include_str!("vocabulary.md")]
//!
//! # Meaning
//!
//! A missing parameter passes no test, `is-not` included. Numbers are JSON numbers and texts that are
//! numbers; they are compared digit by digit, whatever their length. Anything else is no number
//! and passes no comparison. A regex has the syntax and the meaning of RE2 (`\d`, `\w`, `\s`,
//! `\b` are ASCII).
//!
//! A signature is hexadecimal in either case, after an optional `sha1=`,
//! `sha256=` or `sha512=` as the type says; of several, separated by commas, one
//! has to be right and the first 16 are tried. With
//! `base64decode` the digest's bytes themselves are taken as well. An IPv4
//! address that arrives in its IPv6 form (`::ffff:192.0.2.1`) is that IPv4
//! address, in `ip-range` too.
//!
//! `"base64decode": true` decodes the value first (standard or URL-safe
//! alphabet, padded or not); what does not decode is missing. `envname` is
//! accepted and has no effect: it names an environment variable for programs
//! that are started with the parameter, and here none is.
//!
//! A header, query key or form field that is there several times passes when
//! any of its values does, and passes `does-not-contain` when none of them
//! contains the text; the first [`MAX_VALUES`] are looked at. A **missing** parameter passes no test, not even
//! `does-not-contain`, so that a `not` around it passes.
//!
//! # Payloads
//!
//! The body is read as the module [`content`](crate::content) says, at most once for each
//! [`Rules::matches`], only as far as the rules have paths into it, and only
//! when a rule gets there. A body that cannot be read has no parameters.
//!
//! * **JSON**: `commits.0.author.name`; lists count from 0. `*` stands for any element of a
//!   list: `commits.*.author.name` has as many values as there are commits. A key with dots in
//!   it is found as well and wins over the path; of a key given twice the last
//!   counts. Text compares as such, everything else as compact JSON text with
//!   numbers digit by digit as they came: `true`, `null`, `1.50`,
//!   `{"a":[1,2]}`. A list has no alternatives: it compares as one text.
//! * **Form**: the field's name, dots and brackets included. The name `payload` is the text of that
//!   field, also where its JSON is the document.
//! * **Text that is JSON**: `Message.order.id` leads on into a text that is an object or a list, where no
//!   field has the whole name.
//! * **XML** (with the feature `xml`, without which
//!   [`Rules::can_evaluate`] refuses such a webhook): `order.item.0.sku` from the root element on, by local
//!   names. An attribute is `-name`, the text beside attributes or elements
//!   `#text`, both trimmed of white space at the ends; an element with nothing
//!   but text is that text. Elements of one name make a list, and `0` finds an
//!   element that is alone. Entities other than the five of XML are not
//!   expanded: a body with one does not parse, nor does one with over
//!   [`MAX_XML_DEPTH`] elements inside each other.
//!
//! # Bounds
//!
//! Rules beyond [`MAX_DEPTH`], [`MAX_RULES`], [`MAX_SIZE_BYTES`],
//! [`MAX_REGEXES`], [`MAX_REGEX_BYTES`], [`REGEX_MEMORY_BYTES`],
//! [`MAX_SLOW_REGEXES`], [`MAX_SIGNATURES`] or [`MAX_PATH_SEGMENTS`] are refused
//! when they are read.
//!
//! Evaluating takes, for each match, time linear in the size of the request,
//! and memory of a small multiple of that size in all, whatever is in it;
//! nothing about it recurses deeper than the rules themselves do. A regex is
//! turned into a table that takes one step for each byte. The rare one whose
//! table would be too large (a counted repetition that can begin anywhere,
//! such as `foo.{0,100}bar`) is still taken, but then costs more for each byte,
//! and looks at the first [`SLOW_REGEX_STEPS`] ÷ states bytes of a parameter
//! only: some 50 KB for that example.

mod answer;
mod bounded;
mod build;
#[cfg(feature = "admin")]
mod changes;
#[cfg(feature = "admin")]
mod explain;
mod matching;
mod number;
mod parse;
mod path;
mod payload;
mod regex;
mod signature;
mod tree;
mod view;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Map, Value};
use uuid::Uuid;

pub use crate::wire::{Error, ErrorKind, Request};

pub use answer::AnswerRules;
pub(crate) use answer::MAX_ANSWER_BYTES;
pub use build::{Parameter, Rule};
#[cfg(feature = "admin")]
pub use changes::{MAX_CHANGES, RequestChange, RequestChanges, RequestPart};
#[cfg(feature = "admin")]
pub use explain::{
    ExplainedMatch, ExplainedRule, Explanation, MAX_EXPLAINED_BYTES, MAX_EXPLAINED_VALUE_BYTES,
    MAX_EXPLAINED_VALUES,
};
use path::Path;
pub(crate) use payload::value_at;
use vocabulary::Of;
pub use vocabulary::{
    MATCH_TYPES, MatchType, NamedPart, Operand, ParameterName, ParameterSource, SOURCES,
};

/// When a sender may try a webhook again that another build could evaluate.
const RETRY_UNREADABLE_AFTER: Duration = Duration::from_secs(60);

/// How many rules may be inside each other, the outermost counted.
pub const MAX_DEPTH: usize = 32;
/// How many rules there may be, at any depth and of any kind.
pub const MAX_RULES: usize = 1_000;
/// How large rules may be: the bytes of all keys and texts, and 8 for each value.
pub const MAX_SIZE_BYTES: usize = 256 * 1024;
/// How many matches may be of type `regex`.
pub const MAX_REGEXES: usize = 100;
/// How long one regex may be.
pub const MAX_REGEX_BYTES: usize = 8 * 1024;
/// How much memory the automaton of a regex may take, and again the table made
/// of it; without a table, what each thread that searches may keep.
pub const REGEX_MEMORY_BYTES: usize = 512 * 1024;
/// How many regexes may be so complex that no table of [`REGEX_MEMORY_BYTES`] holds them.
pub const MAX_SLOW_REGEXES: usize = 8;
/// How many bytes of a parameter such a regex is searched for in, times the
/// states of its automaton. What comes after is not looked at.
pub const SLOW_REGEX_STEPS: usize = 50_000_000;
/// How many matches may be of the HMAC types.
pub const MAX_SIGNATURES: usize = 100;
/// How many of the comma-separated signatures in a parameter are tried.
pub(crate) const MAX_SIGNATURES_TRIED: usize = 16;
/// How many segments the dotted path of a `payload` parameter may have.
pub use crate::wire::json::MAX_PATH_SEGMENTS;
/// How many values of one query key, of one form field, or at one path with `*` in it, are looked at.
pub const MAX_VALUES: usize = 1_000;
pub use crate::wire::json::MAX_XML_DEPTH;

/// Which webhooks pass an output: see the [module](self) for what can be said.
///
/// Reading them from JSON checks them and compiles them once; the error says
/// where and why (`rules.and[3].not.match.regex: unclosed group`). Clones share
/// the compiled form. Writing them gives back the JSON they were read from, and
/// two are equal when their JSON is. `{}`, `null` and [`Rules::default`] let
/// every webhook pass.
#[derive(Clone, Default)]
pub struct Rules {
    compiled: Option<Arc<Compiled>>,
}

struct Compiled {
    json: Map<String, Value>,
    tree: tree::Tree,
}

impl Rules {
    /// Whether `subject` passes. The same rules and subject always give the same answer.
    #[must_use]
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        self.compiled.as_ref().is_none_or(|compiled| compiled.tree.matches(subject))
    }

    /// Why `subject` passes, or does not: what each rule said, and which decided. Its outcome is
    /// what [`matches`](Self::matches) answers. It looks at all rules where that one stops
    /// early; so it is for questions that people ask.
    #[cfg(feature = "admin")]
    #[must_use]
    pub fn explain(&self, subject: &Subject<'_>) -> Explanation {
        let compiled = self.compiled.as_ref().map(|compiled| (&compiled.tree, &compiled.json));
        explain::explain(compiled, subject)
    }

    /// Whether this build can evaluate the rules for `subject`: ask it before
    /// [`matches`](Self::matches), to which a body that is not read has no
    /// parameters.
    ///
    /// # Errors
    ///
    /// A rule looks into a body of XML, and this program was built without the
    /// feature `xml`. It is of the kind [`Unavailable`](ErrorKind::Unavailable),
    /// so that the sender tries again.
    pub fn can_evaluate(&self, subject: &Subject<'_>) -> Result<(), Error> {
        let with_xml = cfg!(feature = "xml");
        let reads_payload = self.compiled.as_ref().is_some_and(|it| it.tree.reads_payload);
        match !reads_payload || payload::is_readable(subject.request, with_xml) {
            true => Ok(()),
            false => Err(Error::unavailable(
                "the rules look into a body of XML, and this program was built without the \
                 feature xml",
                RETRY_UNREADABLE_AFTER,
            )),
        }
    }

    /// Reads rules about `of`.
    fn read<'de, D: Deserializer<'de>>(deserializer: D, of: Of) -> Result<Self, D::Error> {
        match bounded::deserialize(deserializer, Path::new(of.field()))? {
            Value::Null => Ok(Self::default()),
            Value::Object(json) if json.is_empty() => Ok(Self::default()),
            Value::Object(json) => {
                let tree = parse::parse(&json, of).map_err(D::Error::custom)?;
                Ok(Self { compiled: Some(Arc::new(Compiled { json, tree })) })
            }
            _ => Err(D::Error::custom(Path::new(of.field()).invalid("must be an object"))),
        }
    }

    /// Whether these are no rules, so that every webhook passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.compiled.is_none()
    }
}

impl fmt::Debug for Rules {
    /// Leaves out what the rules compare with: secrets and tokens are among it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = self.compiled.as_ref().map_or(0, |compiled| compiled.tree.rules);
        f.debug_struct("Rules").field("rules", &rules).finish_non_exhaustive()
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        match (&self.compiled, &other.compiled) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.json == b.json,
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

impl crate::wire::described::Value for Rules {
    fn shape(&self) -> crate::wire::described::Shape {
        crate::wire::described::Shape::Json
    }
}

impl Serialize for Rules {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.compiled {
            Some(compiled) => compiled.json.serialize(serializer),
            None => serializer.collect_map(std::iter::empty::<((), ())>()),
        }
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer, Of::Webhook)
    }
}

/// What rules are asked about.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// The request, as received or as a function left it.
    pub request: &'a Request,
    /// The sender's address, where it is known.
    pub remote_addr: Option<IpAddr>,
    /// Whether it is from whom it says it is; none when nobody asked.
    pub verified: Option<bool>,
    /// The sender's name for what happened, where it is known.
    pub event: Option<&'a str>,
    /// The first log of the webhook that this one is a duplicate of.
    pub duplicate_of: Option<Uuid>,
    /// The status, where the request is the answer of a destination.
    pub(crate) status: Option<StatusCode>,
}

impl<'a> Subject<'a> {
    /// A request of which nothing else is known.
    #[must_use]
    pub const fn new(request: &'a Request) -> Self {
        let (remote_addr, verified, event, duplicate_of, status) = (None, None, None, None, None);
        Self { request, remote_addr, verified, event, duplicate_of, status }
    }
}
