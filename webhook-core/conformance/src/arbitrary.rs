//! Specifications with values in every field, as the declarations of the fields allow them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use webhook_core::model::{
    Described, OutputSpec,
    described::{self, Field, Shape},
};

/// Numbers that follow from a seed (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(usize::try_from(self.below(of.len() as u64)).ok()?)
    }
}

/// A specification that follows from `seed`: each field has a value within its bounds, or its
/// default, and the fields fit together. References to other things stay empty.
#[must_use]
pub fn arbitrary<T: Described + Default>(seed: u64) -> T {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut spec = T::default();
    // Some fields exclude each other.
    for _ in 0..10_000 {
        spec = T::default();
        fill(&mut spec, &mut dice);
        if described::check(&spec, "").is_ok() {
            return spec;
        }
    }
    panic!("{:?}", described::check(&spec, ""));
}

fn fill(object: &mut dyn Described, dice: &mut Dice) {
    if let Some((kind, _)) = dice.one(object.kinds()) {
        object.set_kind(kind);
    }
    let fields: Vec<_> =
        object.fields().iter().map(|(field, value)| (*field, value.shape())).collect();
    for (at, (field, shape)) in fields.into_iter().enumerate() {
        let mut values = object.values();
        let value = &mut *values[at];
        match shape {
            _ if !field.required && dice.below(3) == 0 => {}
            // Which names there are depends on another field.
            Shape::Pairs if field.hidden && field.max == 0 => {}
            Shape::Object => value.object_mut().into_iter().for_each(|it| fill(it, dice)),
            Shape::Rows => {
                if let Some(row) = value.rows_mut().and_then(|rows| rows.row_mut(0)) {
                    fill(row, dice);
                }
            }
            _ => {
                if let Some(text) = typed(field, shape, dice) {
                    let set = value.set_text(&text);
                    assert!(set.is_ok(), "{}: {text:?}: {set:?}", field.name);
                }
            }
        }
    }
}

/// A text that a person could type; none for what no description can make up.
fn typed(field: &Field, shape: Shape, dice: &mut Dice) -> Option<String> {
    let odd = ["a", "Größe", "日本語 🦀", "'q\"uote\\ %_*?;--", "e\u{301} \u{10ffff}"];
    let (least, most) = field.range.unwrap_or((0, 1 << 31));
    let number =
        least.saturating_add(i64::try_from(dice.below(1 << 40)).ok()? % (most - least + 1).max(1));
    if !field.example.is_empty() {
        return Some(field.example.to_owned());
    }
    match shape {
        Shape::Text | Shape::Secret => dice.one(&odd).map(|text| (*text).to_owned()),
        Shape::Flag => Some((dice.below(2) == 1).to_string()),
        Shape::Whole => Some(number.to_string()),
        Shape::Decimal => Some(format!("0.{}", 1 + dice.below(999))),
        Shape::Duration => Some(format!("{number}ns")),
        Shape::Moment => {
            Some(format!("2{:03}-06-15T12:30:{:02}Z", dice.below(900) + 30, dice.below(60)))
        }
        Shape::Choice(names) => dice.one(names).map(|(name, _)| (*name).to_owned()),
        Shape::Headers => Some("X-Odd: a\nx-odd: b\nAccept: */*".to_owned()),
        Shape::Pairs => Some("team: billing\nGröße: ß".to_owned()),
        Shape::Durations | Shape::Texts | Shape::Reference | Shape::Json => None,
        Shape::Object | Shape::Rows => None,
    }
}

/// The places of all fields that have another value than the default in one of `specs`.
#[must_use]
pub fn set_places<T: Described + Default>(specs: &[T]) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    for spec in specs {
        described::blank(&T::default(), "", &mut |place, _, default| {
            if described::get(spec, place).is_some_and(|text| text != default.text()) {
                places.insert(place.to_owned());
            }
        });
    }
    places
}

/// An output with one field more, for tests which show that a field is declared in one place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExtendedOutput {
    /// The output.
    #[serde(flatten)]
    pub spec: OutputSpec,
    /// The field that is added.
    #[serde(flatten)]
    pub added: Added,
}

/// The field that [`ExtendedOutput`] adds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Described)]
#[serde(default)]
pub struct Added {
    /// The number of people who watch this output.
    #[field(label = "Watchers", group = "People", range = 1..=9, or_zero, sealed)]
    pub watchers: u32,
}

impl Described for ExtendedOutput {
    fn fields(&self) -> Vec<(&'static Field, &dyn described::Value)> {
        self.spec.fields().into_iter().chain(self.added.fields()).collect()
    }

    fn values(&mut self) -> Vec<&mut dyn described::Value> {
        self.spec.values().into_iter().chain(self.added.values()).collect()
    }

    fn unset(&self) -> Box<dyn Described> {
        Box::new(Self::default())
    }
}
