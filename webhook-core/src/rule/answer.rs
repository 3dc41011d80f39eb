//! Rules about the answer of a destination.

use http::{HeaderMap, Method, StatusCode};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Error, ErrorKind, Rule, Rules, Subject, vocabulary::Of};
use crate::wire::{
    Request,
    described::{Shape, Value},
};

/// How many bytes of an answer rules read.
pub(crate) const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Which answers pass: rules over the status, the headers and the body of an answer.
///
/// ```
/// use http::{HeaderMap, StatusCode};
/// use webhook_core::rule::AnswerRules;
///
/// let rules: AnswerRules = serde_json::from_str(
///     r#"{"match": {"type": "value", "value": "true",
///                   "parameter": {"source": "payload", "name": "ok"}}}"#,
/// )?;
/// let (status, headers) = (StatusCode::OK, HeaderMap::new());
/// assert!(rules.matches(status, &headers, &br#"{"ok": true}"#[..].into()));
/// assert!(!rules.matches(status, &headers, &br#"{"ok": false}"#[..].into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct AnswerRules(Rules);

impl AnswerRules {
    /// Whether an answer passes. The first 64 KiB of the body are read.
    #[must_use]
    pub fn matches(&self, status: StatusCode, headers: &HeaderMap, body: &bytes::Bytes) -> bool {
        let answer = Request {
            method: Method::GET,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: headers.clone(),
            body: body.slice(..body.len().min(MAX_ANSWER_BYTES)),
        };
        self.0.matches(&Subject { status: Some(status), ..Subject::new(&answer) })
    }
}

impl TryFrom<Rule> for AnswerRules {
    type Error = Error;

    /// Checks the rule, as when it is read from JSON.
    fn try_from(rule: Rule) -> Result<Self, Error> {
        let read = serde_json::to_value(rule).and_then(Self::deserialize);
        read.map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))
    }
}

impl<'de> Deserialize<'de> for AnswerRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Rules::read(deserializer, Of::Answer).map(Self)
    }
}

/// In a form, an empty text stands for rules that every answer passes: they replace the rules that
/// are stored.
impl Value for Option<AnswerRules> {
    fn shape(&self) -> Shape {
        Shape::Json
    }

    fn text(&self) -> String {
        let rules = self.as_ref().filter(|rules| !rules.0.is_empty());
        rules.and_then(|rules| serde_json::to_string_pretty(rules).ok()).unwrap_or_default()
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        let typed = if typed.is_empty() { "{}" } else { typed };
        let rules = serde_json::from_str(typed).map_err(|error| error.to_string())?;
        *self = Some(rules);
        Ok(())
    }
}
