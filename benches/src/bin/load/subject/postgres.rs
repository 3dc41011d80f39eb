//! A schema on PostgreSQL, made with its own program `psql`, and the same rows by hand with
//! `pgbench`.

use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use super::is_there;
use crate::{Outcome, measured::Measured};

/// Why PostgreSQL is left out.
pub(crate) const SKIPPED: &str = "--postgres names no server, or psql and pgbench are not there";

/// What the server writes of a webhook that is delivered at once: two transactions, into its own
/// tables with their indexes, without counts.
const CYCLE: &str = r"
\set n random(1, 1000000000)
SELECT gen_random_uuid() AS webhook, gen_random_uuid() AS delivery \gset
BEGIN;
INSERT INTO webhook (id, account_id, bucket_id, input_id, method, extra_path, raw_query, headers,
  secure, ephemeral, received_at, body)
  VALUES (CAST(:webhook AS uuid), CAST(:webhook AS uuid), CAST(:webhook AS uuid),
    CAST(:webhook AS uuid), 'POST', '', '', convert_to(repeat('h', 180), 'UTF8'), false, false, :n,
    convert_to(repeat('x', 1024), 'UTF8'));
INSERT INTO delivery (id, webhook_id, account_id, bucket_id, output_id, internal, ephemeral, status,
  due_at, held_by, created_at, updated_at)
  VALUES (CAST(:delivery AS uuid), CAST(:webhook AS uuid), CAST(:webhook AS uuid),
    CAST(:webhook AS uuid), CAST(:webhook AS uuid), false, false, 0, :n, CAST(:webhook AS uuid), :n, :n);
COMMIT;
UPDATE delivery SET status = 1, due_at = NULL, held_by = NULL, attempts = 1, updated_at = :n,
  status_code = 200, duration_ns = 1000000, response_headers = '', response_body = 'ok'
  WHERE id = CAST(:delivery AS uuid) AND held_by = CAST(:webhook AS uuid);
";

/// How many statements the server has run, if it has loaded what counts them.
const STATEMENTS: &str = "SELECT COALESCE(SUM(calls), 0) FROM pg_stat_statements";

/// A schema of its own, which is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Schema {
    /// The server's database.
    database: String,
    name: String,
    /// Whether the server counts statements: it has loaded `pg_stat_statements`.
    counts: bool,
}

/// What the database has done so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    wal_bytes: f64,
    commits: f64,
    /// Tables and indexes of the schema.
    stored_bytes: f64,
    /// Where the server counts them.
    statements: Option<f64>,
}

impl Done {
    /// What each of so many webhooks has cost since `before`.
    pub(crate) fn measure(self, before: Self, events: f64, measured: &mut Measured) {
        let each = |now: f64, before: f64| (now - before) / events.max(1.0);
        measured.value("WAL B/event", each(self.wal_bytes, before.wal_bytes));
        measured.value("stored B/event", each(self.stored_bytes, before.stored_bytes));
        measured.value("commits/event", each(self.commits, before.commits));
        if let Some((now, before)) = self.statements.zip(before.statements) {
            measured.value("statements/event", each(now, before));
        }
    }
}

impl Schema {
    /// None without a server, or without the programs to use it with.
    pub(crate) fn create(database: Option<&str>) -> Outcome<Option<Self>> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let Some(database) = database.filter(|_| is_there("psql") && is_there("pgbench")) else {
            return Ok(None);
        };
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("load_{}_{number}", std::process::id());
        psql(database, &format!("CREATE SCHEMA {name}"))?;
        let counts = psql(database, STATEMENTS).is_ok();
        Ok(Some(Self { database: database.to_owned(), name, counts }))
    }

    pub(crate) fn url(&self) -> String {
        format!("{}?options=-csearch_path%3D{}", self.database, self.name)
    }

    pub(crate) fn done(&self) -> Outcome<Done> {
        let ask = |sql: &str| Outcome::Ok(psql(&self.database, sql)?.trim().parse::<f64>()?);
        let stored = format!(
            "SELECT SUM(pg_total_relation_size(oid)) FROM pg_class \
             WHERE relkind = 'r' AND relnamespace = to_regnamespace('{}')",
            self.name
        );
        Ok(Done {
            wal_bytes: ask("SELECT pg_current_wal_lsn() - '0/0'")?,
            commits: ask(
                "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
            )?,
            stored_bytes: ask(&stored)?,
            statements: self.counts.then(|| ask(STATEMENTS)).transpose()?,
        })
    }

    /// Runs statements in it.
    pub(crate) fn run(&self, sql: &str) -> Outcome<()> {
        psql(&self.url(), sql).map(drop)
    }

    /// Writes such rows over so many connections; how many webhooks a second.
    pub(crate) fn by_hand(&self, folder: &Path, connections: usize, seconds: u64) -> Outcome<f64> {
        let script = folder.join("cycle.sql");
        std::fs::write(&script, CYCLE)?;
        let mut pgbench = Command::new("pgbench");
        pgbench.args(["--no-vacuum", "--protocol=prepared", "--jobs=2"]);
        pgbench.arg(format!("--client={connections}")).arg(format!("--time={seconds}"));
        let said = pgbench.arg("--file").arg(&script).arg(self.url()).output()?;
        let text = String::from_utf8_lossy(&said.stdout);
        let rate = text.lines().find_map(|line| line.strip_prefix("tps = "));
        let rate = rate.and_then(|rate| rate.split(' ').next());
        let failed = || format!("pgbench: {}", String::from_utf8_lossy(&said.stderr));
        Ok(rate.ok_or_else(failed)?.parse()?)
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Err(error) = psql(&self.database, &format!("DROP SCHEMA {} CASCADE", self.name)) {
            eprintln!("{} is left: {error}", self.name);
        }
    }
}

fn psql(database: &str, sql: &str) -> Outcome<String> {
    let said = Command::new("psql").args([database, "-qAtc", sql]).output()?;
    match said.status.success() {
        true => Ok(String::from_utf8(said.stdout)?),
        false => Err(format!("psql: {}", String::from_utf8_lossy(&said.stderr)).into()),
    }
}
