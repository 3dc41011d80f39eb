//! The server's own store.

use std::path::Path;

use webhook_core::store::{Accept, DeliveryStore, Settle};
use webhook_storage::Storage;

use super::Commit;
use crate::{Outcome, seed};

pub(super) struct Store(Storage);

impl Store {
    pub(super) async fn open(folder: &Path) -> Outcome<Self> {
        Ok(Self(seed::open(folder).await?))
    }
}

impl Commit for Store {
    async fn commit(&self, accept: Accept) -> Outcome<()> {
        self.0.accept(accept).await?;
        Ok(())
    }

    async fn settle(&self, settle: Settle) -> Outcome<()> {
        Ok(self.0.settle(settle).await?)
    }
}
