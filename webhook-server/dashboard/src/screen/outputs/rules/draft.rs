//! Rules while they are built: a tree whose rules have places, and need not be right yet.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use webhook_core::rule::{MatchType, Operand, ParameterSource, Rules};

/// How many rules deep what is submitted is read; the API says what is too deep.
const MAX_DEPTH: usize = 40;

/// Where a rule is: which one of each list, from the outermost on.
pub(super) type Place = Vec<usize>;

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Draft {
    /// `and`, `or` or `not`, and the rules in it.
    Group(String, Vec<Draft>),
    Match(Leaf),
}

/// A match as it is typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) kind: String,
    pub(super) source: String,
    pub(super) name: String,
    /// What the parameter is held against.
    pub(super) operand: String,
    pub(super) base64: bool,
}

/// What a button does to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Adds a match to it.
    Match,
    /// Adds a group to it.
    Group,
    /// Puts a group around it.
    Nest,
    /// Moves it out of its group, behind that.
    Out,
    Up,
    Down,
    Remove,
}

impl Change {
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "match" => Self::Match,
            "group" => Self::Group,
            "nest" => Self::Nest,
            "out" => Self::Out,
            "up" => Self::Up,
            "down" => Self::Down,
            "remove" => Self::Remove,
            _ => return None,
        })
    }
}

impl Draft {
    /// The tree of these rules.
    pub(super) fn of_rules(rules: &Rules) -> Self {
        Self::of(&serde_json::to_value(rules).unwrap_or_default())
    }

    /// The tree of rules as they are on the wire, whose root is always a group.
    pub(super) fn of(rules: &Value) -> Self {
        match Self::rule(rules) {
            group @ Self::Group(..) => group,
            rule @ Self::Match(_) => Self::Group("and".to_owned(), vec![rule]),
        }
    }

    fn rule(rule: &Value) -> Self {
        for word in ["and", "or", "not"] {
            match rule.get(word) {
                Some(Value::Array(list)) => {
                    return Self::Group(word.to_owned(), list.iter().map(Self::rule).collect());
                }
                Some(one @ Value::Object(_)) => {
                    return Self::Group(word.to_owned(), vec![Self::rule(one)]);
                }
                _ => {}
            }
        }
        match rule.get("match") {
            Some(found) => Self::Match(Leaf::of(found)),
            None => Self::Group("and".to_owned(), Vec::new()),
        }
    }

    /// The rules on the wire, with a list for each group, so that places are the same.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Group(word, rules) => {
                json!({ word: rules.iter().map(Self::json).collect::<Vec<_>>() })
            }
            Self::Match(leaf) => json!({ "match": leaf.json() }),
        }
    }

    /// The rules as one writes them: a group around everything only where it says something.
    pub(super) fn short_json(&self) -> Value {
        match self {
            Self::Group(word, rules) if word == "and" => match &rules[..] {
                [] => json!({}),
                [one] => one.json(),
                _ => self.json(),
            },
            _ => self.json(),
        }
    }

    /// How many rules there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Group(_, rules) => 1 + rules.iter().map(Self::count).sum::<usize>(),
            Self::Match(_) => 1,
        }
    }

    /// The tree that a form has: a field `rule` for the root, `rule.1.0` for the first rule in
    /// the second, and the parts of a match below those.
    pub(super) fn submitted(fields: &HashMap<&str, &str>) -> Option<Self> {
        let root = Self::read(fields, "rule", 0)?;
        matches!(root, Self::Group(..)).then_some(root)
    }

    fn read(fields: &HashMap<&str, &str>, at: &str, depth: usize) -> Option<Self> {
        let text = |part: &str| {
            fields.get(&*format!("{at}.{part}")).map(|text| (*text).to_owned()).unwrap_or_default()
        };
        match *fields.get(at)? {
            "match" => Some(Self::Match(Leaf {
                kind: text("type").trim().to_owned(),
                source: text("source").trim().to_owned(),
                name: text("name").trim().to_owned(),
                operand: text("operand"),
                base64: !text("base64").is_empty(),
            })),
            word @ ("and" | "or" | "not") if depth < MAX_DEPTH => {
                let rules = (0..)
                    .map_while(|index| Self::read(fields, &format!("{at}.{index}"), depth + 1));
                Some(Self::Group(word.to_owned(), rules.collect()))
            }
            _ => None,
        }
    }

    fn rules_mut(&mut self, place: &[usize]) -> Option<&mut Vec<Self>> {
        let Self::Group(_, rules) = self else { return None };
        match place {
            [] => Some(rules),
            [index, rest @ ..] => rules.get_mut(*index)?.rules_mut(rest),
        }
    }

    /// Changes the tree at a place; answers where to go on from.
    pub(super) fn change(&mut self, change: Change, place: &[usize]) -> Option<Place> {
        if let Change::Match | Change::Group = change {
            let rules = self.rules_mut(place)?;
            rules.push(match change {
                Change::Match => Self::Match(Leaf::new()),
                _ => Self::Group("or".to_owned(), vec![Self::Match(Leaf::new())]),
            });
            let new = rules.len() - 1;
            return Some([place, &[new]].concat());
        }
        let (index, group) = place.split_last()?;
        let rules = self.rules_mut(group).filter(|rules| *index < rules.len())?;
        match change {
            Change::Remove => {
                rules.remove(*index);
                Some(group.to_vec())
            }
            Change::Nest => {
                let rule = rules.remove(*index);
                rules.insert(*index, Self::Group("and".to_owned(), vec![rule]));
                Some(place.to_vec())
            }
            Change::Up | Change::Down => {
                let other = match change {
                    Change::Up => index.saturating_sub(1),
                    _ => (index + 1).min(rules.len() - 1),
                };
                rules.swap(*index, other);
                Some([group, &[other]].concat())
            }
            Change::Out => {
                let (own, outer) = group.split_last()?;
                let rule = rules.remove(*index);
                let behind = own + 1;
                self.rules_mut(outer)?.insert(behind, rule);
                Some([outer, &[behind]].concat())
            }
            Change::Match | Change::Group => None,
        }
    }
}

impl Leaf {
    fn new() -> Self {
        Self { kind: "value".to_owned(), source: "payload".to_owned(), ..Self::default() }
    }

    fn of(found: &Value) -> Self {
        let text = |value: &Value, name: &str| match &value[name] {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let parameter = &found["parameter"];
        let (kind, source) = (text(found, "type"), text(parameter, "source"));
        let field = MatchType::of(&kind).and_then(|kind| kind.operand.field());
        Self {
            operand: field.map(|field| text(found, field)).unwrap_or_default(),
            // The word that the form offers, where another one means the same.
            kind: MatchType::of(&kind).map_or(kind, |it| it.word.to_owned()),
            source: ParameterSource::of(&source).map_or(source, |it| it.word.to_owned()),
            name: text(parameter, "name"),
            base64: parameter["base64decode"] == json!(true),
        }
    }

    pub(super) fn operand_kind(&self) -> Operand {
        MatchType::of(&self.kind).map_or(Operand::Text, |kind| kind.operand)
    }

    pub(super) fn has_name(&self) -> bool {
        ParameterSource::of(&self.source).is_none_or(ParameterSource::has_name)
    }

    fn json(&self) -> Value {
        let Self { kind, source, name, operand, base64 } = self;
        let mut found = Map::new();
        found.insert("type".to_owned(), json!(kind));
        if let Some(field) = self.operand_kind().field() {
            found.insert(field.to_owned(), json!(operand));
        }
        if self.operand_kind() != Operand::Networks {
            let mut parameter = Map::from_iter([("source".to_owned(), json!(source))]);
            if self.has_name() {
                parameter.insert("name".to_owned(), json!(name));
            }
            if *base64 {
                parameter.insert("base64decode".to_owned(), json!(true));
            }
            found.insert("parameter".to_owned(), Value::Object(parameter));
        }
        Value::Object(found)
    }
}

/// The place and the field of which an error's text speaks: `rules.and[1].match.regex: …`.
pub(super) fn place_of(path: &str) -> Option<(Place, &str)> {
    let path = path.strip_prefix("rules")?;
    let numbers = path.split('[').skip(1).map(|part| part.split(']').next()?.parse().ok());
    let field = path.rsplit('.').next().unwrap_or_default();
    Some((numbers.collect::<Option<Place>>()?, field))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Draft {
        Draft::of(&json!({"and": [
            {"match": {"type": "value", "value": "a", "parameter": {"source": "header", "name": "X"}}},
            {"or": [
                {"match": {"type": "substring", "substring": "b",
                    "parameter": {"source": "url", "name": "q", "base64decode": true}}},
                {"not": {"match": {"type": "ip-whitelist", "ip-range": "10.0.0.0/8"}}},
            ]},
        ]}))
    }

    #[test]
    fn what_is_read_is_written_again() {
        let json = tree().json();
        let names = &json["and"][1]["or"];
        assert_eq!(names[0]["match"]["type"], "contains");
        assert_eq!(names[0]["match"]["parameter"]["source"], "query");
        assert_eq!(names[0]["match"]["parameter"]["base64decode"], true);
        assert_eq!(names[1]["not"][0]["match"]["ip-range"], "10.0.0.0/8");
        assert_eq!(Draft::of(&json), tree());
        assert_eq!(tree().count(), 6);
        assert_eq!(Draft::of(&json!({})).short_json(), json!({}));
        for one in [
            json!({"match": {"type": "value", "value": "", "parameter": {"source": "body"}}}),
            json!({"match": {"type": "exists", "parameter": {"source": "query", "name": "q"}}}),
            json!({"match": {"type": "at-least", "value": "12.50",
                "parameter": {"source": "payload", "name": "items.*.price"}}}),
        ] {
            assert_eq!(Draft::of(&one).short_json(), one);
        }
    }

    #[test]
    fn buttons_change_the_tree_at_their_place() {
        let mut tree = tree();
        assert_eq!(tree.change(Change::Up, &[1]), Some(vec![0]));
        assert_eq!(tree.change(Change::Up, &[0]), Some(vec![0]), "it is the first");
        assert_eq!(tree.change(Change::Down, &[0, 0]), Some(vec![0, 1]));
        assert_eq!(tree.change(Change::Down, &[0, 1]), Some(vec![0, 1]), "it is the last");
        assert_eq!(tree.change(Change::Out, &[0, 1]), Some(vec![1]));
        assert_eq!(tree.change(Change::Out, &[1]), None, "there is nothing to move it out of");
        assert_eq!(tree.change(Change::Nest, &[1]), Some(vec![1]));
        assert_eq!(tree.change(Change::Match, &[1]), Some(vec![1, 1]));
        assert_eq!(tree.change(Change::Group, &[]), Some(vec![3]));
        assert_eq!(tree.change(Change::Remove, &[0]), Some(vec![]));
        let json = tree.json();
        assert_eq!(json["and"][0]["and"][0]["match"]["type"], "contains");
        assert_eq!(json["and"][1]["match"]["value"], "a");
        assert_eq!(json["and"][2]["or"][0]["match"]["type"], "value");
        for nowhere in [vec![9], vec![0, 9], vec![0, 0, 0], vec![]] {
            assert_eq!(tree.clone().change(Change::Remove, &nowhere), None, "{nowhere:?}");
        }
    }

    #[test]
    fn errors_have_a_place() {
        assert_eq!(place_of("rules.and[1].not[0].match.regex"), Some((vec![1, 0], "regex")));
        assert_eq!(place_of("rules.and"), Some((vec![], "and")));
        assert_eq!(place_of("name"), None);
        assert_eq!(place_of("rules.and[x].match"), None);
    }
}
