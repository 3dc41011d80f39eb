//! Cases for pages of lists.

use webhook_core::{
    AccountId, BucketId,
    model::{Bucket, Function, Output, Pause, PauseChange, PausedBy},
    store::{BucketStore as _, DocumentKind, Find, Page, StateChange, Stores},
};

use super::stored_bucket;
use crate::sample::{NOW, bucket, change_state, function, input, output};

/// Pages from the beginning, from the middle, at the end, beyond it, and the whole list.
const PAGES: [(usize, usize); 8] =
    [(0, 1), (0, 3), (1, 2), (3, 2), (4, 9), (5, 1), (2, usize::MAX), (0, usize::MAX)];

/// The members of a page of this list.
fn slice<T>(list: &[T], page: Page) -> &[T] {
    let start = page.offset.min(list.len());
    &list[start..start.saturating_add(page.limit).min(list.len())]
}

async fn pause(stores: &Stores, output: &Output, by: PausedBy) {
    let mut pause = Pause::new(NOW, None, "a page".to_owned());
    pause.by = by;
    let pauses = StateChange::Pauses(output.id, PauseChange::Pause(pause));
    change_state(stores, pauses).await.expect("the output is there");
}

/// A page has the members of the list in its order, each whole. Removed documents and documents
/// of another account have no place.
pub async fn a_page_is_a_part_of_the_list(stores: &Stores) {
    let (account, documents) = (AccountId::generate(), &stores.documents);
    stored_bucket(stores, AccountId::generate(), "another account's").await;
    let gone = stored_bucket(stores, account, "gone").await;
    for number in 0..5 {
        let mut made = bucket(account, &format!("bucket {number}"));
        made.inputs.extend([input(made.id, "a"), input(made.id, "b")]);
        made.outputs.push(output(made.id, "o"));
        documents.create_bucket(&made).await.expect("the bucket is new");
        for by in [PausedBy::Caller, PausedBy::Failing] {
            pause(stores, &made.outputs[0], by).await;
        }
        let function = function(account, "the same name");
        documents.create(account, &function).await.expect("the function is new");
    }
    documents.delete_bucket(account, gone.id).await.expect("the bucket is there");

    let buckets = documents.buckets(account).await.expect("buckets can be listed");
    let functions = documents.list::<Function>(account).await.expect("functions can be listed");
    let outputs = documents.list::<Output>(account).await.expect("outputs can be listed");
    assert_eq!((buckets.len(), functions.len(), outputs.len()), (5, 5, 5));
    assert!(buckets.iter().all(|bucket| bucket.inputs.len() == 2));
    assert!(outputs.iter().all(|output| output.pauses.all().len() == 2));
    for page in PAGES.map(|(offset, limit)| Page { offset, limit }) {
        let found = documents.search_buckets(Find::Buckets(account, page)).await;
        assert_eq!(found.expect("readable"), slice(&buckets, page), "{page:?}");
        let found = Find::OfAccount(account, DocumentKind::Function, page);
        let found = documents.search::<Function>(found).await;
        assert_eq!(found.expect("readable"), slice(&functions, page), "{page:?}");
        let found = Find::OfAccount(account, DocumentKind::Output, page);
        let found = documents.search::<Output>(found).await;
        assert_eq!(found.expect("readable"), slice(&outputs, page), "{page:?}");
    }
}

/// Buckets that are asked for by their identifiers are whole.
pub async fn these_buckets_are_whole(stores: &Stores) {
    let (account, documents) = (AccountId::generate(), &stores.documents);
    let mut wanted: Vec<Bucket> = Vec::new();
    for number in 0..3 {
        let mut made = bucket(account, &format!("bucket {number}"));
        made.inputs.push(input(made.id, "in"));
        made.outputs.push(output(made.id, "out"));
        documents.create_bucket(&made).await.expect("the bucket is new");
        wanted.push(made);
    }
    let other = wanted.remove(1);
    let ids =
        wanted.iter().map(|bucket| bucket.id.as_uuid()).chain([BucketId::generate().as_uuid()]);
    let found = Find::These(DocumentKind::Bucket, ids.collect());
    let found = documents.search_buckets(found).await.expect("buckets can be read");
    wanted.sort_unstable_by_key(|bucket| bucket.id);
    assert_eq!(found, wanted);
    assert!(found.iter().all(|bucket| bucket.id != other.id));
    let none = Find::These(DocumentKind::Bucket, Vec::new());
    assert_eq!(documents.search_buckets(none).await.expect("buckets can be read"), []);
}
