//! What a whole list can become: its length, the sum of a field, its texts joined.

use std::sync::Arc;

use super::super::convert::Convert;
use super::super::eval::Evaluator;
use super::super::numbers::{number, tidy};
use super::super::program::{Expr, Loop, Map, Operator, Over, Path, Step};
use super::super::value::Value;
use super::cost;

/// An expression over the list, its value and its cost.
pub(super) struct Aggregate {
    pub(super) expr: Expr,
    pub(super) value: Value,
    pub(super) cost: f64,
}

/// Whether the expression is a count, a sum or an extreme, whatever is done with it then.
pub(super) fn kind(expr: &Expr) -> Option<&Convert> {
    match expr {
        Expr::Convert(
            _,
            convert @ (Convert::Count | Convert::Sum | Convert::Min | Convert::Max),
        ) => Some(convert),
        Expr::Convert(inner, _) => kind(inner),
        _ => None,
    }
}

const SEPARATORS: &[&str] = &[
    ", ", ",", " ", "; ", ";", "\n", " | ", "|", "/", "-", " / ", " and ", " - ", "\n- ", "\n* ",
    "\n• ", "<br>", " & ", "",
];

/// Lists and texts beyond these are not joined.
const MAX_ITEMS: usize = 200;
const MAX_JOINED_BYTES: usize = 4_096;
const MAX_FIELDS: usize = 24;

/// Everything tried on the list at `path`.
pub(super) fn of_list(items: &[Value], path: &Path, evaluator: Evaluator) -> Vec<Aggregate> {
    let mut out = Vec::new();
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let whole = || Expr::Path(path.clone());
    out.push(Aggregate {
        expr: whole().convert(Convert::Count),
        value: Value::Int(count),
        cost: cost::convert(&Convert::Count),
    });
    if items.is_empty() || items.len() > MAX_ITEMS {
        return out;
    }
    if items.iter().all(Value::is_scalar) {
        reduce(items, whole(), 0.0, &mut out);
        return out;
    }
    let mut places = Vec::new();
    if let Some(first) = items.first() {
        scalar_places(first, &mut Vec::new(), &mut places);
    }
    for steps in places {
        let values: Vec<Value> =
            items.iter().filter_map(|item| evaluator.follow(item, &steps)).collect();
        if values.iter().all(Value::is_scalar) {
            // The loop opens the scope after the list's own.
            let body = Expr::Path(Path { scope: path.scope + 1, steps });
            let looped =
                Loop { source: path.clone(), over: Over::Items, filter: None, order: None };
            reduce(&values, Expr::Map(Box::new(Map { loops: vec![looped], body })), 1.5, &mut out);
        }
    }
    out.extend(sums_of_products(items, path, evaluator));
    out
}

/// The scalars in an element, two levels deep.
fn scalar_places(value: &Value, steps: &mut Vec<Step>, out: &mut Vec<Vec<Step>>) {
    let Some(object) = value.as_object() else { return };
    for (name, value) in object.iter() {
        if out.len() >= MAX_FIELDS {
            return;
        }
        steps.push(Step::Key(Arc::clone(name)));
        if value.is_scalar() && !value.is_null() {
            out.push(steps.clone());
        } else if steps.len() < 2 {
            scalar_places(value, steps, out);
        }
        steps.pop();
    }
}

fn reduce(values: &[Value], list: Expr, base: f64, out: &mut Vec<Aggregate>) {
    let mut push = |expr: Expr, converts: &[Convert], value: Value, cost: f64| {
        let mut value = Some(value);
        for convert in converts {
            value = convert.apply(value.as_ref(), false);
        }
        if let Some(value) = value {
            let cost = base + cost + converts.iter().map(cost::convert).sum::<f64>();
            out.push(Aggregate { expr: expr.convert_all(converts), value, cost });
        }
    };
    if values.iter().all(|value| number(value).is_some()) {
        for more in [
            &[][..],
            &[Convert::Times(100)],
            &[Convert::Divide(100)],
            &[Convert::Fixed(2)],
            &[Convert::Divide(100), Convert::Fixed(2)],
        ] {
            let converts: Vec<Convert> = [Convert::Sum].iter().chain(more).cloned().collect();
            push(list.clone(), &converts, Value::list(values.iter().cloned()), 0.0);
        }
        if values.len() > 1 {
            for convert in [Convert::Min, Convert::Max] {
                push(list.clone(), &[convert], Value::list(values.iter().cloned()), 0.0);
            }
        }
    }
    if values.len() < 2 {
        return;
    }
    let texts: Vec<String> = values.iter().filter_map(Value::to_text).collect();
    if texts.iter().map(String::len).sum::<usize>() > MAX_JOINED_BYTES {
        return;
    }
    for (rank, separator) in SEPARATORS.iter().enumerate() {
        let joined = Expr::Join { list: Box::new(list.clone()), separator: (*separator).into() };
        push(joined, &[], Value::text(texts.join(separator)), 3.0 + rank as f64 * 0.1);
    }
}

/// Price times quantity, summed over the list.
fn sums_of_products(items: &[Value], path: &Path, evaluator: Evaluator) -> Vec<Aggregate> {
    let mut places = Vec::new();
    if let Some(first) = items.first() {
        scalar_places(first, &mut Vec::new(), &mut places);
    }
    let numeric = |steps: &Vec<Step>| {
        items.iter().all(|item| evaluator.follow(item, steps).is_some_and(|v| number(&v).is_some()))
    };
    places.retain(numeric);
    places.truncate(8);
    let mut out = Vec::new();
    for (index, left) in places.iter().enumerate() {
        for right in places.iter().skip(index + 1) {
            let factor = |steps: &Vec<Step>| {
                Box::new(
                    Expr::Path(Path { scope: path.scope + 1, steps: steps.clone() })
                        .convert(Convert::Number),
                )
            };
            let body = Expr::Arithmetic(Operator::Multiply, factor(left), factor(right));
            let looped =
                Loop { source: path.clone(), over: Over::Items, filter: None, order: None };
            let expr = Expr::Map(Box::new(Map { loops: vec![looped], body })).convert(Convert::Sum);
            // The scopes outside do not matter: the body reads only the element.
            let value: f64 = items
                .iter()
                .filter_map(|item| {
                    Some(
                        number(&evaluator.follow(item, left)?)?
                            * number(&evaluator.follow(item, right)?)?,
                    )
                })
                .sum();
            let value = tidy(value);
            let fixed = Convert::Fixed(2).apply(Some(&value), false);
            if let Some(fixed) = fixed {
                out.push(Aggregate {
                    expr: expr.clone().convert(Convert::Fixed(2)),
                    value: fixed,
                    cost: 14.0,
                });
            }
            out.push(Aggregate { expr, value, cost: 12.0 });
        }
    }
    out
}
