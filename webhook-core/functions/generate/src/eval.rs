//! Running a program in Rust: what the search checks its candidates with, and what the written source must equal.

use std::cmp::Ordering;
use std::sync::Arc;

use super::convert::{Convert, list};
use super::program::{
    Element, Expr, Filter, FromPairs, Loop, Operator, Order, Over, Path, Piece, Step, Test,
};
use super::sample::{Format, from_json_text};
use super::value::Value;
use super::{numbers, program};

/// The payload, or the element that a loop is at.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) value: Value,
    /// Counted from 0.
    pub(crate) position: usize,
    /// Tells the scopes of one search apart.
    pub(crate) id: u64,
}

impl Scope {
    #[cfg(test)]
    pub(crate) fn payload(value: Value) -> Self {
        Self { value, position: 0, id: 0 }
    }
}

/// What the program makes of a payload; `None` when its whole result is absent.
#[cfg(test)]
pub(crate) fn run(program: &program::Program, payload: &Value) -> Option<Value> {
    Evaluator::new(program.input).eval(&program.body, &[Scope::payload(payload.clone())])
}

/// Numbers before texts, and both before everything else.
fn compare(left: Option<&Value>, right: Option<&Value>) -> Ordering {
    let rank = |value: Option<&Value>| match value {
        Some(Value::Int(_) | Value::Float(_)) => 1,
        Some(Value::Text(_)) => 2,
        _ => 3,
    };
    let by_rank = rank(left).cmp(&rank(right));
    by_rank.then_with(|| match (left, right) {
        (Some(Value::Text(left)), Some(Value::Text(right))) => left.cmp(right),
        (Some(left), Some(right)) => {
            let numbers = left.as_number().zip(right.as_number());
            numbers.map_or(Ordering::Equal, |(left, right)| left.total_cmp(&right))
        }
        _ => Ordering::Equal,
    })
}

/// Evaluates expressions; `None` everywhere stands for an absent value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evaluator {
    /// In XML a child that occurs once is no list, so that a list is expected to be a value sometimes.
    single_is_list: bool,
}

impl Evaluator {
    pub(crate) fn new(input: Format) -> Self {
        Self { single_is_list: input == Format::Xml }
    }

    pub(crate) fn eval(self, expr: &Expr, scopes: &[Scope]) -> Option<Value> {
        match expr {
            Expr::Const(value) => Some(value.clone()),
            Expr::Path(path) => self.resolve(path, scopes),
            Expr::Convert(inner, convert) => {
                convert.apply(self.eval(inner, scopes).as_ref(), self.single_is_list)
            }
            Expr::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Words(words) => text.push_str(words),
                        Piece::Value(expr) => {
                            text.push_str(
                                &self
                                    .eval(expr, scopes)
                                    .and_then(|value| value.to_text())
                                    .unwrap_or_default(),
                            );
                        }
                    }
                }
                Some(Value::text(text))
            }
            Expr::Arithmetic(operator, left, right) => {
                let (left, right) =
                    (self.eval(left, scopes)?.as_number()?, self.eval(right, scopes)?.as_number()?);
                Some(numbers::tidy(match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                }))
            }
            Expr::Position { scope, base } => {
                let position = i64::try_from(scopes.get(*scope)?.position).ok()?;
                Some(Value::Int(position.saturating_add(*base)))
            }
            Expr::Object { base, fields } => Some(self.object(base.as_ref(), fields, scopes)),
            Expr::List(elements) => {
                let mut items = Vec::new();
                for element in elements {
                    match element {
                        Element::One(expr) => {
                            items.push(self.eval(expr, scopes).unwrap_or(Value::Null))
                        }
                        Element::Spread(expr) => {
                            items.extend(list(self.eval(expr, scopes).as_ref(), false))
                        }
                    }
                }
                Some(Value::list(items))
            }
            Expr::Map(map) => {
                let mut items = Vec::new();
                self.walk(&map.loops, &mut scopes.to_vec(), &mut |scopes| {
                    items.extend(self.eval(&map.body, scopes))
                });
                Some(Value::list(items))
            }
            Expr::Join { list: joined, separator } => {
                let items = self.eval(joined, scopes)?;
                let texts: Vec<String> = list(Some(&items), self.single_is_list)
                    .iter()
                    .filter_map(Value::to_text)
                    .collect();
                Some(Value::text(texts.join(separator)))
            }
            Expr::FromPairs(pairs) => Some(self.keyed(pairs, scopes)),
        }
    }

    fn object(
        self,
        base: Option<&program::Base>,
        fields: &[(Arc<str>, Expr)],
        scopes: &[Scope],
    ) -> Value {
        let mut out: Vec<(Arc<str>, Value)> = Vec::new();
        if let Some(base) = base
            && let Some(Value::Object(object)) = self.resolve(&base.path, scopes)
        {
            let own = |name: &str| fields.iter().any(|(field, _)| field.as_ref() == name);
            let kept = object.iter().filter(|(name, _)| !base.removed.contains(name) && !own(name));
            out.extend(kept.map(|(name, value)| (name.clone(), value.clone())));
        }
        out.extend(
            fields.iter().filter_map(|(name, expr)| Some((name.clone(), self.eval(expr, scopes)?))),
        );
        Value::object(out)
    }

    fn keyed(self, pairs: &FromPairs, scopes: &[Scope]) -> Value {
        let looped =
            Loop { source: pairs.list.clone(), over: Over::Items, filter: None, order: None };
        let mut fields: Vec<(Arc<str>, Option<Value>)> = Vec::new();
        self.walk(std::slice::from_ref(&looped), &mut scopes.to_vec(), &mut |scopes| {
            let key = self
                .eval(&pairs.key, scopes)
                .and_then(|key| key.to_text())
                .filter(|key| !key.is_empty());
            if let Some(key) = key {
                fields.push((key.into(), self.eval(&pairs.value, scopes)));
            }
        });
        // The last value of a key counts, also where it is absent.
        let last: std::collections::HashMap<_, _> =
            fields.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        Value::object(fields.into_iter().filter_map(|(key, _)| {
            let value = last.get(&key)?.clone()?;
            Some((key, value))
        }))
    }

    /// Runs `visit` once per pass of the nested loops, with the scopes of that pass.
    pub(crate) fn walk(
        self,
        loops: &[Loop],
        scopes: &mut Vec<Scope>,
        visit: &mut impl FnMut(&[Scope]),
    ) {
        let Some((looped, inner)) = loops.split_first() else {
            visit(scopes);
            return;
        };
        for (position, value) in self.items(looped, scopes).into_iter().enumerate() {
            scopes.push(Scope { value, position, id: 0 });
            self.walk(inner, scopes, visit);
            scopes.pop();
        }
    }

    /// The elements that a loop takes, the filter applied.
    pub(crate) fn items(self, looped: &Loop, scopes: &[Scope]) -> Vec<Value> {
        let source = self.resolve(&looped.source, scopes);
        let mut items = match looped.over {
            Over::Items => list(source.as_ref(), self.single_is_list),
            Over::Fields | Over::SortedFields => {
                let object = source.as_ref().and_then(Value::as_object);
                let mut fields: Vec<_> =
                    object.into_iter().flat_map(|object| object.iter()).collect();
                if looped.over == Over::SortedFields {
                    fields.sort_by(|a, b| a.0.cmp(b.0));
                }
                let entry = |(key, value): (&Arc<str>, &Value)| {
                    Value::object([
                        ("key".into(), Value::Text(key.clone())),
                        ("value".into(), value.clone()),
                    ])
                };
                fields.into_iter().map(entry).collect()
            }
        };
        if let Some(filter) = &looped.filter {
            items.retain(|item| self.passes(filter, item));
        }
        if let Some(Order { field, descending }) = &looped.order {
            items.sort_by(|left, right| {
                let [left, right] = [left, right].map(|item| item.as_object()?.get(field));
                let order = compare(left, right);
                if *descending { order.reverse() } else { order }
            });
        }
        items
    }

    fn passes(self, filter: &Filter, item: &Value) -> bool {
        let value = self.follow(item, &filter.path.steps);
        match &filter.test {
            Test::Equals(wanted) => value.is_some_and(|value| value.same(wanted)),
            Test::Differs(unwanted) => !value.is_some_and(|value| value.same(unwanted)),
            Test::Present => value.is_some_and(|value| !value.is_null()),
            Test::Positive => Convert::Number
                .apply(value.as_ref(), false)
                .and_then(|value| value.as_number())
                .is_some_and(|number| number > 0.0),
        }
    }

    pub(crate) fn resolve(self, path: &Path, scopes: &[Scope]) -> Option<Value> {
        self.follow(&scopes.get(path.scope)?.value, &path.steps)
    }

    pub(crate) fn follow(self, value: &Value, steps: &[Step]) -> Option<Value> {
        let mut at = value.clone();
        for step in steps {
            at = match step {
                Step::Key(key) => at.as_object()?.get(key)?.clone(),
                Step::Decode => from_json_text(at.as_text()?)?,
                Step::Index(index) => match &at {
                    Value::List(items) => items.get(*index)?.clone(),
                    _ => list(Some(&at), self.single_is_list).into_iter().nth(*index)?,
                },
                Step::Last => list(Some(&at), self.single_is_list).pop()?,
                Step::Find { field, value } => {
                    list(Some(&at), self.single_is_list).into_iter().find(|item| {
                        let found =
                            field.iter().try_fold(item, |item, key| item.as_object()?.get(key));
                        found.and_then(Value::as_text) == Some(value.as_ref())
                    })?
                }
            };
        }
        Some(at)
    }
}
