//! Several databases as one store.

mod away;
mod leftovers;
mod listing;
mod moving;
mod opening;

use std::{future::Future, pin::Pin, sync::Arc};

use webhook_core::{
    AccountId, BucketId, NodeId, Timestamp,
    model::Webhook,
    store::{Accept, DeliveryStore, Lease, LogQuery, LogStore, NewDelivery},
};
use webhook_storage::{ShardedStorage, StorageOptions, slot_of};

use crate::{
    databases::{self, Tested},
    sample::{NOW, webhook, with},
};

/// Two shards on SQLite and a control database in a folder that goes with it.
struct OnSqlite {
    folder: tempfile::TempDir,
    storage: ShardedStorage,
}

impl OnSqlite {
    async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = connect(folder.path(), &["one.db", "two.db"]).await.expect("they open");
        Self { folder, storage }
    }
}

async fn connect(
    folder: &std::path::Path,
    shards: &[&str],
) -> Result<ShardedStorage, webhook_core::Error> {
    let shards: Vec<_> = shards.iter().map(|name| databases::file(folder, name)).collect();
    ShardedStorage::connect(&databases::sqlite(folder), &shards).await
}

type Removal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// So many databases of PostgreSQL, and what removes them.
async fn on_postgres(count: usize) -> Option<(Vec<StorageOptions>, Vec<Removal>)> {
    let (mut all, mut removals) = (Vec::new(), Vec::<Removal>::new());
    for _ in 0..count {
        let (options, remove) = databases::postgres().await?;
        all.push(options);
        removals.push(Box::pin(remove));
    }
    Some((all, removals))
}

/// A new bucket that is in this shard now.
async fn bucket_in(storage: &ShardedStorage, shard: u16) -> BucketId {
    let shards = storage.shards().await.expect("they are known");
    let shard = shards.iter().find(|known| known.number == shard).expect("it is there");
    loop {
        let bucket = BucketId::generate();
        if shard.slots.binary_search(&slot_of(bucket)).is_ok() {
            return bucket;
        }
    }
}

fn webhook_in(account_id: AccountId, bucket_id: BucketId, received_at: Timestamp) -> Webhook {
    Webhook { account_id, bucket_id, received_at, ..webhook("body") }
}

fn accept_of(webhook: &Webhook, delivery: &NewDelivery) -> Accept {
    Accept::new(Arc::new(webhook.clone()), vec![delivery.clone()])
}

async fn total(storage: &ShardedStorage, account: AccountId) -> u64 {
    storage.logs(account, &LogQuery::new(1)).await.expect("they can be listed").total
}

/// A node that is alive for a day.
async fn node(storage: &ShardedStorage) -> NodeId {
    let node = NodeId::generate();
    let until = NOW + std::time::Duration::from_secs(86_400);
    storage.extend_lease(Lease::new(node, 1, until)).await.expect("it is alive");
    node
}
