//! One of the databases, and whether it answers.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, timeout};
use webhook_core::{
    Error, ErrorKind, NodeId,
    store::{DeliveryStore, Lease},
};

use crate::Storage;

/// How long a database may take to say that it is there, and to extend a lease. What is
/// slower keeps nobody's lease from being extended elsewhere.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);
/// How often one that is away is looked for, as long as somebody asks for it.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A database with the rows of some slots.
///
/// One that does not answer is *away*: what is asked of it fails at once, and not after the
/// time that a connection takes to fail. It is looked for when somebody asks, and comes back
/// with the lease of this node, so that nothing this node holds is another's for the want of it.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) number: u16,
    /// For people, without a password.
    pub(super) name: String,
    pub(super) storage: Storage,
    /// Since it does not answer: when it is looked for again.
    away: Mutex<Option<Instant>>,
    is_looking: AtomicBool,
    /// What this node has everywhere.
    lease: Mutex<Option<Lease>>,
}

impl Shard {
    pub(super) fn new(number: u16, name: String, storage: Storage) -> Arc<Self> {
        let (away, lease) = (Mutex::default(), Mutex::default());
        Arc::new(Self { number, name, storage, away, is_looking: AtomicBool::new(false), lease })
    }

    /// Asks this database, unless it is away.
    pub(super) async fn ask<T>(
        self: &Arc<Self>,
        question: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        self.expect_there()?;
        let answer = question.await;
        if answer.as_ref().is_err_and(|error| error.kind() == ErrorKind::Unavailable) {
            self.look();
        }
        answer
    }

    /// Whether it did not answer when it was last looked for.
    pub(super) fn is_away(&self) -> bool {
        self.away().is_some()
    }

    fn away(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lease(&self) -> std::sync::MutexGuard<'_, Option<Lease>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn expect_there(self: &Arc<Self>) -> Result<(), Error> {
        let Some(again) = *self.away() else { return Ok(()) };
        if again <= Instant::now() {
            self.look();
        }
        Err(Error::unavailable(format!("shard {} does not answer", self.number), LOOK_AGAIN))
    }

    /// Looks whether it is there, beside the one who asks.
    fn look(self: &Arc<Self>) {
        if self.is_looking.swap(true, Ordering::AcqRel) {
            return;
        }
        let shard = Arc::clone(self);
        tokio::spawn(async move {
            let found = timeout(ANSWERS_WITHIN, shard.come_back()).await;
            let is_there = matches!(found, Ok(Ok(())));
            let was_away = {
                let mut away = shard.away();
                let next = (!is_there).then(|| Instant::now() + LOOK_AGAIN);
                std::mem::replace(&mut *away, next).is_some()
            };
            match (was_away, is_there) {
                (false, false) => tracing::error!(shard = shard.number, "does not answer"),
                (true, true) => tracing::info!(shard = shard.number, "answers again"),
                _ => {}
            }
            shard.is_looking.store(false, Ordering::Release);
        });
    }

    async fn come_back(&self) -> Result<(), Error> {
        self.storage.ping().await?;
        let lease = *self.lease();
        match lease {
            Some(lease) if self.is_away() => self.take(lease).await,
            _ => Ok(()),
        }
    }

    /// Extends the lease that this node was given by the control database. While this
    /// database is away, that is kept for when it comes back.
    pub(super) async fn extend(self: &Arc<Self>, lease: Lease) {
        *self.lease() = Some(lease);
        if self.expect_there().is_err() {
            return;
        }
        match timeout(ANSWERS_WITHIN, self.take(lease)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(shard = self.number, %error, "the lease is not extended there");
                self.look();
            }
            Err(_) => self.look(),
        }
    }

    /// A lease of another incarnation is one that the node could not end here at its own end:
    /// the control database has said whose the name is.
    async fn take(&self, lease: Lease) -> Result<(), Error> {
        let extended = self.storage.extend_lease(lease).await?;
        if extended.taken_until.is_some() {
            self.storage.release(lease.node, None).await?;
            self.storage.extend_lease(lease).await?;
        }
        Ok(())
    }

    /// Frees what the node holds here and ends its lease.
    pub(super) async fn release(self: &Arc<Self>, node: NodeId) -> Result<(), Error> {
        *self.lease() = None;
        self.ask(self.storage.release(node, None)).await
    }
}
