//! Why rules let a webhook pass, or not.
//!
//! The matcher stops at the first rule that settles the matter. An explanation looks at
//! all of them, and costs more: it is made when somebody asks, never on the way of a webhook.

mod leaf;
mod mask;
mod text;

pub(crate) use mask::{MASK, is_secret as is_secret_name, text as mask_secrets};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Subject,
    tree::{Node, Tree},
    view::View,
};

/// How many bytes of one value an explanation shows.
pub const MAX_EXPLAINED_VALUE_BYTES: usize = 1_024;
/// How many values of one parameter it shows.
pub const MAX_EXPLAINED_VALUES: usize = 10;
/// How many bytes of values it shows in all.
pub const MAX_EXPLAINED_BYTES: usize = 64 * 1_024;

/// What one rule said about a webhook, and what the rules inside it said.
///
/// As JSON it is the rule with what came of it:
///
/// ```
/// use serde_json::json;
/// use webhook_core::rule::{Rules, Subject};
/// # use {bytes::Bytes, http::{HeaderMap, Method}, webhook_core::rule::Request};
/// # let request = Request {
/// #     method: Method::POST,
/// #     extra_path: String::new(),
/// #     raw_query: String::new(),
/// #     headers: HeaderMap::new(),
/// #     body: Bytes::from_static(br#"{"action": "closed"}"#),
/// # };
///
/// let rules: Rules = serde_json::from_value(json!({"match": {
///     "type": "value", "value": "opened",
///     "parameter": {"source": "payload", "name": "action"},
/// }}))?;
/// let explanation = rules.explain(&Subject::new(&request));
///
/// assert_eq!(explanation.text(), r#"payload action is "closed", wanted "opened""#);
/// assert_eq!(
///     serde_json::to_value(&explanation)?,
///     json!({
///         "match": {
///             "type": "value", "value": "opened",
///             "parameter": {"source": "payload", "name": "action"},
///         },
///         "path": "rules.match",
///         "actual": ["closed"], "missing": false, "cut": false, "masked": false,
///         "outcome": false, "decided": true,
///     })
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # What decided
///
/// `decided` marks the way from the outermost rule to the matches that a different verdict
/// takes: when all marked matches had come out the other way, so had the whole, and no
/// smaller part of them would have done. Where one of several is enough, the cheapest is marked, and
/// of these the first. Rules that say the same whatever comes (`{}`, an empty list) have no
/// marked match; the way ends at the empty list.
///
/// # What is shown
///
/// Of each parameter the first [`MAX_EXPLAINED_VALUES`] values, of each value the first
/// [`MAX_EXPLAINED_VALUE_BYTES`], of all together [`MAX_EXPLAINED_BYTES`]; `cut` says that
/// there is more. The `secret` of a rule is shown as `…`. So is whatever goes by the name of
/// a credential (`Authorization`, `Cookie`, and names with `token`, `secret`, `password`,
/// `api-key`, `credential` or `session` in them): as a parameter, together with what the
/// rule holds against it, and inside of JSON and of forms.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The rule.
    #[serde(flatten)]
    pub rule: ExplainedRule,
    /// Whether it lets the webhook pass.
    pub outcome: bool,
    /// Whether it is on the way to what decided.
    pub decided: bool,
    /// How many matches have to come out the other way for this rule to; none when no
    /// matches could do that.
    #[serde(skip)]
    flips: Option<usize>,
}

/// A rule with what came of those inside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ExplainedRule {
    /// Each has to pass. `{}` is one with nothing in it.
    And {
        /// The rules.
        and: Vec<Explanation>,
    },
    /// One has to pass.
    Or {
        /// The rules.
        or: Vec<Explanation>,
    },
    /// None may pass.
    Not {
        /// The rules.
        not: Vec<Explanation>,
    },
    /// A parameter is held against something.
    Match(ExplainedMatch),
}

/// A match and what it saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedMatch {
    /// The rule as it is written, secrets masked.
    pub r#match: Map<String, Value>,
    /// Where it stands: `rules.and[3].not.match`.
    pub path: String,
    /// The parameter's values, those of bytes that are no UTF-8 with `U+FFFD` in their place.
    pub actual: Vec<String>,
    /// For a path with `*` in it, the path of the element that decided, such as
    /// `commits.2.title`; none where no single element did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// The place of the element's value in `actual`; none where `actual` does not have it.
    #[serde(skip)]
    pub(crate) settled_by: Option<usize>,
    /// Whether the webhook has no such parameter.
    pub missing: bool,
    /// The reason for a body that cannot be read, when the parameter is in the body: `the body is not
    /// JSON: line 1, column 24: expected value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// Whether there are more values, or longer ones, than `actual` shows.
    pub cut: bool,
    /// Whether the values are not for showing.
    pub masked: bool,
}

/// Explains what `tree`, read from `json`, says about `subject`.
pub(super) fn explain(
    compiled: Option<(&Tree, &Map<String, Value>)>,
    subject: &Subject<'_>,
) -> Explanation {
    let mut root = match compiled {
        Some((tree, json)) => {
            let view = View::new(subject, &tree.names);
            let mut explainer = Explainer { view: &view, bytes_left: MAX_EXPLAINED_BYTES };
            explainer.rule(&tree.root, json, "rules")
        }
        None => Explanation::new(ExplainedRule::And { and: Vec::new() }, |_| (true, None)),
    };
    root.decide();
    root
}

struct Explainer<'a> {
    view: &'a View<'a>,
    /// How many bytes of values may still be shown.
    bytes_left: usize,
}

impl Explainer<'_> {
    /// Recurses as deep as the rules, at most [`super::MAX_DEPTH`].
    fn rule(&mut self, node: &Node, json: &Map<String, Value>, path: &str) -> Explanation {
        let (rule, every, outcome_of_every) = match node {
            Node::All(nodes) => (
                ExplainedRule::And { and: self.list(nodes, json.get("and"), path, "and") },
                true,
                true,
            ),
            Node::Any(nodes) => (
                ExplainedRule::Or { or: self.list(nodes, json.get("or"), path, "or") },
                false,
                false,
            ),
            Node::None(nodes) => (
                ExplainedRule::Not { not: self.list(nodes, json.get("not"), path, "not") },
                false,
                true,
            ),
            Node::Match(_) | Node::SentFrom(_) => {
                let empty = Map::new();
                let object = json.get("match").and_then(Value::as_object).unwrap_or(&empty);
                let path = format!("{path}.match");
                let (explained, outcome) = self.leaf(node, object, path);
                let rule = ExplainedRule::Match(explained);
                return Explanation::new(rule, |_| (outcome, Some(1)));
            }
        };
        // A list comes out as `outcome_of_every` when every rule in it came out as `every`;
        // to change that one of them has to change, and otherwise each that did not.
        Explanation::new(rule, |rules| {
            if rules.iter().all(|rule| rule.outcome == every) {
                (outcome_of_every, rules.iter().filter_map(|rule| rule.flips).min())
            } else {
                let others = rules.iter().filter(|rule| rule.outcome != every);
                (!outcome_of_every, others.map(|rule| rule.flips).sum())
            }
        })
    }

    fn list(
        &mut self,
        nodes: &[Node],
        json: Option<&Value>,
        path: &str,
        word: &str,
    ) -> Vec<Explanation> {
        let empty = Map::new();
        let explained = nodes.iter().enumerate().map(|(index, node)| {
            let (json, path) = match json {
                Some(Value::Array(list)) => {
                    (list.get(index).and_then(Value::as_object), format!("{path}.{word}[{index}]"))
                }
                json => (json.and_then(Value::as_object), format!("{path}.{word}")),
            };
            self.rule(node, json.unwrap_or(&empty), &path)
        });
        explained.collect()
    }
}

impl Explanation {
    fn new(rule: ExplainedRule, outcome: impl FnOnce(&[Self]) -> (bool, Option<usize>)) -> Self {
        let (outcome, flips) = outcome(rule.inner());
        Self { rule, outcome, decided: false, flips }
    }

    /// Marks the way to what decided.
    fn decide(&mut self) {
        self.decided = true;
        let flips = self.flips;
        let every = !matches!(self.rule, ExplainedRule::Or { .. } | ExplainedRule::Not { .. });
        let rules = self.rule.inner_mut();
        if rules.iter().all(|rule| rule.outcome == every) {
            let cheapest = rules.iter_mut().filter(|rule| rule.flips.is_some());
            if let Some(rule) = cheapest.min_by_key(|rule| rule.flips) {
                rule.decide();
            }
            return;
        }
        let mut others = rules.iter_mut().filter(|rule| rule.outcome != every);
        match flips {
            Some(_) => others.for_each(Self::decide),
            // One of them is so whatever comes.
            None => {
                if let Some(rule) = others.find(|rule| rule.flips.is_none()) {
                    rule.decide();
                }
            }
        }
    }

    /// The matches that decided, in the order in which they are written.
    #[must_use]
    pub fn deciding(&self) -> Vec<&ExplainedMatch> {
        let mut found = Vec::new();
        self.visit(&mut |explanation, explained| {
            if explanation.decided {
                found.push(explained);
            }
        });
        found
    }

    /// The same without anything that the webhook said: for webhooks whose content is
    /// forgotten.
    #[must_use]
    pub fn without_values(mut self) -> Self {
        self.forget();
        self
    }

    fn forget(&mut self) {
        if let ExplainedRule::Match(explained) = &mut self.rule {
            explained.actual.clear();
            explained.element = None;
            explained.masked = true;
        }
        self.rule.inner_mut().iter_mut().for_each(Self::forget);
    }

    #[cfg(test)]
    pub(crate) fn visit_for_test(&self, found: &mut dyn FnMut(&str, bool)) {
        self.visit(&mut |explanation, leaf| found(&leaf.path, explanation.outcome));
    }

    fn visit<'e>(&'e self, found: &mut dyn FnMut(&'e Self, &'e ExplainedMatch)) {
        if let ExplainedRule::Match(explained) = &self.rule {
            found(self, explained);
        }
        self.rule.inner().iter().for_each(|rule| rule.visit(found));
    }
}

impl ExplainedRule {
    /// The rules inside this one.
    fn inner(&self) -> &[Explanation] {
        match self {
            Self::And { and: rules } | Self::Or { or: rules } | Self::Not { not: rules } => rules,
            Self::Match(_) => &[],
        }
    }

    fn inner_mut(&mut self) -> &mut [Explanation] {
        match self {
            Self::And { and: rules } | Self::Or { or: rules } | Self::Not { not: rules } => rules,
            Self::Match(_) => &mut [],
        }
    }
}
