//! Totals and statistics from tallies.

use sea_orm::{DbErr, prelude::Uuid};
use webhook_core::{
    Month, Timestamp,
    model::DeliveryStatus,
    store::{
        CountQuery, DayCount, MinuteCount,
        tally::{self, DAY_MILLIS, LogSums, MINUTE_MILLIS, counted_as, whole},
    },
};

use super::time::{FIRST_DAY, LAST_DAY, Stretch, take_apart};
use crate::{
    entity::{
        delivery::{number, status},
        millis, moment,
    },
    fault::DatabaseError,
    tx::{Param, Query, Read, over_set, with},
    writer::tally::Span,
};

/// The buckets whose logs are counted.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    pub(crate) account_id: Uuid,
    pub(crate) ids: Vec<Uuid>,
}

/// How many logs there are.
pub(crate) async fn total(
    tx: &impl Read,
    buckets: &Buckets,
    status: Option<DeliveryStatus>,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
) -> Result<u64, DatabaseError> {
    const SUM: &str = "SELECT CAST(COALESCE(SUM(logs), 0) AS bigint) AS logs FROM tally";
    if buckets.ids.is_empty() {
        return Ok(0);
    }
    let counted = CountQuery { status, ..CountQuery::default() };
    let mut queries = Vec::new();
    if from.is_none() && to.is_none() {
        queries.push(over_tallies(SUM, buckets, Span::Ever, (0, 1), &counted, ""));
    } else {
        let (whole, ends) = take_apart(from.map_or(FIRST_DAY, millis), to.map_or(LAST_DAY, millis));
        for (span, stretch) in whole {
            queries.push(over_tallies(SUM, buckets, span, stretch, &counted, ""));
        }
        queries.extend(ends.into_iter().map(|end| over_logs(buckets, end, status)));
    }
    let mut total = 0_u64;
    for query in queries {
        let logs = tx.query_one(query, |row| row.get::<i64>("logs")).await?;
        total = total.saturating_add_signed(logs.unwrap_or_default());
    }
    Ok(total)
}

/// How many webhooks the account received in the month of `moment`.
pub(crate) async fn received(
    tx: &impl Read,
    account: Uuid,
    moment: Timestamp,
) -> Result<u64, DatabaseError> {
    let sql = "SELECT CAST(COALESCE(SUM(logs), 0) AS bigint) AS webhooks FROM tally \
        WHERE span = ? AND account_id = ? AND bucket_id = ? AND moment = ?";
    let month = millis(Month::of(moment).start);
    let values = [Span::Month.number().into(), account.into(), Uuid::nil().into(), month.into()];
    let webhooks = tx.query_one(with(sql, values), |row| row.get::<i64>("webhooks")).await?;
    Ok(webhooks.unwrap_or_default().unsigned_abs())
}

/// Counts the logs of less than a minute one by one.
fn over_logs(
    buckets: &Buckets,
    (from, to): Stretch,
    status: Option<DeliveryStatus>,
) -> Query<'static> {
    let head = "SELECT COUNT(*) AS logs FROM delivery \
        WHERE account_id = ? AND created_at >= ? AND created_at < ? AND bucket_id IN ";
    let values = [buckets.account_id.into(), from.into(), to.into()];
    let tail = match status.map(counted_as) {
        None => String::new(),
        Some(DeliveryStatus::Received) => " AND status IN (0, 4)".to_owned(),
        Some(status) => format!(" AND status = {}", number(status)),
    };
    over_set(head, values, buckets.ids.iter().map(|id| Param::from(*id)), &tail)
}

/// `select` over the tallies of the query in a span and a stretch of time.
fn over_tallies(
    select: &str,
    buckets: &Buckets,
    span: Span,
    (from, to): Stretch,
    query: &CountQuery,
    tail: &str,
) -> Query<'static> {
    let mut sql = format!("{select} WHERE span = {} AND account_id = ?", span.number());
    let mut values = vec![Param::from(buckets.account_id)];
    let mut add = |condition: &str, value: Param<'static>| {
        sql.push_str(condition);
        values.push(value);
    };
    add(" AND moment >= ?", from.into());
    add(" AND moment < ?", to.into());
    if let Some(output) = query.output_id {
        add(" AND output_id = ?", output.as_uuid().into());
    }
    if let Some(status) = query.status {
        add(" AND status = ?", number(counted_as(status)).into());
    }
    if let Some(code) = query.status_code {
        add(" AND status_code = ?", i64::from(code).into());
    }
    sql.push_str(" AND bucket_id IN ");
    over_set(&sql, values, buckets.ids.iter().map(|id| Param::from(*id)), tail)
}

/// Sums over one moment and one status, all of them in one text: a row of its
/// own for each would cost more than the sums, because SQLite's thread hands
/// over, and wakes who asked, row by row.
const SUMS: &str = "SELECT string_agg(sums, ' ') AS sums FROM (SELECT \
    CONCAT_WS(' ', moment, status, SUM(logs), \
    SUM(CASE WHEN status_code <> 0 THEN logs ELSE 0 END), \
    SUM(CASE WHEN status_code <> 0 THEN micros ELSE 0 END), \
    SUM(CASE WHEN retries > 0 THEN logs ELSE 0 END), \
    SUM(retries * logs), MAX(retries)) AS sums FROM tally";

/// All that one text of [`SUMS`] says.
fn read_sums(text: &str) -> Result<Vec<LogSums>, DbErr> {
    let unreadable = || DbErr::Type(format!("no sums of tallies: {text:.100}"));
    let numbers = text.split_ascii_whitespace().map(str::parse);
    let numbers = numbers.collect::<Result<Vec<i64>, _>>().map_err(|_| unreadable())?;
    match numbers.as_chunks() {
        (sums, []) => Ok(sums.iter().copied().map(log_sums).collect()),
        _ => Err(unreadable()),
    }
}

fn log_sums([at, of_status, counts @ ..]: [i64; 8]) -> LogSums {
    let [logs, answered, micros, retried, retry_count, max_retries] = counts.map(i64::unsigned_abs);
    let status = status(of_status).unwrap_or(DeliveryStatus::Received);
    let mut sums = LogSums::new(moment(at), status);
    sums.logs = logs;
    sums.answered = answered;
    sums.micros = micros;
    sums.retried = retried;
    sums.retry_count = retry_count;
    sums.max_retries = max_retries;
    sums
}

async fn sums(
    tx: &impl Read,
    buckets: &Buckets,
    (span, unit): (Span, i64),
    query: &CountQuery,
) -> Result<Vec<LogSums>, DatabaseError> {
    if buckets.ids.is_empty() {
        return Ok(Vec::new());
    }
    let tail = " AND logs > 0 GROUP BY moment, status) AS counted";
    let (from, to) = whole(query, unit);
    let stretch = (millis(from), millis(to));
    let query = over_tallies(SUMS, buckets, span, stretch, query, tail);
    let sums = tx.query_one(query, |row| row.get::<Option<String>>("sums")).await?;
    Ok(read_sums(&sums.flatten().unwrap_or_default())?)
}

pub(crate) async fn days(
    tx: &impl Read,
    buckets: &Buckets,
    query: &CountQuery,
) -> Result<Vec<DayCount>, DatabaseError> {
    Ok(tally::days(sums(tx, buckets, (Span::Day, DAY_MILLIS), query).await?))
}

pub(crate) async fn minutes(
    tx: &impl Read,
    buckets: &Buckets,
    query: &CountQuery,
) -> Result<Vec<MinuteCount>, DatabaseError> {
    Ok(tally::minutes(sums(tx, buckets, (Span::Minute, MINUTE_MILLIS), query).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_sums_is_read_whole_or_not_at_all() -> Result<(), DatabaseError> {
        assert!(read_sums("")?.is_empty(), "nothing was counted");
        let read = read_sums("60000 1 5 5 900 2 3 2 120000 4 1 0 0 0 0 0")?;
        let said = |sums: &LogSums| {
            (millis(sums.moment), number(sums.status), sums.logs, sums.max_retries)
        };
        assert_eq!(
            read.iter().map(said).collect::<Vec<_>>(),
            [(60000, 1, 5, 2), (120000, 4, 1, 0)]
        );
        for wrong in ["60000 1 5 5 900 2 3", "60000 1 5 5 900 2 3 2 1", "60000 1 5 x 900 2 3 2"] {
            assert!(read_sums(wrong).is_err(), "{wrong}");
        }
        Ok(())
    }
}
