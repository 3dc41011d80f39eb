//! What a single value can become: the conversions worth trying on it, with what each gives.

use super::super::convert::{Convert, TimeForm};
use super::super::json::{Json, is_scalar, number, same, to_text};
use super::super::moments::{self, LAYOUTS, has_clock};
use super::super::program::{field, scalar_fields};
use super::cost;

/// A chain of conversions, its result and its cost.
pub(super) struct Derived {
    pub(super) chain: Vec<Convert>,
    pub(super) value: Json,
    pub(super) cost: f64,
}

struct Deriving<'v> {
    from: &'v Json,
    out: Vec<Derived>,
}

impl Deriving<'_> {
    fn try_chain(&mut self, chain: &[Convert], more: f64) {
        let result =
            chain.iter().try_fold(self.from.clone(), |value, convert| convert.apply(Some(&value)));
        let Some(value) = result.filter(|value| !same(value, self.from) && *value != "") else {
            return;
        };
        let cost = more + chain.iter().map(cost::convert).sum::<f64>();
        self.out.push(Derived { chain: chain.to_vec(), value, cost });
    }
}

/// Everything tried on one value; the value itself is not among it.
pub(super) fn derive(from: &Json) -> Vec<Derived> {
    let mut deriving = Deriving { from, out: Vec::new() };
    match from {
        Json::String(_) => of_text(&mut deriving),
        Json::Number(_) => {
            deriving.try_chain(&[Convert::Text], 0.0);
            of_number(&[], &mut deriving);
        }
        Json::Bool(_) => deriving.try_chain(&[Convert::Text], 0.0),
        Json::Array(items) => of_list(items, &mut deriving),
        Json::Null | Json::Object(_) => {}
    }
    of_moment(&mut deriving);
    deriving.out
}

/// `before` turns the value into a number first.
fn of_number(before: &[Convert], deriving: &mut Deriving<'_>) {
    // A hundred is a hundred times one, and most often just a hundred.
    let digits = to_text(deriving.from).unwrap_or_default().replace(['.', '-'], "");
    let chance = match digits.trim_matches('0').len() {
        0..=1 => 6.0,
        2 => 1.0,
        _ => 0.0,
    };
    let plain = [Convert::Fixed(2), Convert::Fixed(0), Convert::Grouped(0), Convert::Grouped(2)];
    let mut chains: Vec<(Vec<Convert>, f64)> =
        plain.into_iter().map(|shown| (vec![shown], 0.0)).collect();
    let mut scales = vec![Convert::Times(100), Convert::Divide(100), Convert::Divide(60)];
    if moments::forms(deriving.from).is_empty() {
        // Between seconds and milliseconds a moment is converted as one.
        scales.extend([Convert::Times(1000), Convert::Divide(1000)]);
    }
    chains.extend(scales.into_iter().map(|scale| (vec![scale], chance)));
    for shown in [Convert::Fixed(2), Convert::Grouped(2)] {
        chains.push((vec![Convert::Divide(100), shown], chance));
    }
    for (chain, chance) in chains {
        deriving.try_chain(&[before, &chain].concat(), chance);
    }
}

fn of_text(deriving: &mut Deriving<'_>) {
    deriving.try_chain(&[Convert::Upper], 0.0);
    if number(deriving.from).is_some() {
        deriving.try_chain(&[Convert::Number], 0.0);
        of_number(&[Convert::Number], deriving);
    }
}

/// What a whole list can become: its length, the sum of a field, its texts joined.
fn of_list(items: &[Json], deriving: &mut Deriving<'_>) {
    const SEPARATORS: &[&str] =
        &[", ", ",", " ", "; ", "\n", " | ", "/", "-", " and ", "\n- ", "\n• "];
    const MAX_ITEMS: usize = 200;
    const MAX_FIELDS: usize = 24;
    deriving.try_chain(&[Convert::Count], 0.0);
    if !(1..=MAX_ITEMS).contains(&items.len()) {
        return;
    }
    let fields = match items.first() {
        Some(first) if is_scalar(first) => vec![Vec::new()],
        Some(first) => scalar_fields(first, MAX_FIELDS),
        None => Vec::new(),
    };
    for of in fields {
        let values = || items.iter().map(|item| field(item, &of));
        let place = if of.is_empty() { 0.0 } else { 1.5 };
        if values().all(|value| value.and_then(number).is_some()) {
            let sum = Convert::Sum(of.clone());
            deriving.try_chain(std::slice::from_ref(&sum), place);
            for more in [Convert::Divide(100), Convert::Fixed(2)] {
                deriving.try_chain(&[sum.clone(), more], place);
            }
            deriving.try_chain(&[sum, Convert::Divide(100), Convert::Fixed(2)], place);
        }
        if items.len() > 1 && values().all(|value| value.is_some_and(is_scalar)) {
            for (rank, separator) in SEPARATORS.iter().enumerate() {
                let separator = (*separator).to_owned();
                let join = Convert::Join { field: of.clone(), separator };
                deriving.try_chain(&[join], place + rank as f64 * 0.1);
            }
        }
    }
}

fn of_moment(deriving: &mut Deriving<'_>) {
    for from in moments::forms(deriving.from) {
        let clock = !matches!(from, TimeForm::Layout(layout) if !has_clock(layout));
        let layouts = LAYOUTS
            .iter()
            .filter(|to| clock || !has_clock(to) || to.starts_with("2006-01-02T15:04:05Z"));
        let numbers = [TimeForm::UnixSeconds, TimeForm::UnixMilliseconds].into_iter();
        for to in numbers.chain(layouts.map(|layout| TimeForm::Layout(layout))) {
            if to != from {
                deriving.try_chain(&[Convert::Time { from, to }], 0.0);
            }
        }
    }
}
