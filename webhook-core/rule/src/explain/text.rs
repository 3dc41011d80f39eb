//! Explanations for people.

use serde_json::Value;

use super::{ExplainedMatch, ExplainedRule, Explanation};
use crate::{
    path::shown,
    vocabulary::{self, KINDS, Kind, ORIGINS, Origin},
};

/// How many matches the text names.
const NAMED: usize = 3;
/// How many values of a parameter it names.
const NAMED_VALUES: usize = 3;

impl Explanation {
    /// Why it came out as it did, in one line for people: `payload action is "closed",
    /// wanted "opened"`. Of several reasons it names three, what decided first; of
    /// values their beginnings.
    #[must_use]
    pub fn text(&self) -> String {
        let mut reasons = Vec::new();
        self.reasons(&mut reasons);
        // Stable: otherwise as they are written.
        reasons.sort_by_key(|(explanation, _)| !explanation.decided);
        let texts = reasons.iter().take(NAMED);
        let texts: Vec<_> = texts.map(|(it, leaf)| leaf.text(it.outcome, self.outcome)).collect();
        match (reasons.len().checked_sub(NAMED), texts.is_empty()) {
            (_, true) if self.outcome => "the rules ask for nothing".to_owned(),
            (_, true) => "the rules let nothing pass, whatever it is".to_owned(),
            (None | Some(0), false) => texts.join("; "),
            (Some(more), false) => format!("{}; and {more} more", texts.join("; ")),
        }
    }

    /// The matches that speak for what this rule said.
    fn reasons<'e>(&'e self, found: &mut Vec<(&'e Self, &'e ExplainedMatch)>) {
        let every = match &self.rule {
            ExplainedRule::Match(explained) => return found.push((self, explained)),
            ExplainedRule::And { .. } => self.outcome,
            ExplainedRule::Or { .. } => self.outcome,
            ExplainedRule::Not { .. } => !self.outcome,
        };
        let rules = self.rule.inner().iter().filter(|rule| rule.outcome == every);
        rules.for_each(|rule| rule.reasons(found));
    }
}

impl ExplainedMatch {
    fn text(&self, outcome: bool, passed: bool) -> String {
        let parameter = self.parameter();
        if self.missing {
            return format!("{parameter} is missing");
        }
        if self.masked {
            let said =
                if outcome { "is what the rule names" } else { "is not what the rule names" };
            return format!("{parameter} {said}");
        }
        let (plain, relation) = self.relation();
        let actual = self.values();
        match (outcome, passed) {
            // What it equals is said already.
            (true, true) if plain => format!("{parameter} is {actual}"),
            (true, true) => format!("{parameter} is {actual}, which {}", relation.holds),
            (false, true) => format!("{parameter} is {actual}, which {}", relation.fails),
            (false, false) => format!("{parameter} is {actual}, wanted {}", relation.wanted),
            (true, false) => format!("{parameter} is {actual}, wanted {}", relation.unwanted),
        }
    }

    fn field(&self, name: &str) -> &str {
        self.r#match.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn parameter(&self) -> String {
        let parameter = self.r#match.get("parameter");
        let field = |name: &str| {
            parameter.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default()
        };
        if let Some(Kind::IpWhitelist) = vocabulary::meaning(&KINDS, self.field("type")) {
            return "the sender's address".to_owned();
        }
        let name = shown(field("name"));
        match vocabulary::meaning(&ORIGINS, field("source")) {
            Some(Origin::Header) => format!("header {name}"),
            Some(Origin::Query) => format!("query {name}"),
            Some(Origin::Payload) => format!("payload {name}"),
            Some(Origin::Request) => format!("request {name}"),
            Some(Origin::Webhook) => format!("webhook {name}"),
            Some(Origin::Body) => "the body".to_owned(),
            Some(Origin::Text) => format!("the text {name:?}"),
            Some(Origin::EntirePayload) => "the entire payload".to_owned(),
            Some(Origin::EntireQuery) => "the entire query".to_owned(),
            Some(Origin::EntireHeaders) => "the headers".to_owned(),
            None => "a parameter".to_owned(),
        }
    }

    fn values(&self) -> String {
        let quoted =
            self.actual.iter().take(NAMED_VALUES).map(|value| format!("{:?}", shown(value)));
        let mut text = quoted.collect::<Vec<_>>().join(", ");
        if self.cut || self.actual.len() > NAMED_VALUES {
            text.push('…');
        }
        text
    }

    /// How the test is said, and whether it is that of being equal.
    fn relation(&self) -> (bool, Relation) {
        let quoted = |field: &str| format!("{:?}", shown(self.field(field)));
        let relation = |holds: String, fails: String, wanted: String, unwanted: String| Relation {
            holds,
            fails,
            wanted,
            unwanted,
        };
        let kind = vocabulary::meaning(&KINDS, self.field("type"));
        let said = match kind {
            Some(Kind::Value) | None => {
                let value = quoted("value");
                relation(
                    format!("is {value}"),
                    format!("is not {value}"),
                    value.clone(),
                    format!("anything but {value}"),
                )
            }
            Some(Kind::Contains) => {
                let text = quoted("substring");
                relation(
                    format!("contains {text}"),
                    format!("does not contain {text}"),
                    format!("one that contains {text}"),
                    format!("none that contains {text}"),
                )
            }
            Some(Kind::DoesNotContain) => {
                let text = quoted("substring");
                relation(
                    format!("does not contain {text}"),
                    format!("contains {text}"),
                    format!("one without {text}"),
                    format!("one that contains {text}"),
                )
            }
            Some(Kind::Regex) => {
                let regex = quoted("regex");
                relation(
                    format!("matches {regex}"),
                    format!("does not match {regex}"),
                    format!("one that matches {regex}"),
                    format!("none that matches {regex}"),
                )
            }
            Some(Kind::Hmac(_)) => relation(
                "is the signature of the body under the rule's secret".to_owned(),
                "is not the signature of the body under the rule's secret".to_owned(),
                "the signature of the body under the rule's secret".to_owned(),
                "anything but the signature of the body".to_owned(),
            ),
            Some(Kind::IpWhitelist) => {
                let networks = shown(self.field("ip-range")).into_owned();
                relation(
                    format!("is in {networks}"),
                    format!("is not in {networks}"),
                    format!("one in {networks}"),
                    format!("one outside of {networks}"),
                )
            }
        };
        (matches!(kind, Some(Kind::Value)), said)
    }
}

/// What a test says of a value: that it passes, that it does not, and which was wanted.
struct Relation {
    holds: String,
    fails: String,
    wanted: String,
    unwanted: String,
}
