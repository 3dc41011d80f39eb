//! Totals and statistics from tallies, and what is not folded into them yet.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{DbErr, prelude::Uuid};
use webhook_core::{
    Month, Timestamp,
    model::DeliveryStatus,
    store::{
        CountQuery,
        tally::{LogSums, counted_as, whole},
    },
};

use super::{
    places::Places,
    range::Range,
    time::{FIRST_DAY, LAST_DAY, Stretch, take_apart},
};
use crate::{
    entity::{
        delivery::{number, status},
        millis, moment,
    },
    fault::DatabaseError,
    fold::Deltas,
    tally::{Change, Key, Span},
    tx::{Param, Query, Read, Row, over_set, with},
};

/// The buckets whose logs are counted.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    pub(crate) account_id: Uuid,
    pub(crate) ids: Vec<Uuid>,
}

impl Buckets {
    /// The changes of a span and a stretch of time that a query counts.
    fn changes<'a>(
        &'a self,
        deltas: &'a Deltas,
        span: Span,
        (from, to): Stretch,
        query: &'a CountQuery,
    ) -> impl Iterator<Item = &'a Change> {
        let output = query.output_id.map(|output| output.as_uuid());
        let status = query.status.map(|status| number(counted_as(status)));
        let code = query.status_code.map(i64::from);
        deltas.span(span).filter(move |Change { key, .. }| {
            (from..to).contains(&key.moment)
                && self.ids.contains(&key.bucket_id)
                && output.is_none_or(|output| key.output_id == output)
                && status.is_none_or(|status| key.status == status)
                && code.is_none_or(|code| key.status_code == code)
        })
    }
}

/// How many logs of the buckets there are, which lie in these places.
pub(crate) async fn total(
    tx: &impl Read,
    deltas: &Deltas,
    (buckets, places): (&Buckets, &Places),
    status: Option<DeliveryStatus>,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
) -> Result<u64, DatabaseError> {
    const SUM: &str = "SELECT CAST(COALESCE(SUM(logs), 0) AS bigint) AS logs FROM tally";
    if buckets.ids.is_empty() {
        return Ok(0);
    }
    let mut counted = CountQuery::default();
    counted.status = status;
    let (whole, ends) = if from.is_none() && to.is_none() {
        (vec![(Span::Ever, (0, 1))], Vec::new())
    } else {
        take_apart(from.map_or(FIRST_DAY, millis), to.map_or(LAST_DAY, millis))
    };
    let mut total = 0_i64;
    for (span, stretch) in whole {
        let folded = over_tallies(SUM, buckets, span, stretch, &counted, "");
        let logs = tx.query_one(folded, |row| row.get::<i64>("logs")).await?;
        let behind = buckets.changes(deltas, span, stretch, &counted);
        total += logs.unwrap_or_default() + behind.map(|change| change.logs).sum::<i64>();
    }
    for (from, to) in ends {
        // Less than a minute.
        let end = Range::ALL.from(Some(moment(from))).to(Some(moment(to)));
        total += places.count(tx, end).await?;
    }
    Ok(u64::try_from(total).unwrap_or_default())
}

/// How many webhooks the account received in the month of `moment`.
pub(crate) async fn received(
    tx: &impl Read,
    deltas: &Deltas,
    account: Uuid,
    moment: Timestamp,
) -> Result<u64, DatabaseError> {
    let sql = "SELECT CAST(COALESCE(SUM(logs), 0) AS bigint) AS webhooks FROM tally \
        WHERE span = ? AND account_id = ? AND bucket_id = ? AND moment = ?";
    let month = millis(Month::of(moment).start);
    let values = [Span::Month.number().into(), account.into(), Uuid::nil().into(), month.into()];
    let folded = tx.query_one(with(sql, values), |row| row.get::<i64>("webhooks")).await?;
    let behind = deltas.span(Span::Month).filter(|change| change.key.moment == month);
    let webhooks = folded.unwrap_or_default() + behind.map(|change| change.logs).sum::<i64>();
    Ok(u64::try_from(webhooks).unwrap_or_default())
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
    CONCAT_WS(' ', {moment}, status, SUM(logs), \
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

/// Adds a change to the sums of its moment and status, in which what it takes away is.
fn add(sums: &mut LogSums, Change { key, logs, micros }: &Change) {
    let add = |sum: &mut u64, by: i64| *sum = sum.saturating_add_signed(by);
    add(&mut sums.logs, *logs);
    if key.status_code != 0 {
        add(&mut sums.answered, *logs);
        add(&mut sums.micros, *micros);
    }
    if key.retries > 0 {
        add(&mut sums.retried, *logs);
        add(&mut sums.retry_count, key.retries * logs);
    }
    if *logs > 0 {
        sums.max_retries = sums.max_retries.max(key.retries.unsigned_abs());
    }
}

/// A moment and the number of a status.
type Group = (i64, i64);

/// The sums of all moments and statuses of which there are logs, in order.
pub(crate) async fn sums(
    tx: &impl Read,
    deltas: &Deltas,
    buckets: &Buckets,
    (span, unit): (Span, i64),
    query: &CountQuery,
) -> Result<Vec<LogSums>, DatabaseError> {
    if buckets.ids.is_empty() {
        return Ok(Vec::new());
    }
    let (from, to) = whole(query, unit);
    let stretch = (millis(from), millis(to));
    let known = folded(tx, buckets, (span, "moment"), stretch, query).await?.into_iter();
    let group = |sums: &LogSums| (millis(sums.moment), number(sums.status));
    let mut sums: BTreeMap<Group, LogSums> = known.map(|sums| (group(&sums), sums)).collect();

    let mut fewer = BTreeSet::new();
    for change in buckets.changes(deltas, span, stretch, query) {
        let Key { moment: at, status: of_status, retries, .. } = change.key;
        let group = sums.entry((at, of_status)).or_insert_with(|| {
            let status = status(of_status).unwrap_or(DeliveryStatus::Received);
            LogSums::new(moment(at), status)
        });
        add(group, change);
        if retries > 0 && change.logs < 0 {
            fewer.insert((at, of_status));
        }
    }
    if !fewer.is_empty() {
        let most = most_retries(tx, deltas, buckets, (span, fewer), query).await?;
        for (group, retries) in most {
            if let Some(sums) = sums.get_mut(&group) {
                sums.max_retries = retries;
            }
        }
    }
    sums.retain(|_, sums| sums.logs > 0);
    // Erased logs have tallies of minutes alone.
    let moment = format!("(moment - moment % {unit})");
    for erased in folded(tx, buckets, (Span::Erased, &moment), stretch, query).await? {
        let known = sums
            .entry(group(&erased))
            .or_insert_with(|| LogSums::new(erased.moment, erased.status));
        known.logs += erased.logs;
        known.answered += erased.answered;
        known.micros += erased.micros;
        known.retried += erased.retried;
        known.retry_count += erased.retry_count;
        known.max_retries = known.max_retries.max(erased.max_retries);
    }
    Ok(sums.into_values().collect())
}

/// What the tallies of a span sum up to, over moments that this expression tells apart.
async fn folded(
    tx: &impl Read,
    buckets: &Buckets,
    (span, moment): (Span, &str),
    stretch: Stretch,
    query: &CountQuery,
) -> Result<Vec<LogSums>, DatabaseError> {
    let tail = format!(" AND logs > 0 GROUP BY {moment}, status) AS counted");
    let select = SUMS.replace("{moment}", moment);
    let folded = over_tallies(&select, buckets, span, stretch, query, &tail);
    let folded = tx.query_one(folded, |row| row.get::<Option<String>>("sums")).await?;
    Ok(read_sums(&folded.flatten().unwrap_or_default())?)
}

/// The buckets of the account that have erased logs in their statistics.
pub(crate) async fn buckets_of_erased(
    tx: &impl Read,
    account: Uuid,
) -> Result<Vec<Uuid>, DatabaseError> {
    let sql = "SELECT DISTINCT bucket_id FROM tally WHERE span = ? AND account_id = ?";
    let values = [Span::Erased.number().into(), account.into()];
    tx.query(with(sql, values), |row| row.get("bucket_id")).await
}

/// The most retries of each of the groups, some of whose logs with retries are gone: no sum
/// over the tallies says whether others have as many.
async fn most_retries(
    tx: &impl Read,
    deltas: &Deltas,
    buckets: &Buckets,
    (span, groups): (Span, BTreeSet<Group>),
    query: &CountQuery,
) -> Result<BTreeMap<Group, u64>, DatabaseError> {
    const SELECT: &str = "SELECT account_id, moment, bucket_id, output_id, status, \
        status_code, retries, logs FROM tally";
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else {
        return Ok(BTreeMap::new());
    };
    let stretch = (first.0, last.0.saturating_add(1));
    let folded = over_tallies(SELECT, buckets, span, stretch, query, " AND retries > 0");
    let folded = tx.query(folded, tally_logs).await?;
    let mut logs: BTreeMap<_, _> =
        folded.into_iter().map(|(key, n)| (Key { span, ..key }, n)).collect();
    for change in buckets.changes(deltas, span, stretch, query) {
        *logs.entry(change.key).or_default() += change.logs;
    }
    let mut most: BTreeMap<Group, u64> = groups.into_iter().map(|group| (group, 0)).collect();
    for (key, _) in logs.into_iter().filter(|(_, logs)| *logs > 0) {
        if let Some(most) = most.get_mut(&(key.moment, key.status)) {
            *most = (*most).max(key.retries.unsigned_abs());
        }
    }
    Ok(most)
}

/// A tally, and how many logs it counts. Its span is known to who asked.
fn tally_logs(row: &Row<'_>) -> Result<(Key, i64), DatabaseError> {
    Ok((Key::of_row(row, Span::Ever)?, row.get("logs")?))
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
