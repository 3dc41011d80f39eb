//! Days that depend on the month, as Quartz writes them: `L`, `L-3`, `LW`, `15W`, `5L`, `5#2`.

use jiff::civil::Date;

use crate::cron::{InvalidCron, field::Field};

/// The sets of such days that a schedule names. Bit n of a set stands for the number n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OfMonth {
    /// `L-n`: the day that is n days before the last; `L` is 0.
    before_last: u64,
    /// `nW`: the day from Monday to Friday of the same month that is nearest to day n.
    nearest: u64,
    /// `LW`: the last day from Monday to Friday.
    last_workday: bool,
    /// `d#n` at place n: the nth weekday d of the month. `dL` at place 0: the last one.
    nth: [u64; 6],
}

impl OfMonth {
    /// Reads an element of the field of days. False when it is no such day.
    pub(crate) fn read_day(&mut self, field: &Field, element: &str) -> Result<bool, InvalidCron> {
        let element = element.to_ascii_uppercase();
        if element == "LW" {
            self.last_workday = true;
        } else if element == "L" {
            self.before_last |= 1;
        } else if let Some(before) = element.strip_prefix("L-") {
            match before.parse() {
                Ok(days @ 1..=30) => self.before_last |= 1_u64 << days,
                _ => return Err(field.wrong(format!("{element:?} is not L-1 to L-30"))),
            }
        } else if let Some(day) = element.strip_suffix('W') {
            self.nearest |= 1 << field.value(day)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads an element of the field of weekdays. False when it is no such day.
    pub(crate) fn read_weekday(
        &mut self,
        field: &Field,
        element: &str,
    ) -> Result<bool, InvalidCron> {
        let (day, nth) = match element.split_once('#') {
            Some((day, nth)) => match nth.parse() {
                Ok(nth) if (1..=5).contains(&nth) => (day, nth),
                _ => {
                    return Err(
                        field.wrong(format!("{element:?} ends with no number from #1 to #5"))
                    );
                }
            },
            None => match element.strip_suffix(['L', 'l']) {
                Some("") => {
                    return Err(
                        field.wrong("L needs a weekday, such as 5L for the last Friday".into())
                    );
                }
                Some(day) => (day, 0),
                None => return Ok(false),
            },
        };
        self.nth[nth] |= 1 << (field.value(day)? % 7);
        Ok(true)
    }

    pub(crate) fn has_day(&self, date: Date) -> bool {
        let (day, last) = (date.day(), date.days_in_month());
        let near = (day - 2).max(1)..=(day + 2).min(last);
        has(self.before_last, last - day)
            || (self.last_workday && workday(date.last_of_month()) == day)
            || near.into_iter().any(|n| has(self.nearest, n) && workday(on(date, n)) == day)
    }

    pub(crate) fn has_weekday(&self, date: Date) -> bool {
        let (day, weekday) = (date.day(), date.weekday().to_sunday_zero_offset());
        let nth = usize::from(day.unsigned_abs().div_ceil(7));
        has(self.nth[nth], weekday) || (has(self.nth[0], weekday) && day + 7 > date.days_in_month())
    }
}

const fn has(set: u64, number: i8) -> bool {
    set & (1 << number) != 0
}

fn on(date: Date, day: i8) -> Date {
    date.with().day(day).build().unwrap_or(date)
}

/// The day from Monday to Friday that is nearest to a date, in the same month.
fn workday(date: Date) -> i8 {
    let day = date.day();
    match date.weekday() {
        jiff::civil::Weekday::Saturday if day == 1 => 3,
        jiff::civil::Weekday::Saturday => day - 1,
        jiff::civil::Weekday::Sunday if day == date.days_in_month() => day - 2,
        jiff::civil::Weekday::Sunday => day + 1,
        _ => day,
    }
}
