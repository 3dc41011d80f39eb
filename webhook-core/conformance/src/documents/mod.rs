//! Cases for [`DocumentStore`](webhook_core::store::DocumentStore), by what they are about.

pub mod arbitrary;
pub mod bounds;
pub mod names;
pub mod pages;
pub mod state;
pub mod together;
pub mod uses;
pub mod versions;
pub mod writers;

use webhook_core::{
    AccountId, CronId, DomainId,
    model::{Bucket, Cron, CronSpec, Domain, DomainSpec},
    store::{
        ApplyError, BucketStore as _, Change, Document, DocumentKind, Find, Page, Refusal, Stores,
    },
};

use super::sample::{NOW, bucket, notification};

/// Why nothing was changed; none when all was.
async fn refusal(stores: &Stores, changes: &[Change]) -> Option<Refusal> {
    match stores.documents.apply(changes).await {
        Ok(()) => None,
        Err(ApplyError::Refused(refusal)) => Some(refusal),
        Err(ApplyError::Failed(error)) => panic!("the store failed: {error:?}"),
    }
}

/// The refusal of changes that no other change makes stale. When two transactions block each
/// other, a store answers `Stale`, and this makes the same changes again.
async fn settled(stores: &Stores, changes: &[Change]) -> Option<Refusal> {
    loop {
        match refusal(stores, changes).await {
            Some(Refusal::Stale) => {}
            done => return done,
        }
    }
}

async fn stored_bucket(stores: &Stores, account: AccountId, name: &str) -> Bucket {
    let bucket = bucket(account, name);
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    bucket
}

fn domain(account_id: AccountId, name: &str) -> Domain {
    let (id, spec) = (DomainId::generate(), DomainSpec::new(name));
    Domain { id, account_id, version: 1, created_at: NOW, updated_at: NOW, spec }
}

/// A cron in a bucket that has an input and an output.
fn cron(bucket: &Bucket) -> Cron {
    Cron {
        id: CronId::generate(),
        account_id: bucket.account_id,
        version: 1,
        created_at: NOW,
        updated_at: NOW,
        next_run: None,
        bucket_id: bucket.id,
        input_id: bucket.inputs[0].id,
        output_id: bucket.outputs[0].id,
        spec: CronSpec::new("@daily", "https://example.com/"),
    }
}

/// All documents of an account, with their states.
async fn all(stores: &Stores, account: AccountId) -> Vec<Document> {
    let mut all = Vec::new();
    for kind in DocumentKind::ALL {
        let found = stores.documents.find(Find::OfAccount(account, kind, Page::ALL)).await;
        all.extend(found.expect("documents can be read"));
    }
    all
}

/// How many documents of each kind an account has, in the order of kinds.
async fn counts(stores: &Stores, account: AccountId) -> Vec<(DocumentKind, u64)> {
    let mut counts = stores.documents.counts(account).await.expect("documents can be counted");
    counts.sort_unstable();
    counts
}
