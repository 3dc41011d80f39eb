use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, BucketId, DeliveryId, InputId, OutputId, Timestamp, WebhookId,
    model::{Request, Webhook},
    store::{Accept, NewDelivery},
};

use super::*;
use crate::{
    SecretKey, Storage,
    documents::cancel,
    fault::DatabaseError,
    tx::{Param, Read, with},
};

pub(crate) type Tested = Result<(), Box<dyn std::error::Error>>;

pub(crate) fn options_in(folder: &tempfile::TempDir) -> Result<StorageOptions, Error> {
    let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
    Ok(StorageOptions::new(url.parse()?, SecretKey::generate()?))
}

pub(crate) async fn storage_in(folder: &tempfile::TempDir) -> Result<Storage, Error> {
    Storage::connect(&options_in(folder)?).await
}

/// How often the bytes are in the files of the folder.
pub(crate) fn found_in(folder: &tempfile::TempDir, bytes: &[u8]) -> std::io::Result<usize> {
    let mut found = 0;
    for file in std::fs::read_dir(folder)? {
        let content = std::fs::read(file?.path())?;
        found += content.windows(bytes.len()).filter(|some| *some == bytes).count();
    }
    Ok(found)
}

/// The same, changed.
pub(crate) fn changed<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

pub(crate) fn accept(body_bytes: usize) -> Accept {
    let request = Request::new(Method::POST, HeaderMap::new(), Bytes::from(vec![1; body_bytes]));
    let place = (AccountId::generate(), BucketId::generate(), InputId::generate());
    let webhook = Webhook::new(WebhookId::generate(), place, request, Timestamp::default());
    let delivery = NewDelivery::new(
        DeliveryId::generate(),
        Some(OutputId::generate()),
        Some(Timestamp::default()),
    );
    Accept::new(Arc::new(webhook), vec![delivery])
}

/// How SQLite runs `sql`.
async fn plan(storage: &Storage, sql: &str) -> Result<String, DatabaseError> {
    let values = sql.matches('?').map(|_| Param::from(1_i64));
    let explain = with(format!("EXPLAIN QUERY PLAN {sql}"), values);
    let details = storage.database().read.query(explain, |row| row.get::<String>("detail"));
    Ok(details.await?.join("\n"))
}

#[tokio::test]
async fn queries_of_the_queue_use_its_indexes() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    let queries = [
        (ops::by_due(), "delivery_free_by_due"),
        (ops::by_receipt(), "delivery_free_by_receipt"),
        (ops::NEXT_DUE.to_owned(), "delivery_free_by_due"),
        (lease::lapsed_sql(), "delivery_held"),
        (ops::TRIM.to_owned(), "execution_of_function"),
        (lease::free_sql("held_by = ?"), "delivery_held"),
        (ops::SETTLE.sqlite.clone(), "sqlite_autoindex_delivery"),
    ];
    let waiting = cancel::WAITING.into_iter().map(cancel::waiting_sql);
    let waiting = waiting.zip([
        "delivery_free_by_due",
        "delivery_waiting",
        "delivery_ended",
        "delivery_held",
    ]);
    for (sql, index) in queries.into_iter().chain(waiting) {
        let plan = plan(&storage, &sql).await?;
        assert!(plan.contains(index), "{sql}\n{plan}");
        assert!(!plan.contains("SCAN d"), "no table is read whole: {sql}\n{plan}");
        assert!(!plan.contains("SORT") && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
    }
    let plan = plan(&storage, &lease::backlogs_sql()).await?;
    for index in ["USING COVERING INDEX delivery_free_by_due", "delivery_held"] {
        assert!(plan.contains(index), "{plan}");
    }
    storage.close().await;
    Ok(())
}
