//! Rules that a program builds, in place of JSON that somebody wrote.

use std::{fmt, ops::Not};

use ipnet::IpNet;
use serde::{Serialize, Serializer, de::Deserialize};
use serde_json::{Map, Value};

use super::Rules;
use crate::wire::{Error, ErrorKind};

/// A rule that is built in Rust. [`Rules`] are made of it, and only then it is
/// checked; written as JSON it is what the [module](super) describes.
///
/// ```
/// use webhook_core::rule::{Rule, Rules};
///
/// let push = Rule::header("X-GitHub-Event").equals("push");
/// let released = Rule::payload("ref").matches("^refs/heads/(main|release-.*)$");
/// let rules = Rules::try_from(push.and(released).and(!Rule::query("dry-run").equals("1")))?;
///
/// let error = Rules::try_from(Rule::any([Rule::body().matches("(")])).expect_err("no regex");
/// assert_eq!(error.to_string(), "rules.or[0].match.regex: unclosed group");
/// # Ok::<(), webhook_core::rule::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Rule {
    json: Map<String, Value>,
}

impl Rule {
    /// Passes always.
    #[must_use]
    pub fn always() -> Self {
        Self { json: Map::new() }
    }

    /// Passes when each of `rules` does, and when there are none.
    #[must_use]
    pub fn all(rules: impl IntoIterator<Item = Self>) -> Self {
        Self::of("and", rules.into_iter().map(Self::into_json).collect::<Value>())
    }

    /// Passes when one of `rules` does.
    #[must_use]
    pub fn any(rules: impl IntoIterator<Item = Self>) -> Self {
        Self::of("or", rules.into_iter().map(Self::into_json).collect::<Value>())
    }

    /// Passes when none of `rules` does.
    #[must_use]
    pub fn none(rules: impl IntoIterator<Item = Self>) -> Self {
        Self::of("not", rules.into_iter().map(Self::into_json).collect::<Value>())
    }

    /// Passes when this one and `other` do.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.joined("and", other)
    }

    /// Passes when this one or `other` does.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.joined("or", other)
    }

    /// Passes when the sender's address is in one of `networks`, of which there
    /// must be one.
    #[must_use]
    pub fn sent_from(networks: impl IntoIterator<Item = impl Into<IpNet>>) -> Self {
        let ranges: Vec<_> =
            networks.into_iter().map(|network| network.into().to_string()).collect();
        Self::matching("ip-whitelist", Some(("ip-range", ranges.join(" "))), None)
    }

    /// The header of this name, in any case.
    pub fn header(name: impl Into<String>) -> Parameter {
        Parameter::named("header", name)
    }

    /// The value of this key in the query, percent-decoded.
    pub fn query(key: impl Into<String>) -> Parameter {
        Parameter::named("query", key)
    }

    /// The value at this dotted path in the body; `*` stands for any element of a list.
    pub fn payload(path: impl Into<String>) -> Parameter {
        Parameter::named("payload", path)
    }

    /// The bytes of the body.
    pub fn body() -> Parameter {
        Parameter::whole("body")
    }

    /// The request's method.
    pub fn method() -> Parameter {
        Parameter::named("request", "method")
    }

    /// What follows the input's address in the path.
    pub fn path() -> Parameter {
        Parameter::named("request", "path")
    }

    /// The sender's address, as text.
    pub fn remote_addr() -> Parameter {
        Parameter::named("request", "remote-addr")
    }

    /// Passes when the webhook is from whom it says it is.
    #[must_use]
    pub fn verified() -> Self {
        Parameter::named("webhook", "verified").equals("true")
    }

    /// The sender's name for what happened, where its provider has one and it was verified.
    pub fn event() -> Parameter {
        Parameter::named("webhook", "event")
    }

    /// The first log of the webhook that this one is a duplicate of.
    pub fn duplicate_of() -> Parameter {
        Parameter::named("webhook", "duplicate_of")
    }

    /// The status code of an answer, for rules about answers only.
    pub fn status() -> Parameter {
        Parameter::whole("status")
    }

    /// This text itself.
    pub fn text(text: impl Into<String>) -> Parameter {
        Parameter::named("string", text)
    }

    /// The parsed body, as JSON text.
    pub fn entire_payload() -> Parameter {
        Parameter::whole("entire-payload")
    }

    /// The query, as JSON text.
    pub fn entire_query() -> Parameter {
        Parameter::whole("entire-query")
    }

    /// The headers, as JSON text.
    pub fn entire_headers() -> Parameter {
        Parameter::whole("entire-headers")
    }

    fn of(operator: &str, value: Value) -> Self {
        Self { json: Map::from_iter([(operator.to_owned(), value)]) }
    }

    fn matching(kind: &str, operand: Option<(&str, String)>, parameter: Option<Parameter>) -> Self {
        let mut fields = Map::new();
        fields.insert("type".to_owned(), kind.into());
        if let Some((field, text)) = operand {
            fields.insert(field.to_owned(), text.into());
        }
        if let Some(parameter) = parameter {
            fields.insert("parameter".to_owned(), parameter.into_json());
        }
        Self::of("match", fields.into())
    }

    /// Adds to the list of a rule that has one already, so that a long chain is not deep.
    fn joined(self, operator: &str, other: Self) -> Self {
        let Self { mut json } = self;
        let mut list = match json.remove(operator) {
            Some(Value::Array(list)) => list,
            _ => vec![Value::Object(json)],
        };
        list.push(other.into_json());
        Self::of(operator, list.into())
    }

    fn into_json(self) -> Value {
        Value::Object(self.json)
    }
}

impl Not for Rule {
    type Output = Self;

    /// Passes when this one does not.
    fn not(self) -> Self {
        Self::of("not", self.into_json())
    }
}

impl fmt::Debug for Rule {
    /// Leaves out what the rule compares with: secrets and tokens are among it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").finish_non_exhaustive()
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl TryFrom<Rule> for Rules {
    type Error = Error;

    /// Checks and compiles the rule, exactly as when it is read from JSON.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid), which says where and why.
    fn try_from(rule: Rule) -> Result<Self, Error> {
        Self::deserialize(rule.into_json())
            .map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))
    }
}

/// A part of the request that a [`Rule`] is about. When the request does not
/// have it, no rule about it passes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a parameter becomes a rule by what it is held against"]
pub struct Parameter {
    source: &'static str,
    name: Option<String>,
    base64: bool,
}

impl Parameter {
    fn named(source: &'static str, name: impl Into<String>) -> Self {
        Self { source, name: Some(name.into()), base64: false }
    }

    fn whole(source: &'static str) -> Self {
        Self { source, name: None, base64: false }
    }

    /// Decodes the value first; what is not base64 is missing.
    pub fn base64_decoded(mut self) -> Self {
        self.base64 = true;
        self
    }

    /// Equals `value`; compared in constant time.
    #[must_use]
    pub fn equals(self, value: impl Into<String>) -> Rule {
        self.held_against("value", "value", value)
    }

    /// Contains `text`.
    #[must_use]
    pub fn contains(self, text: impl Into<String>) -> Rule {
        self.held_against("contains", "substring", text)
    }

    /// Is there and does not contain `text`.
    #[must_use]
    pub fn does_not_contain(self, text: impl Into<String>) -> Rule {
        self.held_against("does-not-contain", "substring", text)
    }

    /// Exists and does not equal `value`.
    #[must_use]
    pub fn is_not(self, value: impl Into<String>) -> Rule {
        self.held_against("is-not", "value", value)
    }

    /// Starts with `text`.
    #[must_use]
    pub fn starts_with(self, text: impl Into<String>) -> Rule {
        self.held_against("starts-with", "value", text)
    }

    /// Ends with `text`.
    #[must_use]
    pub fn ends_with(self, text: impl Into<String>) -> Rule {
        self.held_against("ends-with", "value", text)
    }

    /// Exists, with any value.
    #[must_use]
    pub fn exists(self) -> Rule {
        Rule::matching("exists", None, Some(self))
    }

    /// Is a number greater than `number`, a decimal number of any length.
    #[must_use]
    pub fn greater_than(self, number: impl ToString) -> Rule {
        self.held_against("greater-than", "value", number.to_string())
    }

    /// Is a number, and equal to `number` or greater.
    #[must_use]
    pub fn at_least(self, number: impl ToString) -> Rule {
        self.held_against("at-least", "value", number.to_string())
    }

    /// Is a number less than `number`.
    #[must_use]
    pub fn less_than(self, number: impl ToString) -> Rule {
        self.held_against("less-than", "value", number.to_string())
    }

    /// Is a number, and equal to `number` or less.
    #[must_use]
    pub fn at_most(self, number: impl ToString) -> Rule {
        self.held_against("at-most", "value", number.to_string())
    }

    /// Has a match of `regex` anywhere.
    #[must_use]
    pub fn matches(self, regex: impl Into<String>) -> Rule {
        self.held_against("regex", "regex", regex)
    }

    /// Is the HMAC with SHA-1 of the body under `secret`.
    #[must_use]
    pub fn is_hmac_sha1(self, secret: impl Into<String>) -> Rule {
        self.held_against("payload-hmac-sha1", "secret", secret)
    }

    /// Is the HMAC with SHA-256 of the body under `secret`.
    #[must_use]
    pub fn is_hmac_sha256(self, secret: impl Into<String>) -> Rule {
        self.held_against("payload-hmac-sha256", "secret", secret)
    }

    /// Is the HMAC with SHA-512 of the body under `secret`.
    #[must_use]
    pub fn is_hmac_sha512(self, secret: impl Into<String>) -> Rule {
        self.held_against("payload-hmac-sha512", "secret", secret)
    }

    fn held_against(self, kind: &str, field: &str, text: impl Into<String>) -> Rule {
        Rule::matching(kind, Some((field, text.into())), Some(self))
    }

    fn into_json(self) -> Value {
        let mut fields = Map::new();
        fields.insert("source".to_owned(), self.source.into());
        if let Some(name) = self.name {
            fields.insert("name".to_owned(), name.into());
        }
        if self.base64 {
            fields.insert("base64decode".to_owned(), true.into());
        }
        fields.into()
    }
}
