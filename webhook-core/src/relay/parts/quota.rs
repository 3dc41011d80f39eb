//! How many webhooks accounts may receive.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;

use crate::{error::Error, id::AccountId};

/// Limits the webhooks that accounts receive.
#[async_trait]
pub(crate) trait Quota: Send + Sync + fmt::Debug {
    /// Lets one webhook of the account through by a count in memory. None when the store has to
    /// be asked.
    fn admit_by_memory(&self, account: AccountId) -> Option<Result<Ticket, Error>>;

    /// The same by a count that is read from the store.
    async fn admit_by_store(self: Arc<Self>, account: AccountId) -> Result<Ticket, Error>;

    /// Whether other servers are to be told that the account has used all: once.
    fn is_used_up(&self, account: AccountId) -> bool;

    /// The account has another plan now, or has used all, as another server says.
    fn plan_changed(&self, account: AccountId);
}

impl dyn Quota {
    /// Lets one webhook of the account through. The store is asked rarely, so that most webhooks
    /// pay for no future in a box.
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::ErrorKind::Busy) when the account has used all its webhooks; the error of
    /// the store that counts them.
    pub(crate) async fn admit(self: &Arc<Self>, account: AccountId) -> Result<Ticket, Error> {
        match self.admit_by_memory(account) {
            Some(admitted) => admitted,
            None => Arc::clone(self).admit_by_store(account).await,
        }
    }
}

/// One webhook that was let through: the count that it is in. Unless it is [used](Self::used), it
/// is given back when this is dropped. Without a limit there is nothing to give back.
#[derive(Debug, Default)]
pub(crate) struct Ticket(pub(crate) Option<Arc<AtomicU64>>);

impl Ticket {
    /// The webhook has been stored.
    pub(crate) fn used(mut self) {
        self.0 = None;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
