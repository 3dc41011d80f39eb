//! Cases for [`BucketStore`](webhook_core::store::BucketStore), by what they are about.

pub mod change;
pub mod create;

use webhook_core::store::BucketStore as _;
use webhook_core::{
    AccountId, BucketId,
    model::Bucket,
    store::{Find, Stores},
};

use super::sample::bucket;

async fn create(stores: &Stores, bucket: &Bucket) {
    stores.documents.create_bucket(bucket).await.expect("the bucket is new");
}

async fn stored(stores: &Stores, account: AccountId, name: &str) -> Bucket {
    let bucket = bucket(account, name);
    create(stores, &bucket).await;
    bucket
}

async fn read(stores: &Stores, account: AccountId, id: BucketId) -> Option<Bucket> {
    stores.documents.bucket(account, id).await.expect("the bucket can be read")
}

async fn by_name(stores: &Stores, account: AccountId, name: &str) -> Option<Bucket> {
    let named = Find::BucketNamed(account, name.to_owned());
    stores.documents.search_buckets(named).await.expect("the bucket can be looked up").pop()
}

async fn list(stores: &Stores, account: AccountId) -> Vec<Bucket> {
    stores.documents.buckets(account).await.expect("buckets can be listed")
}
