//! One rule of the tree as it is shown.

use askama::Template;
use webhook_core::{
    Error,
    rule::{ExplainedMatch, ExplainedRule, Explanation, MATCH_TYPES, Operand, SOURCES},
};

use super::draft::{Draft, Leaf, Place, place_of};
use crate::show::Mark;

/// How much of a value is shown.
const SHOWN: usize = 200;

/// A rule and those in it, which write themselves into a page.
#[derive(Template)]
#[template(path = "rule.html")]
pub(super) struct Node {
    /// What its field is called: `rule.1.0`.
    name: String,
    /// The same as an identifier.
    id: String,
    /// Its place, as buttons send it.
    place: String,
    /// Its place, for people: `2.1`; empty for the root.
    number: String,
    is_root: bool,
    /// Whether its group is in another one.
    can_leave: bool,
    is_first: bool,
    is_last: bool,
    focused: bool,
    mark: Option<Mark>,
    decided: bool,
    /// What was seen of the parameter.
    seen: String,
    error: Option<String>,
    group: Option<String>,
    rules: Vec<Node>,
    leaf: Leaf,
    sources: Vec<String>,
    kinds: Vec<(String, String)>,
    has_name: bool,
    has_operand: bool,
}

/// What is said of rules at their places: an error, and where to go on.
pub(super) struct Said {
    error: Option<(Place, String)>,
    focus: Option<Place>,
}

impl Said {
    pub(super) fn of(error: Option<&Error>, focus: Option<Place>) -> Self {
        let text = error.map(ToString::to_string).unwrap_or_default();
        let error = text.split_once(": ").and_then(|(path, reason)| {
            let (place, field) = place_of(path)?;
            Some((place, format!("{field}: {reason}")))
        });
        Self { error, focus }
    }

    /// Whether the error is shown at a rule.
    pub(super) fn has_place(&self) -> bool {
        self.error.is_some()
    }

    fn error_at(&self, place: &[usize]) -> Option<String> {
        let (at, text) = self.error.as_ref()?;
        (at == place).then(|| text.clone())
    }
}

/// Passing as colour, sign and word.
pub(super) fn passed(passed: bool) -> Mark {
    let (class, sign, word) =
        if passed { ("good", "✓", "passes") } else { ("bad", "✕", "does not pass") };
    Mark { class, sign, word }
}

fn outcome(true_: bool) -> Mark {
    let (class, sign, word) = if true_ { ("good", "✓", "true") } else { ("bad", "✕", "false") };
    Mark { class, sign, word }
}

impl Node {
    pub(super) fn root(draft: &Draft, explained: Option<&Explanation>, said: &Said) -> Self {
        let mut place = Vec::new();
        Self::new(draft, explained, said, &mut place, 1)
    }

    /// The rule at `place`, which is one of `among`.
    fn new(
        draft: &Draft,
        explained: Option<&Explanation>,
        said: &Said,
        place: &mut Place,
        among: usize,
    ) -> Self {
        let dotted = |base: usize| {
            place.iter().map(|it| (it + base).to_string()).collect::<Vec<_>>().join(".")
        };
        let (at, last) = (dotted(0), place.last().copied());
        let mut node = Self {
            name: if at.is_empty() { "rule".to_owned() } else { format!("rule.{at}") },
            id: format!("rule{}", place.iter().map(|it| format!("-{it}")).collect::<String>()),
            number: dotted(1),
            place: at,
            is_root: place.is_empty(),
            can_leave: place.len() > 1,
            is_first: last.is_none_or(|it| it == 0),
            is_last: last.is_none_or(|it| it + 1 >= among),
            focused: said.focus.as_ref() == Some(place),
            mark: explained.map(|it| outcome(it.outcome)),
            decided: explained.is_some_and(|it| it.decided),
            seen: String::new(),
            error: said.error_at(place),
            group: None,
            rules: Vec::new(),
            leaf: Leaf::default(),
            sources: Vec::new(),
            kinds: Vec::new(),
            has_name: false,
            has_operand: false,
        };
        match draft {
            Draft::Group(word, rules) => {
                node.group = Some(word.clone());
                let inner = explained.map_or(&[][..], |it| inner(&it.rule));
                for (index, rule) in rules.iter().enumerate() {
                    place.push(index);
                    node.rules.push(Self::new(rule, inner.get(index), said, place, rules.len()));
                    place.pop();
                }
            }
            Draft::Match(leaf) => {
                node.sources = SOURCES.iter().map(|it| it.word.to_owned()).collect();
                if !node.sources.contains(&leaf.source) {
                    node.sources.push(leaf.source.clone());
                }
                let kinds = MATCH_TYPES.iter().map(|it| (it.word, it.label));
                node.kinds = options(kinds, &leaf.kind);
                node.has_name = leaf.has_name();
                node.has_operand = leaf.operand_kind() != Operand::None;
                node.leaf = leaf.clone();
                if let Some(ExplainedRule::Match(found)) = explained.map(|it| &it.rule) {
                    node.seen = seen(found);
                }
            }
        }
        node
    }

    fn is_group(&self, word: &str) -> bool {
        self.group.as_deref() == Some(word)
    }
}

fn inner(rule: &ExplainedRule) -> &[Explanation] {
    match rule {
        ExplainedRule::And { and: rules }
        | ExplainedRule::Or { or: rules }
        | ExplainedRule::Not { not: rules } => rules,
        ExplainedRule::Match(_) => &[],
    }
}

/// The known options, and the chosen one where it is none of them.
fn options<'w>(
    known: impl Iterator<Item = (&'w str, &'w str)>,
    chosen: &'w str,
) -> Vec<(String, String)> {
    let mut options: Vec<_> = known.collect();
    if !options.iter().any(|(value, _)| *value == chosen) {
        options.push((chosen, chosen));
    }
    let owned = |(value, label): (&str, &str)| (value.to_owned(), label.to_owned());
    options.into_iter().map(owned).collect()
}

/// What a match saw.
fn seen(found: &ExplainedMatch) -> String {
    if found.missing {
        return match &found.unreadable {
            Some(reason) => format!("it is missing, because {reason}"),
            None => "it is missing".to_owned(),
        };
    }
    if found.masked {
        return "its value is not shown".to_owned();
    }
    if let Some(element) = &found.element {
        return format!("the element {element} decided");
    }
    let values = found.actual.iter().map(|value| {
        let short: String = value.chars().take(SHOWN).collect();
        let more = if short.len() < value.len() { "…" } else { "" };
        format!("“{short}{more}”")
    });
    let more = if found.cut { " and more" } else { "" };
    format!("it is {}{more}", values.collect::<Vec<_>>().join(", "))
}
