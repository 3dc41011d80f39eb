//! Where everything is kept: one database, or one with its shards.

use webhook_core::{Error, store::Stores};
use webhook_storage::{DatabaseUrl, ShardedStorage, Storage, StorageOptions};

/// What was opened.
#[derive(Clone, Debug)]
pub(crate) enum Opened {
    One(Storage),
    Sharded(ShardedStorage),
}

impl Opened {
    /// Opens the database, and its shards if there are any.
    pub(crate) async fn connect(
        options: &StorageOptions,
        shards: &[DatabaseUrl],
    ) -> Result<Self, Error> {
        match shards {
            [] => Storage::connect(options).await.map(Self::One),
            shards => ShardedStorage::connect(options, shards).await.map(Self::Sharded),
        }
    }

    pub(crate) fn stores(&self) -> Stores {
        match self {
            Self::One(storage) => Stores::of(storage.clone()),
            Self::Sharded(storage) => storage.stores(),
        }
    }

    /// The database that has the configuration. Whether webhooks can be stored is asked of it
    /// alone: a shard that is away is no reason to send nothing to this server.
    pub(crate) fn control(&self) -> &Storage {
        match self {
            Self::One(storage) => storage,
            Self::Sharded(storage) => storage.control(),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::One(storage) => storage.close().await,
            Self::Sharded(storage) => storage.close().await,
        }
    }
}
