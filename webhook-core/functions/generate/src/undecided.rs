//! What the samples do not decide: other functions of the same size that are right for them, too, and values that one
//! sample shows only once. Each is told with the sample that would decide.

use std::borrow::Cow;

use super::diff::{first_difference, member, show};
use super::eval::eval;
use super::json::Json;
use super::mutate::mutated;
use super::names::{Names, similarity, words};
use super::program::{Expr, Path, Piece, Step};
use super::sample::{Format, Sample};
use super::search::Found;

/// Open questions that are told; there may be as many as values.
const MAX_TOLD: usize = 8;

/// The open questions, each with the sample that would decide.
pub(crate) fn undecided(found: &Found, samples: &[(Sample, Sample)]) -> Vec<String> {
    let Some((input, _)) = samples.first() else { return Vec::new() };
    let mut told = by_rivals(found, &input.value);
    if samples.len() == 1 {
        let mut names = Vec::new();
        scalars(&input.value, "", &mut |place, scalar| names.push((place.to_owned(), scalar)));
        constants(&found.expr, "out", &names, input.format == Format::Json, &mut told);
    }
    let more = told.len().saturating_sub(MAX_TOLD);
    told.truncate(MAX_TOLD);
    if more > 0 {
        told.push(format!("{more} more values are open in the same way"));
    }
    told
}

/// The rivals that give something else for a changed sample.
fn by_rivals(found: &Found, input: &Json) -> Vec<String> {
    let mut open: Vec<&Expr> = found.rivals.iter().collect();
    let mut places: Vec<String> = Vec::new();
    let mut told = Vec::new();
    if open.is_empty() {
        return told;
    }
    for mutated in mutated(input) {
        let scopes = [&mutated.payload];
        let ours = eval(&found.expr, &scopes).unwrap_or(Cow::Owned(Json::Null));
        open.retain(|rival| {
            let theirs = eval(rival, &scopes).unwrap_or(Cow::Owned(Json::Null));
            let Some(difference) = first_difference(&ours, &theirs, false) else { return true };
            if !places.contains(&difference.place) {
                told.push(format!(
                    "{}: a sample with {} would decide: this function gives {}, another one of its size {}",
                    difference.place, mutated.change, difference.wanted, difference.got
                ));
                places.push(difference.place);
            }
            false
        });
    }
    told
}

/// Calls `visit` with each scalar in the value, and its place.
fn scalars<'v>(value: &'v Json, place: &str, visit: &mut dyn FnMut(&str, &'v Json)) {
    match value {
        Json::Object(object) => {
            object.iter().for_each(|(name, value)| scalars(value, &member(place, name), visit));
        }
        Json::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| scalars(value, &format!("{place}[{index}]"), visit));
        }
        scalar => visit(place, scalar),
    }
}

/// The constants that a second sample may show to be none: numbers, flags, and texts with the name of an input's field.
/// With `chosen`, the values that are taken from a fixed position of a list as well.
fn constants(
    expr: &Expr,
    place: &str,
    fields: &[(String, &Json)],
    chosen: bool,
    told: &mut Vec<String>,
) {
    match expr {
        Expr::Const(value) => scalars(value, place, &mut |place, scalar| {
            told.extend(constant(scalar, place, fields));
        }),
        Expr::Object(inner) => {
            for (name, expr) in inner {
                constants(expr, &member(place, name), fields, chosen, told);
            }
        }
        Expr::List(items) => {
            for (index, expr) in items.iter().enumerate() {
                constants(expr, &format!("{place}[{index}]"), fields, chosen, told);
            }
        }
        Expr::Map(map) => constants(&map.body, &format!("{place}[]"), fields, chosen, told),
        Expr::Text(pieces) => {
            for piece in pieces {
                match piece {
                    Piece::Words(words) => told.extend(part_of_a_field(words, place, fields)),
                    Piece::Value(expr) => constants(expr, place, fields, chosen, told),
                }
            }
        }
        Expr::Convert(inner, _) => constants(inner, place, fields, chosen, told),
        Expr::Path(path) if chosen => positions(path, place, told),
        Expr::Path(_) => {}
    }
}

/// The elements that are taken from a fixed position of a list.
fn positions(path: &Path, place: &str, told: &mut Vec<String>) {
    let mut list = String::new();
    for step in &path.steps {
        match step {
            Step::Key(name) => list = member(&list, name),
            Step::Index(index) => told.push(format!(
                "{place}: always element {index} of {list}, counted from 0? A sample with its elements in \
                 another order would decide"
            )),
        }
    }
}

/// A word that is also a part of a path, an address or the like: `main` and `refs/heads/main`.
fn part_of_a_field(text: &str, place: &str, fields: &[(String, &Json)]) -> Option<String> {
    const SHORTEST: usize = 4;
    fn parts(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= SHORTEST)
    }
    parts(text).find_map(|word| {
        let (field, value) = fields.iter().find(|(_, value)| {
            let path = value.as_str().filter(|text| !text.contains(' ') && *text != word);
            path.is_some_and(|path| parts(path).any(|part| part == word))
        })?;
        let (word, value) = (show(&Json::from(word)), show(value));
        Some(format!("{place}: always {word}? A sample whose {field} is not {value} would decide"))
    })
}

/// The question whether a scalar is a constant, if it is one.
fn constant(scalar: &Json, place: &str, fields: &[(String, &Json)]) -> Option<String> {
    let key = words(place.rsplit(['.', '"']).next().unwrap_or_default());
    let names = Names { key, around: Vec::new() };
    let alike = |field: &&(String, &Json)| {
        let name = field.0.rsplit('.').next().unwrap_or_default();
        similarity(&names, &[words(name).into()]) > 0.7
    };
    let question = format!("{place}: always {}?", show(scalar));
    match (fields.iter().find(alike), scalar) {
        (Some((field, value)), _) => {
            Some(format!("{question} A sample whose {field} is not {} would decide", show(value)))
        }
        (None, Json::String(text)) => part_of_a_field(text, place, fields),
        (None, Json::Number(_) | Json::Bool(_)) => {
            Some(format!("{question} Any second sample would decide"))
        }
        _ => None,
    }
}
