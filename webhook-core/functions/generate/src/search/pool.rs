//! Everything that one scope offers to explain a value: its places, what they can become, and an index of the texts.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::convert::Convert;
use super::super::json::{Json, is_scalar, scalar_key, to_text};
use super::super::names::{Names, Word, Words, best, similarity, words};
use super::super::program::{Expr, Path, Step};
use super::derive::derive;
use super::places::places;

/// A place in the scope.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub(super) steps: Vec<Step>,
    pub(super) value: &'a Json,
    /// The words of each named step.
    pub(super) names: Vec<Words>,
    /// The words of the text that an element was found by; they must be wanted by name.
    pub(super) found_by: Option<Words>,
    /// What the way costs, without choosing it.
    pub(super) way: f64,
}

/// A scalar that the scope can give.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) node: usize,
    pub(super) chain: Vec<Convert>,
    pub(super) value: Json,
    pub(super) cost: f64,
}

impl Entry {
    /// What it costs more that a value may be a part of a text, or its small letters, by chance: a label may be spelled
    /// like some status. `alike` says how much the names speak for it.
    pub(super) fn chance(&self, alike: f64) -> f64 {
        let word =
            self.value.as_str().is_some_and(|text| text.bytes().all(|b| b.is_ascii_alphabetic()));
        match self.chain.as_slice() {
            [Convert::Lower] if word => 6.0 * (1.0 - alike),
            [Convert::After(opening)] if opening.len() > 3 => 0.0,
            [Convert::Before(_) | Convert::After(_) | Convert::AfterLast(_)] => {
                16.0 * (1.0 - alike)
            }
            _ => 0.0,
        }
    }

    /// How well the names go with what is wanted: `item_count` is the count of `items`, a total is a sum.
    pub(super) fn alike(
        &self,
        node: &Node<'_>,
        names: &Names,
        wanted_lists: &HashSet<usize>,
    ) -> f64 {
        let plain = node.alike(names);
        let said = match self.chain.first() {
            // A list that is in the output has as many elements as it says somewhere else.
            Some(Convert::Count)
                if wanted_lists.contains(&node.value.as_array().map_or(0, Vec::len)) =>
            {
                return plain.max(0.75);
            }
            Some(Convert::Count) => words("count number num length size amount quantity total"),
            Some(Convert::Sum(_)) => words("total sum subtotal amount price"),
            _ => return plain,
        };
        let summed: Vec<Word> = match self.chain.first() {
            Some(Convert::Sum(field)) => field.iter().flat_map(|name| words(name)).collect(),
            _ => Vec::new(),
        };
        let is_said = |word: &Word| best(word, &said) >= 1.0 || best(word, &summed) >= 1.0;
        if !names.key.iter().any(is_said) {
            return plain;
        }
        let key: Vec<Word> = names.key.iter().filter(|word| !is_said(word)).cloned().collect();
        let rest = if key.is_empty() {
            // `total_grams` names the field that is added up.
            if names.key.iter().any(|word| best(word, &summed) >= 1.0) { 0.9 } else { 0.6 }
        } else {
            similarity(&Names { key, around: names.around.clone() }, &node.names)
        };
        rest.max(plain)
    }
}

#[derive(Debug)]
pub(super) struct Pool<'a> {
    pub(super) scope: usize,
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) entries: Vec<Entry>,
    by_value: HashMap<String, Vec<usize>>,
    texts: OnceCell<BTreeMap<String, Vec<usize>>>,
}

/// Places whose conversions are tried, and how far into a list.
const MAX_DERIVED_NODES: usize = 3_000;
const MAX_DERIVED_INDEX: usize = 24;
/// Longer texts are not looked for inside others.
const MAX_TEXT_BYTES: usize = 4_096;

impl<'a> Pool<'a> {
    /// Looks through the value that scope number `scope` has.
    pub(super) fn new(value: &'a Json, scope: usize, form: bool, max_nodes: usize) -> Self {
        // The elements of lists come twice, by number and by the text that tells them apart.
        let nodes = places(value, form, max_nodes.saturating_mul(2));
        let mut entries = Vec::new();
        let mut derived = 0;
        for (node, Node { steps, value, .. }) in nodes.iter().enumerate() {
            if is_scalar(value) {
                let value = (*value).clone();
                entries.push(Entry { node, chain: Vec::new(), value, cost: 0.0 });
            }
            let far =
                |step: &Step| matches!(step, Step::Index(index) if *index > MAX_DERIVED_INDEX);
            if derived < MAX_DERIVED_NODES && !steps.iter().any(far) {
                derived += 1;
                entries.extend(derive(value).into_iter().map(|derived| Entry {
                    node,
                    chain: derived.chain,
                    value: derived.value,
                    cost: derived.cost,
                }));
            }
        }
        let mut by_value: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            if let Some(key) = scalar_key(&entry.value) {
                by_value.entry(key).or_default().push(index);
            }
        }
        Self { scope, nodes, entries, by_value, texts: OnceCell::new() }
    }

    /// The entries with this value.
    pub(super) fn with_value(&self, value: &Json) -> &[usize] {
        scalar_key(value).and_then(|key| self.by_value.get(&key)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn expr(&self, entry: &Entry) -> Expr {
        Expr::Path(self.path(entry.node)).convert_all(&entry.chain)
    }

    pub(super) fn path(&self, node: usize) -> Path {
        let steps = self.nodes.get(node).map(|node| node.steps.clone()).unwrap_or_default();
        Path { scope: self.scope, steps }
    }

    /// Every text that the scope can give, with the entries that give it.
    pub(super) fn texts(&self) -> &BTreeMap<String, Vec<usize>> {
        self.texts.get_or_init(|| {
            let mut texts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (index, entry) in self.entries.iter().enumerate() {
                let text = to_text(&entry.value);
                if let Some(text) = text.filter(|text| (1..=MAX_TEXT_BYTES).contains(&text.len())) {
                    texts.entry(text).or_default().push(index);
                }
            }
            texts
        })
    }
}
