//! What a single value can become: the conversions worth trying on it, with what each gives.

use std::sync::Arc;

use super::super::convert::{Convert, TimeForm};
use super::super::go_time::{read_moment, write_moment};
use super::super::layouts::LAYOUTS;
use super::super::numbers::number;
use super::super::value::Value;
use super::cost;
use super::moments::moment_forms;

/// A chain of conversions, its result and its cost.
pub(super) struct Derived {
    pub(super) chain: Vec<Convert>,
    pub(super) value: Value,
    pub(super) cost: f64,
}

struct Deriving<'v> {
    from: &'v Value,
    out: Vec<Derived>,
}

impl Deriving<'_> {
    fn result(&self, chain: &[Convert]) -> Option<Value> {
        chain
            .iter()
            .try_fold(self.from.clone(), |value, convert| convert.apply(Some(&value), false))
    }

    fn try_chain(&mut self, chain: &[Convert]) -> Option<Value> {
        let value = self.result(chain)?;
        if value.same(self.from) || value.as_text().is_some_and(str::is_empty) {
            return None;
        }
        let cost = chain.iter().map(cost::convert).sum();
        self.out.push(Derived { chain: chain.to_vec(), value: value.clone(), cost });
        Some(value)
    }
}

/// Everything tried on one scalar; the value itself is not among it.
pub(super) fn derive(from: &Value) -> Vec<Derived> {
    let mut deriving = Deriving { from, out: Vec::new() };
    match from {
        Value::Text(text) => of_text(text, &mut deriving),
        Value::Int(_) | Value::Float(_) => {
            deriving.try_chain(&[Convert::Text]);
            deriving.try_chain(&[Convert::Boolean]);
            of_number(&[], &mut deriving);
        }
        Value::Bool(_) => of_flag(&mut deriving),
        Value::Null | Value::List(_) | Value::Object(_) => {}
    }
    of_moment(&mut deriving);
    deriving.out
}

fn of_flag(deriving: &mut Deriving<'_>) {
    deriving.try_chain(&[Convert::Text]);
    deriving.try_chain(&[Convert::Not]);
    let pair = |yes: Value, no: Value| {
        Convert::Lookup(vec![(Value::Bool(true), yes), (Value::Bool(false), no)])
    };
    // A usual pair needs no spelling out.
    const USUAL_PAIR: f64 = 2.5;
    let mut pairs = vec![(Value::Int(1), Value::Int(0))];
    for (yes, no) in [
        ("yes", "no"),
        ("Yes", "No"),
        ("on", "off"),
        ("active", "inactive"),
        ("enabled", "disabled"),
        ("Y", "N"),
        ("1", "0"),
    ] {
        pairs.push((Value::text(yes), Value::text(no)));
    }
    for (yes, no) in pairs {
        if deriving.try_chain(&[pair(yes, no)]).is_some()
            && let Some(derived) = deriving.out.last_mut()
        {
            derived.cost = USUAL_PAIR;
        }
    }
}

/// `before` turns the value into a number first.
fn of_number(before: &[Convert], deriving: &mut Deriving<'_>) {
    let is_moment = !moment_forms(deriving.from).is_empty();
    let made_before = deriving.out.len();
    let chain = |more: &[Convert]| before.iter().chain(more).cloned().collect::<Vec<_>>();
    for convert in [
        Convert::Times(100),
        Convert::Times(1000),
        Convert::Times(60),
        Convert::Divide(100),
        Convert::Divide(1000),
        Convert::Divide(60),
        Convert::Divide(3600),
        Convert::Divide(1024),
        Convert::Divide(1_048_576),
        Convert::Round(0),
        Convert::Round(1),
        Convert::Round(2),
        Convert::Fixed(2),
        Convert::Fixed(1),
        Convert::Fixed(0),
        Convert::Grouped(0),
        Convert::Grouped(2),
    ] {
        // Between seconds and milliseconds a moment is converted as one.
        if !(is_moment && matches!(convert, Convert::Times(1000) | Convert::Divide(1000))) {
            deriving.try_chain(&chain(&[convert]));
        }
    }
    for scale in [Convert::Divide(100), Convert::Divide(1000), Convert::Times(100)] {
        let fixed = deriving.try_chain(&chain(&[scale.clone(), Convert::Fixed(2)]));
        let plain = chain(&[scale.clone(), Convert::Text]);
        // Two decimals are money, which keeps both of them.
        if deriving
            .result(&plain)
            .is_some_and(|plain| !fixed.is_some_and(|fixed| fixed.same(&plain)))
        {
            deriving.try_chain(&plain);
        }
        deriving.try_chain(&chain(&[scale, Convert::Grouped(2)]));
    }
    // A hundred is a hundred times one, and most often just a hundred.
    let chance = match significant_digits(deriving.from) {
        0..=1 => 6.0,
        2 => 1.0,
        _ => 0.0,
    };
    for derived in deriving.out.iter_mut().skip(made_before) {
        if derived
            .chain
            .iter()
            .any(|convert| matches!(convert, Convert::Times(_) | Convert::Divide(_)))
        {
            derived.cost += chance;
        }
    }
}

fn significant_digits(value: &Value) -> usize {
    let text = value.to_text().unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

fn of_text(text: &str, deriving: &mut Deriving<'_>) {
    const MAX_BYTES: usize = 2048;
    for convert in
        [Convert::Trim, Convert::Upper, Convert::Lower, Convert::Title, Convert::Capitalize]
    {
        deriving.try_chain(&[convert]);
    }
    deriving.try_chain(&[Convert::Boolean]);
    if number(&Value::text(text)).is_some() {
        deriving.try_chain(&[Convert::Number]);
        of_number(&[Convert::Number], deriving);
    } else if text.len() <= 64 && text.bytes().any(|b| b.is_ascii_digit()) {
        deriving.try_chain(&[Convert::NumberIn]);
        for more in [Convert::Times(100), Convert::Text, Convert::Fixed(2)] {
            deriving.try_chain(&[Convert::NumberIn, more]);
        }
    }
    if text.len() <= MAX_BYTES {
        of_parts(text, deriving);
        of_spelling(text, deriving);
    } else {
        before(deriving, "\n", false);
    }
}

fn before(deriving: &mut Deriving<'_>, separator: &str, last: bool) -> Option<Value> {
    deriving.try_chain(&[Convert::Before { separator: separator.into(), last }])
}

fn after(deriving: &mut Deriving<'_>, separator: &str, last: bool) -> Option<Value> {
    deriving.try_chain(&[Convert::After { separator: separator.into(), last }])
}

fn of_parts(text: &str, deriving: &mut Deriving<'_>) {
    // A branch may have slashes of its own, so that the last part is not all of its name.
    for prefix in ["refs/heads/", "refs/tags/", "https://", "http://", "mailto:", "Bearer "] {
        if text.starts_with(prefix)
            && after(deriving, prefix, false).is_some()
            && let Some(derived) = deriving.out.last_mut()
        {
            derived.cost = 3.5;
        }
    }
    for separator in [
        "\n", "/", "@", ": ", " - ", ", ", " ", "-", "_", ".", ":", "|", "#", ";", ",", "?", "=",
        "T", "+",
    ] {
        let count = text.matches(separator).count();
        if count == 0 {
            continue;
        }
        before(deriving, separator, false);
        after(deriving, separator, count > 1);
        if count > 1 {
            before(deriving, separator, true);
            after(deriving, separator, false);
            for index in 1..count.min(6) {
                deriving.try_chain(&[Convert::Part { separator: separator.into(), index }]);
            }
        }
        if matches!(separator, "\n" | "@" | "/" | ": ") {
            let separator: Arc<str> = separator.into();
            deriving.try_chain(&[
                Convert::Before { separator: separator.clone(), last: false },
                Convert::Trim,
            ]);
            for case in [Convert::Upper, Convert::Title, Convert::Capitalize] {
                deriving.try_chain(&[
                    Convert::After { separator: separator.clone(), last: true },
                    case,
                ]);
            }
        }
        if matches!(separator, "-" | "#" | ":" | "_" | "/") {
            deriving.try_chain(&[
                Convert::After { separator: separator.into(), last: true },
                Convert::Number,
            ]);
        }
    }
    let characters = text.chars().count();
    if !text.contains(' ') && characters >= 12 {
        for count in [7, 8, 6, 10, 12, 4] {
            deriving.try_chain(&[Convert::First(count)]);
        }
    }
    if !text.contains(' ') && characters >= 8 {
        for count in [4, 6, 8] {
            deriving.try_chain(&[Convert::Last(count)]);
        }
    }
    if characters >= 2 {
        deriving.try_chain(&[Convert::First(1)]);
        deriving.try_chain(&[Convert::First(1), Convert::Upper]);
    }
}

/// `order_created` as `order created` and the like, and texts as slugs.
fn of_spelling(text: &str, deriving: &mut Deriving<'_>) {
    for (from, to) in [
        ("_", " "),
        ("-", " "),
        (".", " "),
        ("_", "-"),
        ("-", "_"),
        (".", "_"),
        (" ", "-"),
        (" ", "_"),
        ("-", ""),
        (" ", ""),
    ] {
        if !text.contains(from) {
            continue;
        }
        let replace = Convert::Replace { from: from.into(), to: to.into() };
        deriving.try_chain(std::slice::from_ref(&replace));
        for case in [Convert::Lower, Convert::Upper, Convert::Capitalize, Convert::Title] {
            deriving.try_chain(&[replace.clone(), case]);
        }
    }
}

fn of_moment(deriving: &mut Deriving<'_>) {
    for (from, clock) in moment_forms(deriving.from) {
        let Some(moment) = read_moment(deriving.from, from) else { continue };
        let layouts = LAYOUTS
            .iter()
            .filter(|to| clock || !to.clock || to.text.starts_with("2006-01-02T15:04:05Z"));
        let forms = [TimeForm::UnixSeconds, TimeForm::UnixMilliseconds].into_iter();
        for to in forms.chain(layouts.map(|layout| TimeForm::Layout(layout.text))) {
            let Some(value) = write_moment(moment, to) else { continue };
            if to == from || value.same(deriving.from) {
                continue;
            }
            let convert = Convert::Time { from, to };
            let cost = cost::convert(&convert);
            if !matches!(to, TimeForm::Layout(_))
                && let Some(text) = value.to_text()
            {
                let chain = vec![convert.clone(), Convert::Text];
                deriving.out.push(Derived { chain, value: Value::text(text), cost: cost + 2.0 });
            }
            deriving.out.push(Derived { chain: vec![convert], value, cost });
        }
    }
}
