//! Explanations for people.

use serde_json::Value;

use super::{ExplainedMatch, ExplainedRule, Explanation};
use crate::rule::{
    path::shown,
    vocabulary::{Kind, MatchType, Operand, Origin, ParameterSource},
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
        let kind = MatchType::of(self.field("type"));
        let parameter = self.parameter(kind);
        if self.missing {
            return match &self.unreadable {
                Some(reason) => format!("{parameter} is missing, because {reason}"),
                None => format!("{parameter} is missing"),
            };
        }
        if self.masked {
            let said =
                if outcome { "is what the rule names" } else { "is not what the rule names" };
            return format!("{parameter} {said}");
        }
        let Some(kind) = kind else { return parameter };
        let actual = self.values();
        let operand = self.operand(kind);
        let said = |pattern: &str| pattern.replacen("{}", &operand, 1);
        match (outcome, passed) {
            // What it equals is said already.
            (true, true) if kind.kind == Kind::Value => format!("{parameter} is {actual}"),
            (true, true) => format!("{parameter} is {actual}, which {}", said(kind.says)),
            (false, true) => format!("{parameter} is {actual}, which {}", said(kind.fails)),
            (false, false) => format!("{parameter} is {actual}, wanted {}", said(kind.wanted)),
            (true, false) => format!("{parameter} is {actual}, wanted {}", said(kind.unwanted)),
        }
    }

    fn field(&self, name: &str) -> &str {
        self.r#match.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn parameter(&self, kind: Option<&MatchType>) -> String {
        let parameter = self.r#match.get("parameter");
        let field = |name: &str| {
            parameter.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default()
        };
        if kind.is_some_and(|kind| kind.operand == Operand::Networks) {
            return "the sender's address".to_owned();
        }
        let Some(source) = ParameterSource::of(field("source")) else {
            return "a parameter".to_owned();
        };
        let element = self.element.as_deref().filter(|_| self.settled_by.is_some());
        let name = shown(element.unwrap_or(field("name")));
        match source.origin {
            Origin::Text => source.says.replacen("{}", &format!("{name:?}"), 1),
            _ => source.says.replacen("{}", &name, 1),
        }
    }

    fn operand(&self, kind: &MatchType) -> String {
        let Some(field) = kind.operand.field() else { return String::new() };
        match (kind.operand, self.r#match.get(field)) {
            (Operand::Networks, _) => shown(self.field(field)).into_owned(),
            (Operand::Number, Some(Value::Number(number))) => number.to_string(),
            (Operand::Number, _) => shown(self.field(field)).into_owned(),
            _ => format!("{:?}", shown(self.field(field))),
        }
    }

    fn values(&self) -> String {
        if let Some(value) = self.settled_by.and_then(|index| self.actual.get(index)) {
            return format!("{:?}", shown(value));
        }
        let quoted =
            self.actual.iter().take(NAMED_VALUES).map(|value| format!("{:?}", shown(value)));
        let mut text = quoted.collect::<Vec<_>>().join(", ");
        if self.cut || self.actual.len() > NAMED_VALUES {
            text.push('…');
        }
        text
    }
}
