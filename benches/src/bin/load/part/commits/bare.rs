//! SQLite without anything around it: one thread takes what queued up during
//! the last commit and commits it together.

use std::{path::Path, sync::mpsc};

use rusqlite::Connection;
use tokio::sync::oneshot;
use webhook_core::store::{Accept, Settle};

use super::Commit;
use crate::Outcome;

/// Events of one commit, as in `StorageOptions`.
const BATCH: usize = 512;
/// Events that wait.
const QUEUE: usize = 8_192;

const SETTINGS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 1000;
    CREATE TABLE webhook (
        id BLOB PRIMARY KEY NOT NULL, bucket_id BLOB NOT NULL, input_id BLOB NOT NULL,
        method TEXT NOT NULL, headers BLOB NOT NULL, received_at INTEGER NOT NULL,
        body BLOB NOT NULL
    );
    CREATE TABLE delivery (
        id BLOB PRIMARY KEY NOT NULL, webhook_id BLOB NOT NULL, output_id BLOB,
        status INTEGER NOT NULL, due_at INTEGER, created_at INTEGER NOT NULL
    );";
const WEBHOOK: &str = "INSERT INTO webhook VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const DELIVERY: &str = "INSERT INTO delivery VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

struct Waiting {
    accept: Accept,
    done: oneshot::Sender<()>,
}

pub(super) struct Bare(mpsc::SyncSender<Waiting>);

impl Bare {
    pub(super) fn open(folder: &Path) -> Outcome<Self> {
        let connection = Connection::open(folder.join("bare.db"))?;
        connection.execute_batch(SETTINGS)?;
        let (sender, queue) = mpsc::sync_channel(QUEUE);
        std::thread::spawn(move || {
            if let Err(error) = write(connection, &queue) {
                eprintln!("rusqlite: {error}");
            }
        });
        Ok(Self(sender))
    }
}

impl Commit for Bare {
    async fn commit(&self, accept: Accept) -> Outcome<()> {
        let (done, committed) = oneshot::channel();
        // There are fewer callers than places in the queue: this never waits.
        self.0.send(Waiting { accept, done })?;
        Ok(committed.await?)
    }

    async fn settle(&self, _: Settle) -> Outcome<()> {
        Err("bare SQLite keeps no outcomes".into())
    }
}

fn write(mut connection: Connection, queue: &mpsc::Receiver<Waiting>) -> rusqlite::Result<()> {
    while let Ok(first) = queue.recv() {
        let batch: Vec<_> =
            std::iter::once(first).chain(queue.try_iter().take(BATCH - 1)).collect();
        let transaction = connection.transaction()?;
        {
            let mut webhook = transaction.prepare_cached(WEBHOOK)?;
            let mut delivery = transaction.prepare_cached(DELIVERY)?;
            for Waiting { accept, .. } in &batch {
                insert(&mut webhook, &mut delivery, accept)?;
            }
        }
        transaction.commit()?;
        for Waiting { done, .. } in batch {
            // Nobody has stopped waiting; if so, it is their business.
            let _ = done.send(());
        }
    }
    Ok(())
}

fn insert(
    webhook: &mut rusqlite::CachedStatement<'_>,
    delivery: &mut rusqlite::CachedStatement<'_>,
    Accept { webhook: row, deliveries, .. }: &Accept,
) -> rusqlite::Result<()> {
    let mut headers = Vec::with_capacity(1 << 10);
    for (name, value) in &row.request.headers {
        for part in [name.as_str().as_bytes(), b"\0", value.as_bytes(), b"\0"] {
            headers.extend_from_slice(part);
        }
    }
    webhook.execute((
        row.id.as_uuid().as_bytes(),
        row.bucket_id.as_uuid().as_bytes(),
        row.input_id.as_uuid().as_bytes(),
        row.request.method.as_str(),
        headers,
        row.received_at.as_millis(),
        &*row.request.body,
    ))?;
    for new in deliveries {
        delivery.execute((
            new.id.as_uuid().as_bytes(),
            row.id.as_uuid().as_bytes(),
            new.output_id.map(|id| id.as_uuid().into_bytes()),
            new.status.as_u8(),
            new.due_at.map(|due| due.as_millis()),
            row.received_at.as_millis(),
        ))?;
    }
    Ok(())
}
