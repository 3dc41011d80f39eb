//! Running a program in Rust: what the search checks its candidates with, and what the written source must equal.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::json::{Json, number, same, to_text};
use super::program::{Expr, Filter, Loop, Order, Path, Piece, Step, Test, field};

/// What the expression gives; `None` stands for an absent value.
pub(crate) fn eval<'a>(expr: &Expr, scopes: &[&'a Json]) -> Option<Cow<'a, Json>> {
    Some(match expr {
        Expr::Const(value) => Cow::Owned(value.clone()),
        Expr::Path(path) => Cow::Borrowed(resolve(path, scopes)?),
        Expr::Convert(inner, convert) => Cow::Owned(convert.apply(eval(inner, scopes).as_deref())?),
        Expr::Text(pieces) => {
            let text = pieces.iter().map(|piece| match piece {
                Piece::Words(words) => words.clone(),
                Piece::Value(expr) => {
                    eval(expr, scopes).and_then(|value| to_text(&value)).unwrap_or_default()
                }
            });
            Cow::Owned(Json::String(text.collect()))
        }
        Expr::Object(fields) => {
            let fields = fields
                .iter()
                .filter_map(|(name, expr)| Some((name.clone(), eval(expr, scopes)?.into_owned())));
            Cow::Owned(Json::Object(fields.collect()))
        }
        Expr::List(items) => {
            let item = |expr| eval(expr, scopes).map_or(Json::Null, Cow::into_owned);
            Cow::Owned(Json::Array(items.iter().map(item).collect()))
        }
        Expr::Map(map) => {
            let mut items = Vec::new();
            walk(&map.loops, &mut scopes.to_vec(), &mut |scopes| {
                items.extend(eval(&map.body, scopes).map(Cow::into_owned));
            });
            Cow::Owned(Json::Array(items))
        }
    })
}

/// Runs `visit` once per pass of the nested loops, with the scopes of that pass.
pub(crate) fn walk<'a>(
    loops: &[Loop],
    scopes: &mut Vec<&'a Json>,
    visit: &mut impl FnMut(&[&'a Json]),
) {
    let Some((looped, inner)) = loops.split_first() else {
        visit(scopes);
        return;
    };
    for item in items(looped, scopes) {
        scopes.push(item);
        walk(inner, scopes, visit);
        scopes.pop();
    }
}

/// The elements that a loop takes, in its order.
pub(crate) fn items<'a>(looped: &Loop, scopes: &[&'a Json]) -> Vec<&'a Json> {
    let source = resolve(&looped.source, scopes).and_then(Json::as_array);
    let mut items: Vec<&'a Json> = source.into_iter().flatten().collect();
    if let Some(filter) = &looped.filter {
        items.retain(|item| passes(filter, item));
    }
    if let Some(Order { field: by, descending }) = &looped.order {
        items.sort_by(|left, right| {
            let order = compare(field(left, by), field(right, by));
            if *descending { order.reverse() } else { order }
        });
    }
    items
}

fn passes(filter: &Filter, item: &Json) -> bool {
    let value = field(item, &filter.field);
    match &filter.test {
        Test::Equals(wanted) => value.is_some_and(|value| same(value, wanted)),
        Test::Differs(unwanted) => !value.is_some_and(|value| same(value, unwanted)),
        Test::AtLeast(least) => value.and_then(number).is_some_and(|number| number >= *least),
        Test::Below(limit) => value.and_then(number).is_some_and(|number| number < *limit),
    }
}

/// Numbers before texts, and both before everything else.
fn compare(left: Option<&Json>, right: Option<&Json>) -> Ordering {
    let rank = |value: Option<&Json>| match value {
        Some(Json::Number(_)) => 1,
        Some(Json::String(_)) => 2,
        _ => 3,
    };
    rank(left).cmp(&rank(right)).then_with(|| match (left, right) {
        (Some(Json::String(left)), Some(Json::String(right))) => left.cmp(right),
        (Some(Json::Number(left)), Some(Json::Number(right))) => {
            let numbers = left.as_f64().zip(right.as_f64());
            numbers.map_or(Ordering::Equal, |(left, right)| left.total_cmp(&right))
        }
        _ => Ordering::Equal,
    })
}

pub(crate) fn resolve<'a>(path: &Path, scopes: &[&'a Json]) -> Option<&'a Json> {
    path.steps.iter().try_fold(*scopes.get(path.scope)?, |at, step| match step {
        Step::Key(key) => at.as_object()?.get(key),
        Step::Index(index) => at.as_array()?.get(*index),
    })
}
