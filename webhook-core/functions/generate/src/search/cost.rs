//! What an explanation costs, in bits: a shorter description of the output is the one that more likely holds for
//! other payloads. A constant pays for every bit it spells out, a field for telling it apart from the other fields.

use super::super::convert::{Convert, TimeForm};
use super::super::json::{Json, to_text};
use super::super::moments::LAYOUTS;

/// An output field, for its name.
pub(super) const FIELD: f64 = 2.0;
/// An element of a fixed list.
pub(super) const ELEMENT: f64 = 2.0;
/// A loop, without the place of its list and its body.
pub(super) const LOOP: f64 = 2.0;
/// Choosing a field inside a composed text.
pub(super) const PIECE: f64 = 1.5;

/// A constant. Numbers and flags that turn up everywhere are cheap, so that a field must be named alike to win.
pub(super) fn constant(value: &Json) -> f64 {
    match value {
        Json::Null => 5.0,
        Json::Bool(_) => 7.0,
        Json::String(text) if text.is_empty() => 5.0,
        Json::String(text) => 3.0 + words(text).iter().sum::<f64>(),
        Json::Number(number) => match number.as_i64().map(i64::unsigned_abs) {
            Some(0..=1) => 6.5,
            Some(2..=9) => 7.0,
            Some(10..=99) => 9.5,
            Some(100..=999) => 13.0,
            Some(more) => 4.0 * f64::from(more.ilog10() + 1),
            None => 5.0 + 5.0 * to_text(value).map_or(0.0, |text| text.len() as f64),
        },
        Json::Array(items) => 4.0 + items.iter().map(|item| ELEMENT + constant(item)).sum::<f64>(),
        Json::Object(object) => {
            4.0 + object.values().map(|value| FIELD + constant(value)).sum::<f64>()
        }
    }
}

/// Words that texts are made of whatever the payload says.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "at", "been", "by", "created", "for", "from", "has", "have", "here",
    "hello", "hi", "in", "is", "it", "new", "no", "not", "of", "on", "or", "order", "please",
    "received", "see", "thanks", "that", "the", "this", "to", "total", "update", "was", "were",
    "will", "with", "you", "your", "https", "http", "www", "com",
];

/// The cost of each byte of a text as fixed words. A number among words is most often a field, a common word is not.
pub(super) fn words(text: &str) -> Vec<f64> {
    let bytes = text.as_bytes();
    let mut costs = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let run = |is: fn(&u8) -> bool| bytes.iter().skip(at).take_while(|b| is(b)).count();
        let (length, cost) = if byte.is_ascii_digit() {
            let length = run(u8::is_ascii_digit);
            (length, 6.0 + 5.0 * length as f64)
        } else if byte.is_ascii_alphabetic() || byte >= 0x80 {
            let length = run(|b| b.is_ascii_alphabetic() || *b >= 0x80);
            let word = text.get(at..at + length).unwrap_or_default();
            let common = COMMON.contains(&word.to_ascii_lowercase().as_str());
            let (word_cost, letter_cost) = if common { (0.0, 2.0) } else { (6.0, 3.2) };
            // Capitals throughout are a code more often than a word.
            let capitals = length > 1 && word.bytes().all(|b| b.is_ascii_uppercase());
            (length, word_cost + letter_cost * length as f64 + if capitals { 4.0 } else { 0.0 })
        } else {
            (1, if byte.is_ascii_whitespace() { 1.0 } else { 2.0 })
        };
        costs.extend(std::iter::repeat_n(cost / length as f64, length));
        at += length;
    }
    costs
}

pub(super) fn convert(convert: &Convert) -> f64 {
    match convert {
        Convert::Text | Convert::Number | Convert::Count => 2.0,
        Convert::Upper | Convert::Fixed(_) | Convert::Sum(_) => 3.0,
        Convert::Join { .. } => 3.0,
        Convert::Divide(_) | Convert::Times(_) | Convert::Grouped(_) => 4.0,
        Convert::CountBy(_) | Convert::SumBy { .. } => 6.0,
        Convert::Time { from, to } => 4.0 + time_form(*from) + time_form(*to),
    }
}

fn time_form(form: TimeForm) -> f64 {
    match form {
        TimeForm::UnixSeconds | TimeForm::UnixMilliseconds => 0.0,
        TimeForm::Layout(layout) => {
            let rank = LAYOUTS.iter().position(|known| *known == layout);
            rank.unwrap_or(LAYOUTS.len()) as f64 * 0.03
        }
    }
}
