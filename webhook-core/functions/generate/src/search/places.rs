//! All places in a scope: its fields, and the elements of its lists by number and by the text that tells them apart.

use super::super::json::Json;
use super::super::names::{Words, words};
use super::super::program::{Step, field};
use super::pool::Node;

/// Every place in the value, `max_nodes` at most. In a form every value is a list.
pub(super) fn places(value: &Json, form: bool, max_nodes: usize) -> Vec<Node<'_>> {
    let mut walk = Walk { nodes: Vec::new(), form, max_nodes };
    let way = 0.0;
    walk.visit(Node { steps: Vec::new(), value, names: Vec::new(), found_by: None, way });
    walk.nodes
}

struct Walk<'a> {
    nodes: Vec<Node<'a>>,
    form: bool,
    max_nodes: usize,
}

/// Fields that tell the elements of a list apart by what they are, the better first.
const DISCRIMINATORS: &[&str] =
    &["name", "key", "type", "kind", "code", "field", "ref", "id", "label", "title"];

impl<'a> Walk<'a> {
    fn visit(&mut self, node: Node<'a>) {
        if self.nodes.len() >= self.max_nodes {
            return;
        }
        self.nodes.push(node.clone());
        let inner = |step: Step, value: &'a Json, name: Option<&str>, way: f64| Node {
            steps: node.steps.iter().cloned().chain([step]).collect(),
            value,
            names: node.names.iter().cloned().chain(name.map(|name| words(name).into())).collect(),
            found_by: node.found_by.clone(),
            way: node.way + way,
        };
        match node.value {
            Json::Object(object) => {
                for (name, value) in object {
                    self.visit(inner(Step::Key(name.clone()), value, Some(name), 0.25));
                }
            }
            Json::Array(items) => {
                let of_form = self.form && node.steps.len() == 1;
                let way = if of_form { 0.0 } else { 4.0 };
                for (index, item) in items.iter().enumerate() {
                    let way = way + if index > 0 { 1.5 } else { 0.0 };
                    self.visit(inner(Step::Index(index), item, None, way));
                }
                for (field, texts) in self.telling_fields(&node, items) {
                    for (item, text) in items.iter().zip(texts) {
                        let step = Step::Find { field: field.clone(), value: text.to_owned() };
                        let mut found = inner(step, item, Some(text), 2.0);
                        found.found_by = Some(words(text).into());
                        self.visit(found);
                    }
                }
            }
            _ => {}
        }
    }

    /// The fields that tell the elements of a list apart, and the text that each element has there.
    fn telling_fields(
        &self,
        node: &Node<'a>,
        items: &'a [Json],
    ) -> Vec<(Vec<String>, Vec<&'a str>)> {
        const MAX_ITEMS: usize = 64;
        const MAX_WAYS: usize = 3;
        let Some(first) = items.first().and_then(Json::as_object) else { return Vec::new() };
        if !(2..=MAX_ITEMS).contains(&items.len()) || node.found_by.is_some() {
            return Vec::new();
        }
        let direct = DISCRIMINATORS.iter().map(|key| vec![(*key).to_owned()]);
        let objects = first.iter().filter(|(_, value)| value.is_object());
        let inner = objects.flat_map(|(name, _)| {
            DISCRIMINATORS.iter().map(|key| vec![name.clone(), (*key).to_owned()])
        });
        let ways = direct
            .chain(inner)
            .filter_map(|field| telling_texts(items, &field).map(|texts| (field, texts)));
        ways.take(MAX_WAYS).collect()
    }
}

/// The text that each element has in this field, if no two have the same.
fn telling_texts<'a>(items: &'a [Json], names: &[String]) -> Option<Vec<&'a str>> {
    let text =
        |item: &'a Json| field(item, names)?.as_str().filter(|text| (1..=40).contains(&text.len()));
    let texts: Vec<&str> = items.iter().map(text).collect::<Option<_>>()?;
    let distinct: std::collections::HashSet<_> = texts.iter().collect();
    (distinct.len() == texts.len()).then_some(texts)
}

/// How well the names of a place go with a wanted name.
impl Node<'_> {
    pub(super) fn alike(&self, names: &super::super::names::Names) -> f64 {
        let plain = super::super::names::similarity(names, &self.names);
        // `age` is the number of the answer to `age`.
        let asked = |found: &Words| !names.key.is_empty() && names.key.as_slice() == found.as_ref();
        if self.found_by.as_ref().is_some_and(asked) { plain.max(0.88) } else { plain }
    }
}
