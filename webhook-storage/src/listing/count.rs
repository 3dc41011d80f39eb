//! Totals and statistics from tallies.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr, Statement, Value, prelude::Uuid};
use webhook_core::{
    Month, Timestamp,
    model::DeliveryStatus,
    store::{CountQuery, DayCount, MinuteCount},
};

use super::time::{FIRST_DAY, LAST_DAY, Stretch, ceil, floor, take_apart};
use crate::{
    entity::{delivery::number, millis, moment},
    writer::{
        statement::{over_set, with},
        tally::{DAY_MILLIS, MINUTE_MILLIS, Span},
    },
};

/// The buckets whose logs are counted.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    pub(crate) account_id: Uuid,
    pub(crate) ids: Vec<Uuid>,
}

/// The number under which logs of this status are counted.
pub(crate) fn counted_as(status: DeliveryStatus) -> i64 {
    match status {
        DeliveryStatus::Preparing => number(DeliveryStatus::Received),
        status => number(status),
    }
}

/// How many logs there are.
pub(crate) async fn total(
    connection: &impl ConnectionTrait,
    buckets: &Buckets,
    status: Option<DeliveryStatus>,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
) -> Result<u64, DbErr> {
    if buckets.ids.is_empty() {
        return Ok(0);
    }
    let counted = CountQuery { status, ..CountQuery::default() };
    let mut queries = Vec::new();
    if from.is_none() && to.is_none() {
        let select = "SELECT CAST(COALESCE(SUM(logs), 0) AS bigint) AS logs FROM tally";
        queries.push(over_tallies(connection, select, buckets, Span::Ever, (0, 1), &counted, ""));
    } else {
        let (whole, ends) = take_apart(from.map_or(FIRST_DAY, millis), to.map_or(LAST_DAY, millis));
        for (span, stretch) in whole {
            let select = "SELECT CAST(COALESCE(SUM(logs), 0) AS bigint) AS logs FROM tally";
            queries.push(over_tallies(connection, select, buckets, span, stretch, &counted, ""));
        }
        queries.extend(ends.into_iter().map(|end| over_logs(connection, buckets, end, status)));
    }
    let mut total = 0_u64;
    for query in queries {
        if let Some(row) = connection.query_one_raw(query).await? {
            total = total.saturating_add_signed(row.try_get_by("logs")?);
        }
    }
    Ok(total)
}

/// How many webhooks the account received in the month of `moment`.
pub(crate) async fn received(
    connection: &impl ConnectionTrait,
    account: Uuid,
    moment: Timestamp,
) -> Result<u64, DbErr> {
    let sql = "SELECT CAST(COALESCE(SUM(logs), 0) AS bigint) AS webhooks FROM tally \
        WHERE span = ? AND account_id = ? AND bucket_id = ? AND moment = ?";
    let month = millis(Month::of(moment).start);
    let values = [Span::Month.number().into(), account.into(), Uuid::nil().into(), month.into()];
    let query = with(connection.get_database_backend(), sql, values);
    match connection.query_one_raw(query).await? {
        Some(row) => Ok(row.try_get_by::<i64, _>("webhooks")?.unsigned_abs()),
        None => Ok(0),
    }
}

/// Counts the logs of less than a minute one by one.
fn over_logs(
    connection: &impl ConnectionTrait,
    buckets: &Buckets,
    (from, to): Stretch,
    status: Option<DeliveryStatus>,
) -> Statement {
    let backend = connection.get_database_backend();
    let head = "SELECT COUNT(*) AS logs FROM delivery \
        WHERE account_id = ? AND created_at >= ? AND created_at < ? AND bucket_id IN ";
    let values = vec![buckets.account_id.into(), from.into(), to.into()];
    let head = with(backend, head, values.clone()).sql;
    let received = number(DeliveryStatus::Received);
    let tail = match status.map(counted_as) {
        None => String::new(),
        Some(status) if status == received => " AND status IN (0, 4)".to_owned(),
        Some(status) => format!(" AND status = {status}"),
    };
    let ids = buckets.ids.iter().map(|id| Value::from(*id));
    over_set(backend, &head, values, ids, &tail)
}

/// `select` over the tallies of the query in a span and a stretch of time.
fn over_tallies(
    connection: &impl ConnectionTrait,
    select: &str,
    buckets: &Buckets,
    span: Span,
    (from, to): Stretch,
    query: &CountQuery,
    tail: &str,
) -> Statement {
    let backend = connection.get_database_backend();
    let mut sql = format!("{select} WHERE span = {} AND account_id = ?", span.number());
    let mut values = vec![Value::from(buckets.account_id)];
    let mut add = |condition: &str, value: Value| {
        sql.push_str(condition);
        values.push(value);
    };
    add(" AND moment >= ?", from.into());
    add(" AND moment < ?", to.into());
    if let Some(output) = query.output_id {
        add(" AND output_id = ?", output.as_uuid().into());
    }
    if let Some(status) = query.status {
        add(" AND status = ?", counted_as(status).into());
    }
    if let Some(code) = query.status_code {
        add(" AND status_code = ?", i64::from(code).into());
    }
    sql.push_str(" AND bucket_id IN ");
    let head = with(backend, &sql, values.clone()).sql;
    over_set(backend, &head, values, buckets.ids.iter().map(|id| Value::from(*id)), tail)
}

/// The stretch of whole units that the query counts.
fn whole(query: &CountQuery, unit: i64) -> Stretch {
    let from = query.from.map_or(i64::MIN, |from| floor(millis(from), unit));
    (from, query.to.map_or(i64::MAX, |to| ceil(millis(to), unit)))
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

/// Sums over one moment and one status.
struct Sums {
    moment: i64,
    status: i64,
    logs: u64,
    answered: u64,
    micros: u64,
    retried: u64,
    retry_count: u64,
    max_retries: u64,
}

impl Sums {
    /// All that one text says.
    fn read(text: &str) -> Result<Vec<Self>, DbErr> {
        let unreadable = || DbErr::Type(format!("no sums of tallies: {text:.100}"));
        let numbers = text.split_ascii_whitespace().map(str::parse);
        let numbers = numbers.collect::<Result<Vec<i64>, _>>().map_err(|_| unreadable())?;
        match numbers.as_chunks() {
            (sums, []) => Ok(sums.iter().copied().map(Self::from).collect()),
            _ => Err(unreadable()),
        }
    }
}

impl From<[i64; 8]> for Sums {
    fn from(sums: [i64; 8]) -> Self {
        let [moment, status, counts @ ..] = sums;
        let [logs, answered, micros, retried, retry_count, max_retries] =
            counts.map(i64::unsigned_abs);
        Self { moment, status, logs, answered, micros, retried, retry_count, max_retries }
    }
}

async fn sums(
    connection: &impl ConnectionTrait,
    buckets: &Buckets,
    (span, unit): (Span, i64),
    query: &CountQuery,
) -> Result<Vec<Sums>, DbErr> {
    if buckets.ids.is_empty() {
        return Ok(Vec::new());
    }
    let tail = " AND logs > 0 GROUP BY moment, status) AS counted";
    let stretch = whole(query, unit);
    let query = over_tallies(connection, SUMS, buckets, span, stretch, query, tail);
    let Some(row) = connection.query_one_raw(query).await? else { return Ok(Vec::new()) };
    let sums: Option<String> = row.try_get_by("sums")?;
    Sums::read(&sums.unwrap_or_default())
}

pub(crate) async fn days(
    connection: &impl ConnectionTrait,
    buckets: &Buckets,
    query: &CountQuery,
) -> Result<Vec<DayCount>, DbErr> {
    let mut days = BTreeMap::<_, DayCount>::new();
    for sums in sums(connection, buckets, (Span::Day, DAY_MILLIS), query).await? {
        let day = days.entry(sums.moment).or_default();
        day.day = moment(sums.moment);
        day.received += sums.logs;
        if sums.status == number(DeliveryStatus::Sent) {
            day.success += sums.logs;
        }
        if sums.status == number(DeliveryStatus::Failed) {
            day.failures += sums.logs;
        }
        day.retried += sums.retried;
        day.retry_count += sums.retry_count;
        day.max_retries = day.max_retries.max(sums.max_retries);
    }
    Ok(days.into_values().collect())
}

pub(crate) async fn minutes(
    connection: &impl ConnectionTrait,
    buckets: &Buckets,
    query: &CountQuery,
) -> Result<Vec<MinuteCount>, DbErr> {
    let mut minutes = BTreeMap::<_, (MinuteCount, u64, u64)>::new();
    for sums in sums(connection, buckets, (Span::Minute, MINUTE_MILLIS), query).await? {
        let (minute, answered, micros) = minutes.entry(sums.moment).or_default();
        minute.minute = moment(sums.moment);
        let status = crate::entity::delivery::status(sums.status);
        let status = status.unwrap_or(DeliveryStatus::Received).as_str();
        *minute.counts.entry(status).or_default() += sums.logs;
        minute.retried += sums.retried;
        minute.retry_count += sums.retry_count;
        minute.max_retries = minute.max_retries.max(sums.max_retries);
        *answered += sums.answered;
        *micros += sums.micros;
    }
    let average = |(minute, answered, micros): (MinuteCount, u64, u64)| {
        let latency_ms_avg = micros as f64 / 1e3 / answered.max(1) as f64;
        MinuteCount { latency_ms_avg, ..minute }
    };
    Ok(minutes.into_values().map(average).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_sums_is_read_whole_or_not_at_all() -> Result<(), DbErr> {
        assert!(Sums::read("")?.is_empty(), "nothing was counted");
        let read = Sums::read("60000 1 5 5 900 2 3 2 120000 4 1 0 0 0 0 0")?;
        let said = |sums: &Sums| (sums.moment, sums.status, sums.logs, sums.max_retries);
        assert_eq!(
            read.iter().map(said).collect::<Vec<_>>(),
            [(60000, 1, 5, 2), (120000, 4, 1, 0)]
        );
        for wrong in ["60000 1 5 5 900 2 3", "60000 1 5 5 900 2 3 2 1", "60000 1 5 x 900 2 3 2"] {
            assert!(Sums::read(wrong).is_err(), "{wrong}");
        }
        Ok(())
    }
}
