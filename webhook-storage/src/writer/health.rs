//! Whether webhooks can be stored, known without a statement on their way.
//!
//! What became of the last ones tells; where there were none of late, or the last
//! ones were refused, whoever asks has a small write tried.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::sync::Mutex;
use webhook_core::{Error, ErrorKind, WebhookId, store::Accepted};

use crate::{
    database::Database,
    entity::meta,
    fault::{self, DatabaseError},
    tx::{self, Begin, Commit, Tx},
};

/// How long a webhook that was stored proves that the next one can be.
const PROVEN_FOR: Duration = Duration::from_secs(10);

/// How much time lies between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// What a try writes: about as much as a small webhook adds to a log with all
/// of its pages, so that it does not fit where that does not.
const TRIED_BYTES: usize = 64 << 10;

/// What a webhook writes to. Inserting no row asks whether inserting is allowed.
const TABLES: [&str; 3] = ["webhook", "delivery", "tally"];

const NAME: &str = "write_check";

/// What is known, and the last try.
#[derive(Debug)]
pub(super) struct Health {
    known: Arc<Known>,
    tried: Arc<Mutex<Option<Tried>>>,
}

#[derive(Debug)]
struct Known {
    opened: Instant,
    /// When the last write went well, in milliseconds after `opened`; 0 for never.
    stored_at: AtomicU64,
    /// The last webhooks were refused.
    refusing: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Tried {
    at: Instant,
    failed: bool,
}

impl Health {
    pub(super) fn new() -> Self {
        let known = Known {
            opened: Instant::now(),
            stored_at: AtomicU64::new(0),
            refusing: AtomicBool::new(false),
        };
        Self { known: Arc::new(known), tried: Arc::default() }
    }

    /// Notes what became of the webhooks of a batch: they are what the store is asked about.
    pub(super) fn note(&self, accepted: &[Result<Accepted, Error>]) {
        if accepted.iter().any(Result::is_ok) {
            return self.known.stored(Instant::now());
        }
        let is_refused =
            |error: &Error| matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Internal);
        if accepted.iter().filter_map(|accepted| accepted.as_ref().err()).any(is_refused) {
            self.known.refusing.store(true, Relaxed);
        }
    }

    /// Fails when webhooks cannot be stored. Tries a write when nothing tells, at
    /// most once in [`PAUSE`], and only the error of who did has a cause.
    pub(super) async fn check(&self, database: &Database) -> Result<(), Error> {
        if self.known.is_proven(Instant::now()) {
            return Ok(());
        }
        let mut tried = Arc::clone(&self.tried).lock_owned().await;
        let now = Instant::now();
        if self.known.is_proven(now) {
            return Ok(());
        }
        if let Some(Tried { at, failed }) = *tried
            && now.duration_since(at) < PAUSE
        {
            let fails = failed || self.known.refusing.load(Relaxed);
            return if fails { Err(unavailable()) } else { Ok(()) };
        }
        let (database, known) = (database.clone(), Arc::clone(&self.known));
        // Who asks may go away; the next one does not try beside it.
        let trying = tokio::spawn(async move {
            let outcome = write(&database).await;
            *tried = Some(Tried { at: Instant::now(), failed: outcome.is_err() });
            match outcome {
                Ok(()) => {
                    known.stored(Instant::now());
                    Ok(())
                }
                Err(error) => Err(unavailable().caused_by(fault::error(error, "database"))),
            }
        });
        trying.await.unwrap_or_else(|error| Err(Error::internal(error)))
    }
}

impl Known {
    fn stored(&self, now: Instant) {
        let millis = now.duration_since(self.opened).as_millis().max(1);
        self.stored_at.store(u64::try_from(millis).unwrap_or(u64::MAX), Relaxed);
        self.refusing.store(false, Relaxed);
    }

    fn is_proven(&self, now: Instant) -> bool {
        let stored_at = self.stored_at.load(Relaxed);
        let age = now.duration_since(self.opened).saturating_sub(Duration::from_millis(stored_at));
        stored_at > 0 && age < PROVEN_FOR && !self.refusing.load(Relaxed)
    }
}

fn unavailable() -> Error {
    Error::unavailable("the database takes no webhooks", PAUSE)
}

async fn write(database: &Database) -> Result<(), DatabaseError> {
    let transaction = database.begin_writing().await?;
    let written = insert(transaction.tx()).await;
    tx::end(transaction, written).await
}

async fn insert(tx: &impl Tx) -> Result<(), DatabaseError> {
    for table in TABLES {
        tx.run(&format!("INSERT INTO {table} SELECT * FROM {table} WHERE 1 = 0")).await?;
    }
    // SQLite writes no page that stays as it was.
    let unlike_the_last = WebhookId::generate().as_uuid().into_bytes();
    let value = unlike_the_last.repeat(TRIED_BYTES / unlike_the_last.len());
    meta::set(tx, NAME, value).await
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use sea_orm::ConnectionTrait;

    use super::*;
    use crate::writer::tests::{Tested, accept, storage_in};

    fn refused(health: &Health) {
        health.note(&[Err(Error::unavailable("the disk is full", PAUSE))]);
    }

    #[tokio::test]
    async fn the_last_webhooks_tell_and_a_try_when_they_do_not() -> Tested {
        let folder = tempfile::tempdir()?;
        let storage = storage_in(&folder).await?;
        let (database, health) = (storage.database(), Health::new());
        let read_only = async |on: &str| {
            database.write.execute_unprepared(&format!("PRAGMA query_only = {on}")).await
        };
        read_only("ON").await?;
        let error = health.check(database).await.expect_err("nothing can be written");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        let told = std::error::Error::source(&error).ok_or("it says why")?;
        assert!(std::error::Error::source(told).is_some(), "{told}");
        read_only("OFF").await?;
        let error = health.check(database).await.expect_err("not tried again at once");
        assert!(std::error::Error::source(&error).is_none(), "and said once");

        let health = Health::new();
        health.check(database).await?;
        read_only("ON").await?;
        health.check(database).await?;
        assert!(health.known.is_proven(Instant::now()), "the try proves it for a while");
        // What is known of is as old as the millisecond in which it was.
        let later = PROVEN_FOR + Duration::from_millis(1);
        assert!(!health.known.is_proven(Instant::now() + later));
        refused(&health);
        assert!(health.check(database).await.is_err(), "what was refused tells otherwise");
        *health.tried.lock().await = None;
        assert!(health.check(database).await.is_err());
        read_only("OFF").await?;
        *health.tried.lock().await = None;
        health.check(database).await?;

        refused(&health);
        let conflict = || Err(Error::conflict("a delivery with this id exists"));
        health.note(&[conflict()]);
        assert!(!health.known.is_proven(Instant::now()));
        health.note(&[conflict(), Ok(Accepted::Stored)]);
        assert!(health.known.is_proven(Instant::now()));
        storage.close().await;
        Ok(())
    }

    #[tokio::test]
    async fn a_stored_webhook_proves_it_without_a_try() -> Tested {
        let folder = tempfile::tempdir()?;
        let storage = storage_in(&folder).await?;
        webhook_core::store::DeliveryStore::accept(&storage, accept(10)).await?;
        storage.database().write.execute_unprepared("PRAGMA query_only = ON").await?;
        storage.check().await?;
        storage.close().await;
        Ok(())
    }
}
