//! The proleptic Gregorian calendar over all of 64-bit time, which is wider than the time zone library's range.

pub(super) const DAY_SECONDS: i64 = 86_400;

/// A date and a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) month: u32,
    /// 1 to 31.
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    /// From 0, which is Sunday.
    pub(super) weekday: u32,
    /// From 1.
    pub(super) year_day: u32,
}

impl Civil {
    /// The date that is `seconds` behind the start of 1970 on a clock without a zone.
    pub(super) fn from_seconds(seconds: i64) -> Self {
        let (days, rest) =
            (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS) as u32);
        // Years that begin in March, in eras of 400 years, put the odd day last.
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month: month as u32,
            day: (day_of_year - (153 * march_month + 2) / 5 + 1) as u32,
            hour: rest / 3_600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 4).rem_euclid(7) as u32,
            year_day: (days - days_before(year, 1, 1) + 1) as u32,
        }
    }

    /// Hours as on a twelve-hour clock.
    pub(super) const fn hour_of_half(&self) -> u32 {
        match self.hour % 12 {
            0 => 12,
            hour => hour,
        }
    }

    /// The year and the number of the week by ISO 8601.
    pub(super) fn iso_week(&self) -> (i64, u32) {
        let monday_based = (self.weekday + 6) % 7;
        // The week belongs to the year of its Thursday.
        let thursday = i64::from(self.year_day) - 1 + 3 - i64::from(monday_based);
        if thursday < 0 {
            let year = self.year - 1;
            return (year, ((thursday + days_in_year(year)) / 7 + 1) as u32);
        }
        if thursday >= days_in_year(self.year) {
            return (self.year + 1, 1);
        }
        (self.year, (thursday / 7 + 1) as u32)
    }
}

/// Days from the start of 1970 to this date; the month is 1 to 12, the day any number.
pub(super) const fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let march_month = (month + 9) % 12;
    let day_of_year = (153 * march_month + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
        + day
        - 1
}

const fn days_in_year(year: i64) -> i64 {
    days_before(year + 1, 1, 1) - days_before(year, 1, 1)
}

/// Days of a month, which is 1 to 12.
pub(super) const fn days_in_month(year: i64, month: i64) -> i64 {
    let next =
        if month == 12 { days_before(year + 1, 1, 1) } else { days_before(year, month + 1, 1) };
    next - days_before(year, month, 1)
}
