//! One field of a schedule.

use crate::cron::{InvalidCron, invalid};

/// Which field, and what may be in it.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    min: u8,
    /// The last value of `*`.
    max: u8,
    /// The last value that can be written: 7 for Sunday.
    written_max: u8,
    /// Names of the values from `min` on.
    names: &'static [&'static str],
    /// Whether `?` may stand for `*`.
    of_days: bool,
}

const fn numbers(name: &'static str, min: u8, max: u8) -> Field {
    Field { name, min, max, written_max: max, names: &[], of_days: false }
}

pub(crate) const FIELDS: [Field; 6] = [
    numbers("second", 0, 59),
    numbers("minute", 0, 59),
    numbers("hour", 0, 23),
    Field { of_days: true, ..numbers("day of month", 1, 31) },
    Field {
        names: &[
            "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
        ],
        ..numbers("month", 1, 12)
    },
    Field {
        names: &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
        of_days: true,
        written_max: 7,
        ..numbers("day of week", 0, 6)
    },
];

/// The values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    bits: u64,
    /// Whether it begins with `*`, which is what Vixie cron goes by.
    pub(crate) star: bool,
}

impl Values {
    pub(crate) const fn has(self, value: i8) -> bool {
        self.bits & (1 << value) != 0
    }

    /// The first value that is not less than `value`.
    pub(crate) const fn from(self, value: i8) -> Option<i8> {
        match self.bits >> value {
            0 => None,
            left => Some(value + left.trailing_zeros() as i8),
        }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u64> {
        (0..60).filter(move |value| self.bits & (1 << value) != 0)
    }
}

impl Field {
    pub(crate) fn parse(&self, text: &str) -> Result<Values, InvalidCron> {
        self.parse_with(text, |_| Ok(false))
    }

    /// As [`parse`](Self::parse), without the elements that `other` reads.
    pub(crate) fn parse_with(
        &self,
        text: &str,
        mut other: impl FnMut(&str) -> Result<bool, InvalidCron>,
    ) -> Result<Values, InvalidCron> {
        let mut bits = 0;
        for element in text.split(',') {
            if !other(element)? {
                bits |= self.element(element)?;
            }
        }
        // Sunday has two numbers.
        if self.written_max > self.max && bits & (1 << self.written_max) != 0 {
            bits = (bits | 1 << self.min) & !(1 << self.written_max);
        }
        Ok(Values { bits, star: text.starts_with(['*', '?']) })
    }

    fn element(&self, element: &str) -> Result<u64, InvalidCron> {
        let (range, step) = match element.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step)?)),
            None => (element, None),
        };
        let (first, last) = match range {
            "*" => (self.min, self.max),
            "?" if self.of_days => (self.min, self.max),
            "" => return Err(self.wrong(format!("there is an empty element in {element:?}"))),
            _ => match range.split_once('-') {
                Some((first, last)) => self.range(first, last)?,
                None => {
                    let first = self.value(range)?;
                    (first, if step.is_some() { self.max.max(first) } else { first })
                }
            },
        };
        let values = (first..=last).step_by(step.unwrap_or(1));
        Ok(values.fold(0, |bits, value| bits | 1 << value))
    }

    fn range(&self, first: &str, last: &str) -> Result<(u8, u8), InvalidCron> {
        let (first, mut end) = (self.value(first)?, self.value(last)?);
        // FRI-SUN ends with the Sunday that is 7.
        if end == self.min && first > end && last.eq_ignore_ascii_case("SUN") {
            end = self.written_max;
        }
        match first <= end {
            true => Ok((first, end)),
            false => Err(self.wrong(format!("the range {first}-{end} ends before it begins"))),
        }
    }

    pub(crate) fn value(&self, text: &str) -> Result<u8, InvalidCron> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        if let Some(index) = named.and_then(|index| u8::try_from(index).ok()) {
            return Ok(self.min + index);
        }
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.wrong(match self.names {
                [] => format!("{text:?} is not a number"),
                [first, .., last] => {
                    format!("{text:?} is neither a number nor a name from {first} to {last}")
                }
                [_] => format!("{text:?} is not a number"),
            }));
        }
        let Self { min, written_max: max, .. } = *self;
        match text.parse() {
            Ok(value) if (min..=max).contains(&value) => Ok(value),
            _ => Err(self.wrong(format!("{text} is not from {min} to {max}"))),
        }
    }

    fn step(&self, text: &str) -> Result<usize, InvalidCron> {
        let max = usize::from(self.max);
        match text.parse() {
            Ok(step) if (1..=max).contains(&step) && !text.starts_with('+') => Ok(step),
            _ => Err(self.wrong(format!("the step {text:?} is not a number from 1 to {max}"))),
        }
    }

    pub(crate) fn wrong(&self, reason: String) -> InvalidCron {
        invalid(format!("{}: {reason}", self.name))
    }
}
