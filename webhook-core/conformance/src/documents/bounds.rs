//! Cases for bounds on the number of documents.

use webhook_core::{
    AccountId, BucketId,
    model::{Bucket, Function},
    store::{Bounds, BucketStore as _, Change, DocumentKind, OutputStore as _, Refusal, Stores},
};

use super::{counts, settled, stored_bucket};
use crate::sample::{bucket, function, output, race};

const BOUNDS: Bounds = Bounds { in_bucket: 3, in_account: 5 };

/// Makes `count` documents concurrently.
async fn make(
    stores: &Stores,
    count: usize,
    document: impl Fn(usize) -> Change,
) -> Vec<Option<Refusal>> {
    race(count, |number| {
        let (stores, change) = (stores.clone(), document(number));
        async move { settled(&stores, &[change]).await }
    })
    .await
}

/// Makes eight outputs in a bucket concurrently.
async fn make_outputs(stores: &Stores, account: AccountId, id: BucketId) -> Vec<Option<Refusal>> {
    let create = |_| Change::create(account, &output(id, ""), BOUNDS).expect("a document");
    make(stores, 8, create).await
}

fn count(made: &[Option<Refusal>], what: Option<Refusal>) -> usize {
    made.iter().filter(|it| **it == what).count()
}

async fn read(stores: &Stores, bucket: &Bucket) -> Bucket {
    let read = stores.documents.bucket(bucket.account_id, bucket.id).await;
    read.expect("the bucket can be read").expect("it is there")
}

async fn outputs(stores: &Stores, account: AccountId) -> u64 {
    let counts = counts(stores, account).await;
    counts.iter().find(|it| it.0 == DocumentKind::Output).map_or(0, |it| it.1)
}

/// Concurrent creations fill the bound exactly, and a removal makes room.
pub async fn counts_hold_bounds_exactly(stores: &Stores) {
    let account = AccountId::generate();
    let one = stored_bucket(stores, account, "one").await;
    let other = stored_bucket(stores, account, "other").await;
    let made = make_outputs(stores, account, one.id).await;
    let full = Some(Refusal::BucketFull(DocumentKind::Output));
    assert_eq!((count(&made, None), count(&made, full)), (3, 5), "{made:?}");
    let made = make_outputs(stores, account, other.id).await;
    let full = Some(Refusal::AccountFull(DocumentKind::Output));
    assert_eq!((count(&made, None), count(&made, full)), (2, 6), "{made:?}");
    assert_eq!(outputs(stores, account).await, 5);

    let gone = read(stores, &one).await.outputs[0].id;
    stores.documents.delete_output(account, gone).await.expect("the output is there");
    assert_eq!(outputs(stores, account).await, 4);
    let made = make_outputs(stores, account, other.id).await;
    assert_eq!(count(&made, None), 1, "a removal makes room: {made:?}");
    stores.documents.delete_bucket(account, other.id).await.expect("the bucket is there");
    assert_eq!(outputs(stores, account).await, 2, "what is in a bucket goes with it");
    let made = make_outputs(stores, account, one.id).await;
    assert_eq!(count(&made, None), 1, "{made:?}");
    assert_eq!(outputs(stores, account).await, 3);

    stores.documents.delete_bucket(account, one.id).await.expect("the bucket is there");
    assert_eq!(counts(stores, account).await, []);
}

/// Concurrent creations in several buckets keep the bound of each bucket and that of the account.
pub async fn bounds_hold_over_buckets_at_once(stores: &Stores) {
    let (account, another) = (AccountId::generate(), AccountId::generate());
    let buckets = [
        stored_bucket(stores, account, "a").await,
        stored_bucket(stores, account, "b").await,
        stored_bucket(stores, account, "c").await,
    ];
    let theirs = stored_bucket(stores, another, "a").await;
    let made = make(stores, 16, |number| {
        let (account, id) = match buckets.get(number % 4) {
            Some(bucket) => (account, bucket.id),
            None => (another, theirs.id),
        };
        Change::create(account, &output(id, ""), BOUNDS).expect("a document")
    });
    let made = made.await;
    assert_eq!(count(&made, None), 5 + 3, "{made:?}");
    assert_eq!((outputs(stores, account).await, outputs(stores, another).await), (5, 3));
    for bucket in &buckets {
        assert!(read(stores, bucket).await.outputs.len() <= 3);
    }
    assert_eq!(read(stores, &theirs).await.outputs.len(), 3);
}

/// Only inputs and outputs are counted in their bucket, too.
pub async fn other_kinds_are_bounded_by_account(stores: &Stores) {
    let account = AccountId::generate();
    let bounds = Bounds { in_bucket: 0, in_account: 4 };
    let create = |_| Change::create(account, &function(account, ""), bounds).expect("a document");
    let made = make(stores, 8, create).await;
    let full = Some(Refusal::AccountFull(DocumentKind::Function));
    assert_eq!((count(&made, None), count(&made, full)), (4, 4), "{made:?}");
    let create = |number: usize| {
        let bucket = bucket(account, &number.to_string());
        Change::create(account, &bucket, bounds).expect("a document")
    };
    let made = make(stores, 8, create).await;
    let full = Some(Refusal::AccountFull(DocumentKind::Bucket));
    assert_eq!((count(&made, None), count(&made, full)), (4, 4), "{made:?}");
    let expected = [(DocumentKind::Bucket, 4), (DocumentKind::Function, 4)];
    assert_eq!(counts(stores, account).await, expected);

    let functions = stores.documents.list::<Function>(account).await.expect("readable");
    let gone = functions[0].id.as_uuid();
    stores.documents.delete::<Function>(account, gone).await.expect("it is there");
    let create = |_| Change::create(account, &function(account, ""), bounds).expect("a document");
    assert_eq!(count(&make(stores, 4, create).await, None), 1, "a removal makes room");
}
