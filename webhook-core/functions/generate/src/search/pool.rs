//! Everything that one scope offers to explain a value: its places, what they can become, and an index of the texts.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::convert::Convert;
use super::super::eval::Evaluator;
use super::super::names::{Names, Word, Words, best, similarity, words};
use super::super::program::{Expr, Path, Step};
use super::super::sample::Format;
use super::super::value::{ScalarKey, Value};
use super::aggregate;
use super::derive::derive;
use super::places::places;
use super::texts::Texts;

/// A place in the scope.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) steps: Vec<Step>,
    pub(super) value: Value,
    /// The words of each named step.
    pub(super) names: Vec<Words>,
    /// The words of the texts that elements were found by; they must be wanted by name.
    pub(super) found_by: Vec<Words>,
    /// What the way costs, besides choosing it.
    pub(super) way: f64,
}

/// A scalar that the scope can give.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) node: usize,
    /// An expression over the node, a sum for one, in place of the node's own value.
    pub(super) own: Option<Rc<Expr>>,
    pub(super) chain: Vec<Convert>,
    pub(super) value: Value,
    pub(super) cost: f64,
}

impl Node {
    /// How well the names go with what is wanted.
    pub(super) fn alike(&self, names: &Names) -> f64 {
        let plain = similarity(names, &self.names);
        // `age` is the number of the answer to `age`.
        let asked = self
            .found_by
            .iter()
            .any(|found| !names.key.is_empty() && names.key.as_slice() == found.as_ref());
        if asked { plain.max(0.88) } else { plain }
    }
}

impl Entry {
    /// How well the names go with what is wanted: `item_count` is the count of `items`, a total is a sum.
    pub(super) fn alike(&self, node: &Node, names: &Names, wanted_lists: &HashSet<usize>) -> f64 {
        let plain = node.alike(names);
        let Some(own) = &self.own else { return plain };
        let said = match aggregate::kind(own) {
            // A list that is in the output has as many elements as it says somewhere else.
            Some(Convert::Count)
                if wanted_lists.contains(&node.value.as_list().map_or(0, <[Value]>::len)) =>
            {
                return plain.max(0.75);
            }
            Some(Convert::Count) => words("count number num length size amount quantity total"),
            Some(Convert::Min) => words("min minimum least lowest smallest cheapest first worst"),
            Some(Convert::Max) => words("max maximum most highest largest top peak best"),
            Some(Convert::Sum) => words("total sum subtotal amount price"),
            _ => return plain,
        };
        let is_said = |word: &Word| best(word, &said) >= 1.0;
        if !names.key.iter().any(is_said) {
            return plain;
        }
        let key: Vec<Word> = names.key.iter().filter(|word| !is_said(word)).cloned().collect();
        let rest = if key.is_empty() {
            0.6
        } else {
            similarity(&Names { key, around: names.around.clone() }, &node.names)
        };
        rest.max(plain)
    }
}

#[derive(Debug)]
pub(super) struct Pool {
    pub(super) scope: usize,
    pub(super) nodes: Vec<Node>,
    pub(super) entries: Vec<Entry>,
    by_value: HashMap<ScalarKey, Vec<usize>>,
    texts: OnceCell<Texts>,
}

/// Places of which conversions are tried, and how far into a list.
const MAX_DERIVED_NODES: usize = 3_000;
const MAX_DERIVED_INDEX: usize = 24;

impl Pool {
    /// Looks through the value that scope number `scope` has.
    pub(super) fn new(value: &Value, scope: usize, input: Format, max_nodes: usize) -> Self {
        // The elements of lists are there twice, by number and by what tells them apart.
        let nodes = places(value, scope, input, max_nodes.saturating_mul(2));
        let mut pool = Self {
            scope,
            nodes,
            entries: Vec::new(),
            by_value: HashMap::new(),
            texts: OnceCell::new(),
        };
        pool.enter(Evaluator::new(input));
        pool
    }

    fn enter(&mut self, evaluator: Evaluator) {
        let mut derived_nodes = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            let deep = node
                .steps
                .iter()
                .any(|step| matches!(step, Step::Index(index) if *index > MAX_DERIVED_INDEX));
            let plain = |value: &Value| Entry {
                node: index,
                own: None,
                chain: Vec::new(),
                value: value.clone(),
                cost: 0.0,
            };
            let derive_it = !deep && derived_nodes < MAX_DERIVED_NODES;
            if node.value.is_scalar() {
                self.entries.push(plain(&node.value));
                if derive_it {
                    derived_nodes += 1;
                    self.entries.extend(derive(&node.value).into_iter().map(|derived| Entry {
                        chain: derived.chain,
                        value: derived.value,
                        cost: derived.cost,
                        ..plain(&Value::Null)
                    }));
                }
            } else if derive_it && let Value::List(items) = &node.value {
                let path = Path { scope: self.scope, steps: node.steps.clone() };
                self.entries.extend(aggregate::of_list(items, &path, evaluator).into_iter().map(
                    |found| Entry {
                        own: Some(Rc::new(found.expr)),
                        value: found.value,
                        cost: found.cost,
                        ..plain(&Value::Null)
                    },
                ));
            }
        }
        for (index, entry) in self.entries.iter().enumerate() {
            if let Some(key) = ScalarKey::of(&entry.value) {
                self.by_value.entry(key).or_default().push(index);
            }
        }
    }

    /// The entries with this value.
    pub(super) fn with_value(&self, value: &Value) -> &[usize] {
        ScalarKey::of(value).and_then(|key| self.by_value.get(&key)).map_or(&[], Vec::as_slice)
    }

    /// The expression of an entry for a place with `depth` open scopes.
    pub(super) fn expr(&self, entry: &Entry, depth: usize) -> Expr {
        let start = match &entry.own {
            Some(own) => own.as_ref().clone().rescoped(self.scope + 1, depth),
            None => Expr::Path(self.path(entry.node)),
        };
        start.convert_all(&entry.chain)
    }

    pub(super) fn path(&self, node: usize) -> Path {
        let steps = self.nodes.get(node).map(|node| node.steps.clone()).unwrap_or_default();
        Path { scope: self.scope, steps }
    }

    /// The texts that `text` goes on with at byte `at`, each with the entries that give it.
    pub(super) fn texts_at(&self, text: &str, at: usize) -> Vec<(&str, &[usize])> {
        self.texts.get_or_init(|| Texts::new(&self.entries)).at(text, at)
    }
}
