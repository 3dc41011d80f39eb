//! Changing the running counts.

use rusqlite::{Connection, params};

use super::super::tally::{Change, Tallies};

const CHANGE: &str = "INSERT INTO tally (span, account_id, bucket_id, moment, output_id, status, \
    status_code, retries, logs, micros) VALUES (?,?,?,?,?,?,?,?,?,?) \
    ON CONFLICT (span, account_id, bucket_id, moment, output_id, status, \
    status_code, retries) DO UPDATE SET logs = tally.logs + excluded.logs, \
    micros = tally.micros + excluded.micros";

pub(super) fn write(connection: &Connection, tallies: Tallies) -> rusqlite::Result<()> {
    let mut change = connection.prepare_cached(CHANGE)?;
    for Change { key, logs, micros } in tallies.changes() {
        change.execute(params![
            key.span.number(),
            key.account_id.into_bytes(),
            key.bucket_id.into_bytes(),
            key.moment,
            key.output_id.into_bytes(),
            key.status,
            key.status_code,
            key.retries,
            logs,
            micros,
        ])?;
    }
    Ok(())
}
