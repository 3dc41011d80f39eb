//! One pass over one design.

use std::{collections::BTreeMap, fs, path::Path};

use benches::Outcome;
use rusqlite::{Connection, types::Value};
use uuid::{Builder, Uuid};

use crate::designs::Design;

/// Webhooks of a commit, and outcomes of those before them: about as many as the server has
/// in one with 64 connections.
const BATCH: usize = 32;

/// After so many commits what they appended is removed, as when the server folds it.
const COMMITS: usize = 512;

/// What a webhook and its outcome cost.
pub(crate) struct Cost {
    pub(crate) cpu_micros: f64,
    pub(crate) written_bytes: f64,
}

struct Bucket {
    number: usize,
    account_id: Uuid,
    id: Uuid,
    input_id: Uuid,
    output_id: Uuid,
}

struct Delivery<'a> {
    id: Uuid,
    webhook_id: Uuid,
    bucket: &'a Bucket,
    /// The integers in place of the two UUIDs: the moment and a number in it.
    number: i64,
    at: i64,
}

pub(crate) fn run(
    folder: &Path,
    design: &Design,
    buckets: usize,
    webhooks: usize,
) -> Outcome<Cost> {
    let folder = tempfile::tempdir_in(folder)?;
    let database = Connection::open(folder.path().join("webhooks.db"))?;
    database.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; \
         PRAGMA wal_autocheckpoint = 1000;",
    )?;
    database.set_prepared_statement_cache_capacity(200);
    database.execute_batch(&design.schema())?;

    let mut random = fastrand::Rng::with_seed(7);
    let mut uuid = |at: u64| {
        Builder::from_unix_timestamp_millis(
            at,
            &random.u128(..).to_be_bytes()[..10].try_into().unwrap_or_default(),
        )
        .into_uuid()
    };
    let (account_id, node) = (uuid(1), uuid(2));
    let buckets: Vec<_> = (0..buckets)
        .map(|number| Bucket {
            number,
            account_id,
            id: uuid(3),
            input_id: uuid(4),
            output_id: uuid(5),
        })
        .collect();
    let mut which = fastrand::Rng::with_seed(8);

    let (mut at, mut before) = (1_760_000_000_000_u64, Vec::new());
    let (mut start, mut measured) = (None, 0);
    for commit in 0..webhooks.div_ceil(BATCH) {
        if start.is_none() && commit * BATCH >= webhooks / 5 {
            start = Some(spent()?);
        }
        at += 3;
        let new = |number| {
            // About as many come in a millisecond.
            let at = at + u64::from(number >= BATCH / 2);
            Delivery {
                id: uuid(at),
                webhook_id: uuid(at),
                bucket: &buckets[which.usize(..buckets.len())],
                number: 0,
                at: at as i64,
            }
        };
        let mut batch: Vec<_> = (0..BATCH).map(new).collect();
        batch.sort_unstable_by_key(|delivery| (delivery.webhook_id, delivery.id));
        for (number, delivery) in batch.iter_mut().enumerate() {
            delivery.number = delivery.at << 20 | number as i64;
        }
        database.execute_batch("BEGIN IMMEDIATE")?;
        accept(&database, design, &batch, node)?;
        settle(&database, design, &before, node, at as i64)?;
        count(&database, design, &batch, &before)?;
        database.execute_batch("COMMIT")?;
        if commit % COMMITS == COMMITS - 1 {
            database.execute_batch("BEGIN IMMEDIATE; DELETE FROM tally_delta; COMMIT")?;
        }
        before = batch;
        measured += if start.is_some() { BATCH } else { 0 };
    }
    let ((cpu, bytes), (cpu_before, bytes_before)) = (spent()?, start.ok_or("too few webhooks")?);
    Ok(Cost {
        cpu_micros: (cpu - cpu_before) as f64 / 1_000.0 / measured as f64,
        written_bytes: (bytes - bytes_before) as f64 / measured as f64,
    })
}

/// The nanoseconds that this thread has run, and the bytes that it caused to be written.
fn spent() -> Outcome<(u64, u64)> {
    let ran = fs::read_to_string("/proc/thread-self/schedstat")?;
    let ran = ran.split_whitespace().next().ok_or("no time in schedstat")?.parse()?;
    let io = fs::read_to_string("/proc/thread-self/io")?;
    let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    Ok((ran, written.ok_or("no bytes in io")?.parse()?))
}

fn key(design: &Design, id: Uuid, number: i64) -> Vec<Value> {
    match design.int {
        true => vec![number.into(), id.as_bytes()[6..].to_vec().into()],
        false => vec![blob(id)],
    }
}

fn owner(design: &Design, bucket: &Bucket) -> Vec<Value> {
    match design.int {
        true => vec![(bucket.number as i64).into()],
        false => vec![blob(bucket.account_id), blob(bucket.id)],
    }
}

fn blob(id: Uuid) -> Value {
    id.as_bytes().to_vec().into()
}

/// Inserts the rows with one statement, as the server does.
fn insert(database: &Connection, into: &str, rows: Vec<Vec<Value>>) -> Outcome<()> {
    let Some(row) = rows.first() else { return Ok(()) };
    let row = format!("({})", vec!["?"; row.len()].join(", "));
    let sql = format!("INSERT OR FAIL INTO {into} VALUES {}", vec![row; rows.len()].join(", "));
    database
        .prepare_cached(&sql)?
        .execute(rusqlite::params_from_iter(rows.into_iter().flatten()))?;
    Ok(())
}

fn accept(
    database: &Connection,
    design: &Design,
    batch: &[Delivery<'_>],
    node: Uuid,
) -> Outcome<()> {
    let (keys, of) = (design.key(), design.owner());
    let webhook = |delivery: &Delivery<'_>| {
        let mut row = key(design, delivery.webhook_id, delivery.number);
        row.extend(owner(design, delivery.bucket));
        let empty = Vec::<u8>::new;
        let headers = vec![b'h'; 420];
        row.extend([blob(delivery.bucket.input_id), "POST".to_owned().into()]);
        row.extend([empty().into(), empty().into(), headers.into(), "127.0.0.1".to_owned().into()]);
        row.extend([0.into(), 0.into(), Value::Null, delivery.at.into(), vec![b'b'; 1024].into()]);
        row
    };
    let columns = "input_id, method, extra_path, raw_query, headers, remote_addr, secure, \
        ephemeral, input_execution_id, received_at, body";
    let rows = batch.iter().map(webhook).collect();
    insert(database, &format!("webhook ({keys}, {of}, {columns})"), rows)?;

    let delivery = |delivery: &Delivery<'_>| {
        let mut row = key(design, delivery.id, delivery.number);
        row.extend(key(design, delivery.webhook_id, delivery.number).into_iter().take(1));
        row.extend(owner(design, delivery.bucket));
        let at = Value::from(delivery.at);
        row.extend([blob(delivery.bucket.output_id), 0.into(), 0.into(), 0.into(), at.clone()]);
        row.extend([blob(node), at.clone(), at]);
        row
    };
    let columns = "output_id, internal, ephemeral, status, due_at, held_by, created_at, updated_at";
    let rows = batch.iter().map(delivery).collect();
    let queue = design.queue();
    insert(database, &format!("{queue} ({keys}, webhook_id, {of}, {columns})"), rows)
}

fn settle(
    database: &Connection,
    design: &Design,
    batch: &[Delivery<'_>],
    node: Uuid,
    now: i64,
) -> Outcome<()> {
    const HELD: &str = "due_at IS NOT NULL AND (held_by IS NULL OR held_by = ?)";
    let response = vec![b'r'; 120];
    if !design.once {
        let found = match design.by_moment {
            true => "id BETWEEN ? AND ? AND rest = ?",
            false => "id = ?",
        };
        let sql = format!(
            "UPDATE delivery SET held_by = NULL, updated_at = ?, status = 1, due_at = NULL, \
             attempts = 1, status_code = 200, duration_ns = ?, error = NULL, \
             response_headers = ?, response_body = ?, processed = COALESCE(NULL, processed), \
             output_execution_id = COALESCE(NULL, output_execution_id) WHERE {found} AND {HELD}"
        );
        let mut update = database.prepare_cached(&sql)?;
        for delivery in batch {
            let mut values = vec![now.into(), 1_234_567.into(), response.clone().into()];
            values.push(b"ok".to_vec().into());
            let key = key(design, delivery.id, delivery.number);
            match design.by_moment {
                true => {
                    let first = delivery.at << 20;
                    values.extend([first.into(), (first | 0xf_ffff).into()]);
                    values.extend(key.into_iter().skip(1));
                }
                false => values.extend(key.into_iter().take(1)),
            }
            values.push(blob(node));
            update.execute(rusqlite::params_from_iter(values))?;
        }
        return Ok(());
    }
    let sql = format!(
        "DELETE FROM pending WHERE id = ? AND {HELD} RETURNING internal, processed, output_execution_id"
    );
    let mut delete = database.prepare_cached(&sql)?;
    let mut rows = Vec::with_capacity(batch.len());
    for delivery in batch {
        let mut values = key(design, delivery.id, delivery.number);
        values.truncate(1);
        values.push(blob(node));
        let kept: [Value; 3] = delete.query_row(rusqlite::params_from_iter(values), |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?])
        })?;
        let mut row = key(design, delivery.id, delivery.number);
        row.extend(key(design, delivery.webhook_id, delivery.number).into_iter().take(1));
        row.extend(owner(design, delivery.bucket));
        row.extend(kept);
        row.extend([blob(delivery.bucket.output_id), 0.into(), 1.into(), 1.into()]);
        row.extend([delivery.at.into(), now.into(), 200.into(), 1_234_567.into()]);
        row.extend([response.clone().into(), b"ok".to_vec().into()]);
        rows.push(row);
    }
    let into = format!(
        "delivery ({}, webhook_id, {}, internal, processed, output_execution_id, output_id, \
         ephemeral, status, attempts, created_at, updated_at, status_code, duration_ns, \
         response_headers, response_body)",
        design.key(),
        design.owner()
    );
    insert(database, &into, rows)
}

/// A span, its moment, a bucket and a status: one more or fewer.
type Changes = BTreeMap<(i64, i64, usize, i64), i64>;

fn count(
    database: &Connection,
    design: &Design,
    accepted: &[Delivery<'_>],
    settled: &[Delivery<'_>],
) -> Outcome<()> {
    if !design.tallies {
        let mut buckets: Vec<_> = accepted.iter().map(|delivery| delivery.bucket.number).collect();
        buckets.sort_unstable();
        buckets.dedup();
        let sql = "INSERT INTO tally_delta (changes) VALUES (?)";
        database.prepare_cached(sql)?.execute([vec![7_u8; 30 + buckets.len() * 45]])?;
        return Ok(());
    }
    let mut changes = Changes::new();
    let all = accepted.iter().map(|one| (one, &[(4, 1)][..]));
    let all = all.chain(settled.iter().map(|one| (one, &[(4, -1), (1, 1)][..])));
    for (delivery, statuses) in all {
        let at = delivery.at;
        for (span, moment) in [(0, 0), (1, at - at % 86_400_000), (2, at - at % 60_000)] {
            for (status, by) in statuses {
                *changes.entry((span, moment, delivery.bucket.number, *status)).or_default() += by;
            }
        }
    }
    let sql = "INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, 5) ON CONFLICT DO UPDATE \
        SET logs = tally.logs + excluded.logs, micros = tally.micros + excluded.micros";
    let mut change = database.prepare_cached(sql)?;
    let one = |number: usize| {
        accepted.iter().chain(settled).map(|one| one.bucket).find(|bucket| bucket.number == number)
    };
    for ((span, moment, number, status), by) in changes {
        let (Some(bucket), true) = (one(number), by != 0) else { continue };
        let code = if status == 1 { 200 } else { 0 };
        change.execute((
            span,
            bucket.account_id.as_bytes(),
            bucket.id.as_bytes(),
            moment,
            bucket.output_id.as_bytes(),
            status,
            code,
            by,
        ))?;
    }
    Ok(())
}
