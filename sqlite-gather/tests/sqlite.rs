//! SQLite on this file system, beside SQLite on its own.

use std::{ops::Range, path::Path};

use proptest::prelude::*;
use rusqlite::{Connection, OpenFlags, params};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// A connection through the file system, with room for few pages: what does not
/// fit goes to the log before its transaction ends.
fn gathering(path: &Path, synchronous: &str) -> rusqlite::Result<Connection> {
    let vfs = sqlite_gather::vfs()?;
    let connection = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), vfs)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "cache_size", 8)?;
    connection.pragma_update(None, "wal_autocheckpoint", 40)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
         CREATE INDEX IF NOT EXISTS event_by_length ON event (length(body), id)",
    )?;
    Ok(connection)
}

fn all(connection: &Connection) -> rusqlite::Result<Vec<(i64, Vec<u8>)>> {
    let mut events = connection.prepare_cached("SELECT id, body FROM event ORDER BY id")?;
    let rows = events.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// What is wrong with the file, or `ok`.
fn soundness(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))
}

#[derive(Clone, Debug)]
enum Step {
    Put(i64, usize),
    Remove(i64),
    /// Takes back what the transaction did since the last one.
    TakeBack,
}

#[derive(Clone, Debug)]
struct Transaction {
    steps: Vec<Step>,
    commits: bool,
}

/// Puts events of a page each.
fn put(events: Range<i64>) -> Transaction {
    let steps = events.map(|id| Step::Put(id, 4_000)).collect();
    Transaction { steps, commits: true }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..60_i64, 0..9_000_usize).prop_map(|(id, length)| Step::Put(id, length)),
        2 => (0..60_i64).prop_map(Step::Remove),
        1 => Just(Step::TakeBack),
    ]
}

fn transaction() -> impl Strategy<Value = Transaction> {
    (prop::collection::vec(step(), 0..40), prop::bool::weighted(0.8))
        .prop_map(|(steps, commits)| Transaction { steps, commits })
}

fn run(connection: &mut Connection, of: &Transaction) -> rusqlite::Result<()> {
    let mut transaction = connection.transaction()?;
    let mut part = transaction.savepoint()?;
    for step in &of.steps {
        match *step {
            Step::Put(id, length) => {
                let body = vec![u8::try_from(id).unwrap_or_default(); length];
                part.execute("REPLACE INTO event VALUES (?, ?)", params![id, body])?;
            }
            Step::Remove(id) => {
                part.execute("DELETE FROM event WHERE id = ?", [id])?;
            }
            Step::TakeBack => part.rollback()?,
        }
    }
    part.commit()?;
    if of.commits { transaction.commit() } else { transaction.rollback() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_is_committed_is_what_anybody_reads(
        transactions in prop::collection::vec(transaction(), 1..12),
        synchronous in prop::sample::select(vec!["OFF", "NORMAL", "FULL"]),
    ) {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("gathering.db");
        let mut gathering = gathering(&path, synchronous)?;
        let other = Connection::open(&path)?;
        let mut plain = Connection::open_in_memory()?;
        plain.execute_batch("CREATE TABLE event (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")?;
        for transaction in &transactions {
            run(&mut gathering, transaction)?;
            run(&mut plain, transaction)?;
            prop_assert_eq!(all(&other)?, all(&plain)?);
            // The other one writes as well, and then the first goes on.
            other.execute("REPLACE INTO event VALUES (99, x'01')", [])?;
            plain.execute("REPLACE INTO event VALUES (99, x'01')", [])?;
        }
        prop_assert_eq!(all(&gathering)?, all(&plain)?);
        prop_assert_eq!([soundness(&gathering)?, soundness(&other)?], ["ok", "ok"]);
        drop((gathering, other));
        let again = Connection::open(&path)?;
        prop_assert_eq!(all(&again)?, all(&plain)?);
        prop_assert_eq!(soundness(&again)?, "ok");
    }
}

/// System calls of this thread that have written something.
#[cfg(target_os = "linux")]
fn writes() -> std::io::Result<u64> {
    let counts = std::fs::read_to_string("/proc/thread-self/io")?;
    let written = counts.lines().find_map(|line| line.strip_prefix("syscw: ")?.parse().ok());
    written.ok_or_else(|| std::io::Error::other("the system does not count"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_transaction_is_written_at_once() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut connection = gathering(&folder.path().join("counted.db"), "FULL")?;
    connection.pragma_update(None, "cache_size", 1_000)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    run(&mut connection, &put(0..20))?;
    let before = writes()?;
    run(&mut connection, &put(20..40))?;
    assert_eq!(writes()? - before, 1);
    Ok(())
}

/// In a process of its own, whose files may have 50 KiB at most.
#[cfg(unix)]
#[test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn what_cannot_be_written_is_an_error_and_loses_nothing() -> Tested {
    const LIMITED: &str = "SQLITE_GATHER_LIMITED";
    if std::env::var_os(LIMITED).is_none() {
        let limited = "trap '' XFSZ; ulimit -f 100; exec \"$0\" --exact \"$1\"";
        let this = "what_cannot_be_written_is_an_error_and_loses_nothing";
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(limited).arg(std::env::current_exe()?).arg(this).env(LIMITED, "1");
        let output = shell.output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("limited.db");
    let mut connection = gathering(&path, "FULL")?;
    let other = Connection::open(&path)?;
    run(&mut connection, &put(0..2))?;
    for _ in 0..2 {
        assert!(run(&mut connection, &put(2..60)).is_err(), "there is no room for it");
        assert_eq!((all(&connection)?.len(), all(&other)?.len()), (2, 2));
    }
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))?;
    run(&mut connection, &put(2..4))?;
    assert_eq!(all(&other)?.len(), 4);
    assert_eq!([soundness(&connection)?, soundness(&other)?], ["ok", "ok"]);
    Ok(())
}
