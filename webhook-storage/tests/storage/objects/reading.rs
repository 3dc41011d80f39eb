//! Logs whose bodies are objects.

use std::{sync::Arc, time::Duration};

use webhook_core::{
    AccountId, BucketId, ErrorKind, OutputId,
    store::{DeliveryStore, LogFilter, LogQuery, LogSearch, LogStore, ScanBounds},
};

use super::{Objects, accept_of, body, opened};
use crate::{
    databases::{on_each, open},
    sample::with,
};

const WIDE: ScanBounds = ScanBounds { max_bytes: 1 << 30, max_time: Duration::from_secs(600) };

/// An account and its bucket.
type Place = (AccountId, BucketId);

fn accept_at(
    (account, bucket): Place,
    body: impl Into<bytes::Bytes>,
) -> webhook_core::store::Accept {
    with(accept_of(OutputId::generate(), body.into()), |accept| {
        let webhook = Arc::make_mut(&mut accept.webhook);
        (webhook.account_id, webhook.bucket_id) = (account, bucket);
    })
}

#[tokio::test]
async fn lists_have_bodies_and_sizes() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        let place = (AccountId::generate(), BucketId::generate());
        // More than are read at once.
        let sizes: Vec<_> = (0..20).map(|number| 10 + 50 * number).collect();
        for bytes in &sizes {
            let accept = accept_at(place, body(*bytes));
            storage.accept(accept).await.expect("it is new");
        }
        let page = storage.logs(place.0, &LogQuery::new(50)).await.expect("a page");
        let found: Vec<_> =
            page.logs.iter().rev().map(|log| log.webhook.request.body.len()).collect();
        assert_eq!(found, sizes);
        let gets = objects.state().gets;
        let heads = storage.heads(place.0, &LogQuery::new(50)).await.expect("a page");
        let found: Vec<_> = heads.heads.iter().rev().map(|head| head.body_bytes).collect();
        assert_eq!(found, sizes.iter().map(|bytes| *bytes as u64).collect::<Vec<_>>());
        assert_eq!(objects.state().gets, gets, "sizes are in the rows");
        objects.set_away(true);
        let error = storage.logs(place.0, &LogQuery::new(50)).await.expect_err("it is away");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        storage.heads(place.0, &LogQuery::new(50)).await.expect("a page");
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_is_bounded_by_what_its_objects_have() {
    on_each(async |mut options| {
        options.claim_bytes = 3_500;
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        let place = (AccountId::generate(), BucketId::generate());
        for bytes in [1_000; 5] {
            storage.accept(accept_at(place, body(bytes))).await.expect("it is new");
        }
        let page = storage.logs(place.0, &LogQuery::new(50)).await.expect("a page");
        assert_eq!((page.logs.len(), page.has_more), (2, true));
        // A search that finds more goes on where it was cut.
        let mut search = LogSearch::new(LogQuery::new(50), LogFilter::default(), WIDE);
        let mut found = Vec::new();
        loop {
            let some = storage.search(place.0, &search).await.expect("a search");
            assert!(some.logs.len() <= 3);
            assert!(some.logs.iter().all(|log| log.webhook.request.body.len() == 1_000));
            found.extend(some.logs.iter().map(|log| log.delivery.id));
            if some.complete {
                break;
            }
            search.query.before = some.scanned_until;
        }
        assert_eq!(found.len(), 5);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_search_does_not_look_into_objects() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        let place = (AccountId::generate(), BucketId::generate());
        let large = with(accept_at(place, vec![b'n'; 500]), |accept| {
            let headers = &mut Arc::make_mut(&mut accept.webhook).request.headers;
            headers.insert("x-order", http::HeaderValue::from_static("nnn-4711"));
        });
        storage.accept(large.clone()).await.expect("it is new");
        storage.accept(accept_at(place, vec![b'n'; 50])).await.expect("it is new");
        let search = async |text: &str| {
            let mut filter = LogFilter::default();
            filter.set_text(text).expect("long enough");
            let search = LogSearch::new(LogQuery::new(50), filter, WIDE);
            storage.search(place.0, &search).await.expect("a search").logs
        };
        assert_eq!(search("nnnnn").await.len(), 1, "the small one");
        let found = search("nnn-4711").await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].webhook, *large.webhook, "what is found has its body");
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn without_the_store_a_log_is_not_shown_wrong() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        let place = (AccountId::generate(), BucketId::generate());
        let accept = accept_at(place, body(500));
        storage.accept(accept.clone()).await.expect("it is new");
        storage.close().await;
        let bare = open(&options).await;
        let log = bare.log(place.0, accept.deliveries[0].id).await;
        assert_eq!(log.expect_err("no store").kind(), ErrorKind::Unavailable);
        bare.close().await;
    })
    .await;
}
