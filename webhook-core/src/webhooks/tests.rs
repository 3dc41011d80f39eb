use std::{sync::Arc, time::Duration};

use http::StatusCode;
use http_body_util::Full;
use tower_service::Service;

use crate::{
    Error, ErrorKind, Timestamp, TokioClock, Webhooks,
    admin::Caller,
    clock::Random,
    forward::ScriptedForwarder,
    model::{Bucket, BucketSpec, OutputSpec},
    store::{LogQuery, Stores, memory::MemoryStore},
};

const START: Timestamp = Timestamp::from_secs(1_700_000_000);

/// Counts up, so that each run of a test makes the same identifiers.
#[derive(Debug, Default)]
struct Counted(std::sync::atomic::AtomicU64);

impl Random for Counted {
    fn bits(&self) -> u128 {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed).into()
    }
}

/// A bucket with one output, made through the management.
async fn orders(webhooks: &Webhooks) -> Result<(Caller, Bucket), Error> {
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let spec = BucketSpec { name: "orders".to_owned(), ..BucketSpec::default() };
    let bucket = admin.create_bucket(&me, spec).await?;
    let (name, destination) = ("shop".to_owned(), "https://example.com/".to_owned());
    let spec = OutputSpec { name, destination, ..OutputSpec::default() };
    admin.create_output(&me, bucket.id, spec).await?;
    Ok((me, bucket))
}

async fn post(webhooks: &Webhooks, bucket: &Bucket) -> StatusCode {
    let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id));
    let request = request.body(Full::from("{}")).expect("a request");
    webhooks.ingest().call(request).await.expect("infallible").status()
}

#[tokio::test(start_paused = true)]
async fn the_relay_hears_of_what_the_management_changes() -> Result<(), Error> {
    let forwarder = ScriptedForwarder::new();
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
        .forwarder(forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .build();
    let (me, bucket) = orders(&webhooks).await?;
    assert_eq!(post(&webhooks, &bucket).await, StatusCode::OK);
    webhooks.run_until_idle().await?;
    assert_eq!(forwarder.requests().len(), 1);

    // The relay has the bucket in its cache by now.
    webhooks.admin().delete_bucket(&me, bucket.id, true).await?;
    assert_eq!(post(&webhooks, &bucket).await, StatusCode::NOT_FOUND);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_a_forwarder_webhooks_are_received_and_nothing_runs() -> Result<(), Error> {
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default())).build();
    let (_, bucket) = orders(&webhooks).await?;
    assert_eq!(post(&webhooks, &bucket).await, StatusCode::OK);
    for ended in [webhooks.run(async {}).await, webhooks.run_until_idle().await] {
        assert_eq!(ended.expect_err("nobody could send").kind(), ErrorKind::Unsupported);
    }
    Ok(())
}

/// The identifiers of what a fresh relay has received, with the moments of receipt.
async fn received() -> Result<Vec<(crate::WebhookId, Timestamp)>, Error> {
    let stores = Stores::of(MemoryStore::default());
    let webhooks = Webhooks::builder(stores.clone())
        .forwarder(ScriptedForwarder::new())
        .clock(TokioClock::starting_at(START))
        .random(Counted::default())
        .build();
    let (me, bucket) = orders(&webhooks).await?;
    for pause in [0, 0, 1, 999, 86_400_000] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        assert_eq!(post(&webhooks, &bucket).await, StatusCode::OK);
    }
    let query = LogQuery { limit: 100, ..LogQuery::default() };
    let mut logs = stores.logs.logs(me.account_id(), &query).await?.logs;
    logs.reverse();
    Ok(logs.into_iter().map(|log| (log.webhook.id, log.webhook.received_at)).collect())
}

#[tokio::test(start_paused = true)]
async fn identifiers_are_in_the_order_of_receipt_and_carry_its_moment() -> Result<(), Error> {
    let webhooks = received().await?;
    assert_eq!(webhooks.len(), 5);
    assert!(webhooks.is_sorted(), "{webhooks:?}");
    for (id, received_at) in webhooks {
        let (secs, nanos) = id.as_uuid().get_timestamp().expect("it has one").to_unix();
        assert_eq!(Timestamp::default() + Duration::new(secs, nanos), received_at);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_same_clock_and_bits_make_the_same_identifiers() -> Result<(), Error> {
    assert_eq!(received().await?, received().await?);
    Ok(())
}

#[tokio::test]
async fn a_clone_is_a_handle_on_the_same() {
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default())).build();
    assert!(Arc::ptr_eq(webhooks.admin(), webhooks.clone().admin()));
}
