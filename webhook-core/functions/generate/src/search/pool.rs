//! Everything that one scope offers to explain a value: its places, what they can become, and an index of the texts.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use super::super::convert::Convert;
use super::super::json::{Json, is_scalar, scalar_key, to_text};
use super::super::names::{Names, Word, Words, best, similarity, words};
use super::super::program::{Expr, Path, Step};
use super::derive::derive;

/// A place in the scope.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub(super) steps: Vec<Step>,
    pub(super) value: &'a Json,
    /// The words of each named step.
    pub(super) names: Vec<Words>,
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
    /// How well the names go with what is wanted: `item_count` is the count of `items`, `total_grams` the sum of `grams`.
    pub(super) fn alike(&self, node: &Node<'_>, names: &Names) -> f64 {
        let plain = similarity(names, &node.names);
        let (said, summed) = match self.chain.first() {
            Some(Convert::Count) => (words("count number size quantity total"), Vec::new()),
            Some(Convert::Sum(field)) => {
                let field = field.iter().flat_map(|name| words(name)).collect();
                (words("total sum subtotal amount price"), field)
            }
            _ => return plain,
        };
        let is = |word: &Word, said: &[Word]| best(word, said) >= 1.0;
        let names_field = names.key.iter().any(|word| is(word, &summed));
        let key: Vec<Word> = names
            .key
            .iter()
            .filter(|word| !is(word, &said) && !is(word, &summed))
            .cloned()
            .collect();
        let rest = match key.is_empty() {
            _ if key.len() == names.key.len() => return plain,
            true if names_field => 0.9,
            true => 0.6,
            false => similarity(&Names { key, around: names.around.clone() }, &node.names),
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
        let mut nodes = Vec::new();
        let (steps, names, way) = (Vec::new(), Vec::new(), 0.0);
        visit(Node { steps, value, names, way }, form, max_nodes, &mut nodes);
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

/// Adds the place and all places inside, `most` at most. In a form every value is a list.
fn visit<'a>(node: Node<'a>, form: bool, most: usize, out: &mut Vec<Node<'a>>) {
    if out.len() >= most {
        return;
    }
    out.push(node.clone());
    let inner = |step: Step, value: &'a Json, name: Option<&str>, way: f64| Node {
        steps: node.steps.iter().cloned().chain([step]).collect(),
        value,
        names: node.names.iter().cloned().chain(name.map(|name| words(name).into())).collect(),
        way: node.way + way,
    };
    match node.value {
        Json::Object(object) => {
            for (name, value) in object {
                visit(inner(Step::Key(name.clone()), value, Some(name), 0.25), form, most, out);
            }
        }
        Json::Array(items) => {
            let of_form = form && node.steps.len() == 1;
            for (index, item) in items.iter().enumerate() {
                let way = if of_form { 0.0 } else { 4.0 } + if index > 0 { 1.5 } else { 0.0 };
                visit(inner(Step::Index(index), item, None, way), form, most, out);
            }
        }
        _ => {}
    }
}
