//! All places in a scope: its fields, the elements of its lists by number and by what tells them apart, and the
//! documents that its texts hold.

use std::sync::Arc;

use super::super::names::{Words, words};
use super::super::program::Step;
use super::super::sample::{Format, from_json_text};
use super::super::value::Value;
use super::pool::Node;

/// Every place in the value that scope number `scope` has, `max_nodes` at most.
pub(super) fn places(value: &Value, scope: usize, input: Format, max_nodes: usize) -> Vec<Node> {
    let mut walk = Walk { nodes: Vec::new(), input, scope, max_nodes };
    walk.visit(Vec::new(), value, Vec::new(), Vec::new(), 0.0);
    walk.nodes
}

struct Walk {
    nodes: Vec<Node>,
    input: Format,
    scope: usize,
    max_nodes: usize,
}

/// Fields that tell the elements of a list apart by what they are, the better first.
const DISCRIMINATORS: &[&str] = &[
    "name", "key", "type", "kind", "code", "field", "ref", "id", "label", "title", "slug", "role",
    "category", "-name", "-type", "-key", "-id",
];

impl Walk {
    fn visit(
        &mut self,
        steps: Vec<Step>,
        value: &Value,
        names: Vec<Words>,
        found_by: Vec<Words>,
        way: f64,
    ) {
        if self.nodes.len() >= self.max_nodes {
            return;
        }
        let node = Node {
            steps: steps.clone(),
            value: value.clone(),
            names: names.clone(),
            found_by: found_by.clone(),
            way,
        };
        self.nodes.push(node);
        let with = |step: Step| steps.iter().cloned().chain([step]).collect::<Vec<_>>();
        match value {
            Value::Object(object) => {
                for (name, value) in object.iter() {
                    let names = names.iter().cloned().chain([Words::from(words(name))]).collect();
                    self.visit(
                        with(Step::Key(name.clone())),
                        value,
                        names,
                        found_by.clone(),
                        way + 0.25,
                    );
                }
            }
            Value::List(items) => {
                let form_value = self.input == Format::Form && self.scope == 0 && steps.len() == 1;
                for (index, item) in items.iter().enumerate() {
                    let cost = if form_value {
                        index as f64
                    } else {
                        3.0 + if index > 0 { 1.5 } else { 0.0 }
                    };
                    self.visit(
                        with(Step::Index(index)),
                        item,
                        names.clone(),
                        found_by.clone(),
                        way + cost,
                    );
                }
                if items.len() >= 2
                    && let Some(last) = items.last()
                {
                    self.visit(with(Step::Last), last, names.clone(), found_by.clone(), way + 4.0);
                }
                self.visit_found(&steps, items, &names, &found_by, way);
            }
            // A form field or a text that holds a document of its own.
            Value::Text(text) if matches!(text.as_bytes().first(), Some(b'{' | b'[')) => {
                let decoded_already = steps.contains(&Step::Decode);
                if let Some(decoded) = from_json_text(text).filter(|_| !decoded_already) {
                    self.visit(with(Step::Decode), &decoded, names, found_by, way + 1.0);
                }
            }
            _ => {}
        }
    }

    /// The same elements, found by the text that tells them apart rather than by their place.
    fn visit_found(
        &mut self,
        steps: &[Step],
        items: &[Value],
        names: &[Words],
        found_by: &[Words],
        way: f64,
    ) {
        const MAX_ITEMS: usize = 64;
        const MAX_WAYS: usize = 3;
        if !(2..=MAX_ITEMS).contains(&items.len()) || !found_by.is_empty() {
            return;
        }
        let Some(first) = items.first().and_then(Value::as_object) else { return };
        let direct = DISCRIMINATORS.iter().map(|key| vec![Arc::<str>::from(*key)]);
        let inner =
            first.iter().filter(|(_, value)| value.as_object().is_some()).flat_map(|(name, _)| {
                DISCRIMINATORS.iter().map(|key| vec![name.clone(), Arc::from(*key)])
            });
        let ways =
            direct.chain(inner).filter_map(|field| Some((telling_texts(items, &field)?, field)));
        for (texts, field) in ways.take(MAX_WAYS) {
            let field: Arc<[Arc<str>]> = field.into();
            for (item, text) in items.iter().zip(texts) {
                let found: Words = words(&text).into();
                let step = Step::Find { field: field.clone(), value: text };
                let steps = steps.iter().cloned().chain([step]).collect();
                let names = names.iter().cloned().chain([found.clone()]).collect();
                self.visit(steps, item, names, vec![found], way + 2.0);
            }
        }
    }
}

/// The text that each element has in this field, if no two have the same.
fn telling_texts(items: &[Value], field: &[Arc<str>]) -> Option<Vec<Arc<str>>> {
    let text =
        |item: &Value| match field.iter().try_fold(item, |item, key| item.as_object()?.get(key))? {
            Value::Text(text) if (1..=40).contains(&text.len()) => Some(text.clone()),
            _ => None,
        };
    let texts: Vec<_> = items.iter().map(text).collect::<Option<_>>()?;
    let distinct: std::collections::HashSet<_> = texts.iter().collect();
    (distinct.len() == texts.len()).then_some(texts)
}
