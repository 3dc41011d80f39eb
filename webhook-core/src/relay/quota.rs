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
    /// Lets one webhook of the account through.
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::ErrorKind::Busy) when the account has used all its webhooks; the error of
    /// the store that counts them.
    async fn admit(self: Arc<Self>, account: AccountId) -> Result<Ticket, Error>;

    /// Whether other servers are to be told that the account has used all: once.
    fn is_used_up(&self, account: AccountId) -> bool;

    /// The account has another plan now, or has used all, as another server says.
    fn plan_changed(&self, account: AccountId);
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
