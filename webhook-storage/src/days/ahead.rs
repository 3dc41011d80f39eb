//! Making the tables of days to come.

use sea_orm::DbBackend;
use webhook_core::{Error, Timestamp};

use super::{Part, add_day, after, begin, day_of, end, parts};
use crate::{
    database::Database,
    entity::{millis, moment},
    fault::{About, DatabaseError},
    tx::{Commit, Read},
};

/// How many days there are tables for after today: as long as a server may be unable to make
/// more without a row that has none of its own.
const AHEAD: i64 = 3;

/// Makes the tables of today and of the days that follow, where there are none.
pub(crate) async fn make_ahead(database: &Database, now: Timestamp) -> Result<(), Error> {
    if database.read.backend() != DbBackend::Postgres {
        return Ok(());
    }
    make(database, now).await.about("schema")
}

async fn make(database: &Database, now: Timestamp) -> Result<(), DatabaseError> {
    let parts = parts(&database.read).await?;
    if parts.is_empty() {
        return Ok(());
    }
    for (day, name) in missing(&parts, now) {
        let transaction = begin(database).await?;
        let added = add_day(transaction.tx(), &name, day).await;
        let added = end(transaction, added).await;
        // Another node made it, or a statement took long, or rows of it are in the rest, where
        // they stay. The next time there is another try.
        if let Err(error) = added {
            tracing::debug!(%error, day = %name, "a day gets its table later");
        }
    }
    Ok(())
}

/// The days that have no table yet, and its name.
fn missing(parts: &[Part], now: Timestamp) -> Vec<(Timestamp, String)> {
    let today = day_of(now);
    // What was there when the log was divided may reach into a day to come.
    let before = parts.iter().find(|part| part.name == "before").and_then(|part| part.until);
    let days = (0..=AHEAD).map(|days| after(today, days));
    days.filter(|day| before.is_none_or(|before| before <= *day))
        .map(|day| (day, name_of(day)))
        .filter(|(_, name)| parts.iter().all(|part| part.name != *name))
        .collect()
}

/// `d20261126`
const NAME: &str = "d%Y%m%d";

/// The first moment of the day of this name; none where it is no day's.
pub(super) fn day_named(name: &str) -> Option<Timestamp> {
    let day = jiff::civil::Date::strptime(NAME, name).ok()?;
    let start = day.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(moment(start.timestamp().as_millisecond()))
}

pub(super) fn name_of(day: Timestamp) -> String {
    let day = jiff::Timestamp::from_millisecond(millis(day)).unwrap_or_default();
    day.strftime(NAME).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_and_three_more_are_made_once() {
        let now = Timestamp::from_secs(1_795_646_000);
        let names = |parts: &[Part]| {
            missing(parts, now).into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        let all = ["d20261125", "d20261126", "d20261127", "d20261128"];
        assert_eq!(names(&[]), all);
        assert_eq!(day_named(all[0]), Some(day_of(now)));
        assert_eq!(day_named("before"), None);
        let part = |name: &str, until| Part { name: name.to_owned(), from: None, until };
        let before = part("before", Some(after(day_of(now), 2)));
        assert_eq!(names(&[before, part("d20261127", None), part("rest", None)]), all[3..]);
    }
}
