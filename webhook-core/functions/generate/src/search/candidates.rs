//! The loops that a wanted list may come from: over a list, some of it, the lists in it, or the fields of an object.

use std::rc::Rc;

use super::super::names::similarity;
use super::super::program::{Filter, Loop, Order, Over, Path, Step, Test};
use super::super::sample::Format;
use super::super::value::{Object, ScalarKey, Value};
use super::pool::{Node, Pool};
use super::{Context, Example, Exhausted, Search, cost};

pub(super) struct Candidate {
    pub(super) loops: Vec<Loop>,
    pub(super) cost: f64,
    /// How much of the first wanted element is found in the first element.
    pub(super) shared: f64,
}

impl Search<'_> {
    /// The loops that have `length` passes in the seed.
    pub(super) fn candidates(
        &self,
        want: &[Value],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
        length: usize,
    ) -> Result<Vec<Candidate>, Exhausted> {
        let mut out = Vec::new();
        for pool in pools {
            self.charge(pool.nodes.len() / 16)?;
            for (index, node) in pool.nodes.iter().enumerate() {
                let place = self.place(pool, node, seed.scopes.len(), context) + cost::LOOP;
                let source = pool.path(index);
                let plain = |over| Loop { source: source.clone(), over, filter: None, order: None };
                match &node.value {
                    Value::List(items) if items.len() == length => {
                        self.charge(100)?;
                        let shared = shared(want.first(), items.first());
                        // One element tells little about a list: the names must agree.
                        let alone = if length == 1 {
                            6.0 * (1.0 - similarity(&context.names, &node.names))
                        } else {
                            0.0
                        };
                        out.push(Candidate {
                            loops: vec![plain(Over::Items)],
                            cost: place + alone,
                            shared,
                        });
                        self.ordered(items, &source, place, want, seed, &mut out)?;
                    }
                    Value::List(items) => {
                        if items.len() > length {
                            self.filtered(items, &source, place, want, length, seed, &mut out)?;
                        }
                        self.nested(items, &source, place, want, length, seed, &mut out)?;
                    }
                    Value::Object(object) if object.len() == length && length > 1 => {
                        let over =
                            if self.ordered_fields { Over::Fields } else { Over::SortedFields };
                        out.push(Candidate {
                            loops: vec![plain(Over::SortedFields)],
                            cost: place + 4.0,
                            shared: 0.0,
                        });
                        if over == Over::Fields {
                            out.push(Candidate {
                                loops: vec![plain(over)],
                                cost: place + 4.5,
                                shared: 0.0,
                            });
                        }
                    }
                    value
                        if self.input == Format::Xml
                            && length == 1
                            && pool.scope + 1 == seed.scopes.len() =>
                    {
                        if let Some(candidate) =
                            self.single(value, node, want, plain(Over::Items), place, context)
                        {
                            out.push(candidate);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(out)
    }

    /// All elements in the order of one of their fields, where that is another order than theirs.
    fn ordered(
        &self,
        items: &[Value],
        source: &Path,
        place: f64,
        want: &[Value],
        seed: &Example,
        out: &mut Vec<Candidate>,
    ) -> Result<(), Exhausted> {
        const MAX_FIELDS: usize = 12;
        const MAX_ITEMS: usize = 64;
        let Some(first) = items.first().and_then(Value::as_object) else { return Ok(()) };
        if !(2..=MAX_ITEMS).contains(&items.len()) {
            return Ok(());
        }
        let fields = first
            .iter()
            .filter(|(_, value)| matches!(value, Value::Int(_) | Value::Float(_) | Value::Text(_)));
        for (field, _) in fields.take(MAX_FIELDS) {
            for descending in [false, true] {
                self.charge(items.len() * 2)?;
                let order = Some(Order { field: field.clone(), descending });
                let looped =
                    Loop { source: source.clone(), over: Over::Items, filter: None, order };
                let sorted = self.evaluator.items(&looped, &seed.scopes);
                let same = sorted.iter().zip(items).all(|(sorted, item)| sorted.same(item));
                let shared = shared(want.first(), sorted.first());
                // Where nothing of the first element is in the first wanted one, it is another order.
                if !same && shared > 0.0 {
                    out.push(Candidate { loops: vec![looped], cost: place + 5.0, shared });
                }
            }
        }
        Ok(())
    }

    /// In XML a list of one element is that element.
    fn single(
        &self,
        value: &Value,
        node: &Node,
        want: &[Value],
        looped: Loop,
        place: f64,
        context: &Context,
    ) -> Option<Candidate> {
        // An element that only holds another one is what its list is in.
        let wraps = |object: &Object| {
            object.len() == 1 && object.iter().all(|(_, value)| !value.is_scalar())
        };
        if value.as_object().is_some_and(wraps) {
            return None;
        }
        let shared = shared(want.first(), Some(value));
        let alike = similarity(&context.names, &node.names);
        // That a list is wanted says that there may be more of them.
        let cost = place + 6.0 - 12.0 * alike;
        (shared > 0.0 && alike > 0.3).then(|| Candidate { loops: vec![looped], cost, shared })
    }

    /// Some of the elements, told by one of their fields.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call site; a struct would only repeat the names"
    )]
    fn filtered(
        &self,
        items: &[Value],
        source: &Path,
        place: f64,
        want: &[Value],
        length: usize,
        seed: &Example,
        out: &mut Vec<Candidate>,
    ) -> Result<(), Exhausted> {
        const MAX_TESTS: usize = 48;
        let scope = seed.scopes.len();
        let mut tests: Vec<(Path, Test, f64)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for item in items.iter().take(32) {
            self.charge(64)?;
            let Some(object) = item.as_object() else { continue };
            for (name, value) in object.iter() {
                let path = || Path { scope, steps: vec![Step::Key(name.clone())] };
                // What no two elements share tells one of them, not a kind of them.
                let rare = items.len() > 1 && self.all_differ(items, name);
                let cost = cost::constant(value) / 3.0 + if rare { 8.0 } else { 0.0 };
                let test = match value {
                    Value::Text(text) if text.len() <= 40 => {
                        Some((Test::Equals(value.clone()), cost))
                    }
                    Value::Bool(_) => Some((Test::Equals(value.clone()), 1.0)),
                    _ => None,
                };
                if tests.len() < MAX_TESTS
                    && ScalarKey::of(value).is_some_and(|key| seen.insert((name.clone(), key)))
                {
                    if let Some((Test::Equals(value), cost)) = test {
                        tests.push((path(), Test::Equals(value.clone()), cost));
                        tests.push((path(), Test::Differs(value), cost + 1.5));
                    }
                    tests.push((path(), Test::Present, 4.0));
                    tests.push((path(), Test::Positive, 4.0));
                }
            }
        }
        for (path, test, cost) in tests {
            let looped = Loop {
                source: source.clone(),
                over: Over::Items,
                filter: Some(Filter { path, test }),
                order: None,
            };
            self.charge(items.len() / 4 + 1)?;
            let kept = self.evaluator.items(&looped, &seed.scopes);
            if kept.len() == length {
                let shared = shared(want.first(), kept.first());
                // Found by chance more easily than all elements are.
                let few = if length == 1 { 6.0 } else { 0.0 };
                out.push(Candidate { loops: vec![looped], cost: place + 4.0 + cost + few, shared });
            }
        }
        Ok(())
    }

    fn all_differ(&self, items: &[Value], name: &str) -> bool {
        let mut seen = std::collections::HashSet::new();
        items.iter().take(64).all(|item| {
            let value = item.as_object().and_then(|item| item.get(name));
            value.and_then(ScalarKey::of).is_some_and(|key| seen.insert(key))
        })
    }

    /// The elements of the lists inside the elements.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call site; a struct would only repeat the names"
    )]
    fn nested(
        &self,
        items: &[Value],
        source: &Path,
        place: f64,
        want: &[Value],
        length: usize,
        seed: &Example,
        out: &mut Vec<Candidate>,
    ) -> Result<(), Exhausted> {
        let Some(first) = items.first().and_then(Value::as_object) else { return Ok(()) };
        for (name, value) in first.iter() {
            if !matches!(value, Value::List(_)) || length < 2 {
                continue;
            }
            self.charge(items.len())?;
            let inner = |item: &Value| {
                item.as_object()
                    .and_then(|item| item.get(name)?.as_list())
                    .map_or(0, <[Value]>::len)
            };
            if items.iter().map(inner).sum::<usize>() != length {
                continue;
            }
            let steps = vec![Step::Key(name.clone())];
            let outer =
                Loop { source: source.clone(), over: Over::Items, filter: None, order: None };
            let within = Loop {
                source: Path { scope: seed.scopes.len(), steps },
                over: Over::Items,
                filter: None,
                order: None,
            };
            let shared = shared(want.first(), value.as_list().and_then(<[Value]>::first));
            out.push(Candidate { loops: vec![outer, within], cost: place + 4.0, shared });
        }
        Ok(())
    }
}

/// The share of the wanted scalars that occur in the element, whole or inside a text.
fn shared(want: Option<&Value>, item: Option<&Value>) -> f64 {
    let (Some(want), Some(item)) = (want, item) else { return 0.0 };
    let (mut wanted, mut offered) = (Vec::new(), Vec::new());
    scalars(want, 50, &mut wanted);
    scalars(item, 200, &mut offered);
    let explained = |wanted: &&String| {
        offered.iter().any(|text| {
            *wanted == text
                || (text.len() >= 3 && wanted.contains(text.as_str()))
                || (wanted.len() >= 3 && text.contains(wanted.as_str()))
        })
    };
    wanted.iter().filter(explained).count() as f64 / wanted.len().max(1) as f64
}

fn scalars(value: &Value, most: usize, out: &mut Vec<String>) {
    if out.len() >= most {
        return;
    }
    match value {
        Value::List(items) => items.iter().for_each(|item| scalars(item, most, out)),
        Value::Object(object) => object.iter().for_each(|(_, value)| scalars(value, most, out)),
        scalar => out.extend(scalar.to_text().filter(|text| !text.is_empty())),
    }
}
