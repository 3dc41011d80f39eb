use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderMap, Method};
use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use webhook_core::{
    AccountId, BucketId, DeliveryId, ErrorKind, InputId, OutputId, Timestamp, WebhookId,
    model::{DeliveryStatus, Request, Webhook},
    store::{DeliveryStore, NewDelivery},
};

use super::*;
use crate::{SecretKey, Storage, writer::statement::with};

type Tested = Result<(), Box<dyn std::error::Error>>;

async fn storage(folder: &tempfile::TempDir) -> Result<Storage, Error> {
    let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
    Storage::connect(&StorageOptions::new(url.parse()?, SecretKey::generate()?)).await
}

fn accept(body_bytes: usize) -> Accept {
    let webhook = Webhook {
        id: WebhookId::generate(),
        account_id: AccountId::generate(),
        bucket_id: BucketId::generate(),
        input_id: InputId::generate(),
        request: Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::from(vec![1; body_bytes]),
        },
        remote_addr: None,
        secure: false,
        ephemeral: false,
        input_execution_id: None,
        received_at: Timestamp::default(),
    };
    let delivery = NewDelivery {
        id: DeliveryId::generate(),
        output_id: Some(OutputId::generate()),
        internal: false,
        status: DeliveryStatus::Received,
        reason: None,
        due_at: Some(Timestamp::default()),
        held_by: None,
    };
    Accept { webhook: Arc::new(webhook), deliveries: vec![delivery] }
}

#[tokio::test]
async fn when_the_disk_is_full_nobody_is_told_ok_and_later_all_is_well() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage(&folder).await?;
    let limit = |pages: &str| format!("PRAGMA max_page_count = {pages}");
    storage.database().write.execute_unprepared(&limit("100")).await?;

    // The large one does not fit, and the small ones share its transaction.
    let accepts = [accept(100), accept(1_000_000), accept(100)];
    let stored = join_all(accepts.iter().map(|accept| storage.accept(accept.clone()))).await;
    for (accept, stored) in accepts.iter().zip(stored) {
        let error = stored.expect_err("the transaction failed");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
        let (account, id) = (accept.webhook.account_id, accept.deliveries[0].id);
        assert_eq!(storage.log(account, id).await?, None);
    }
    assert_eq!(storage.write_stats().commits, 0);

    for accept in &accepts {
        storage.database().write.execute_unprepared(&limit("1073741823")).await?;
        storage.accept(accept.clone()).await?;
        let (account, id) = (accept.webhook.account_id, accept.deliveries[0].id);
        assert!(storage.log(account, id).await?.is_some());
    }
    storage.close().await;
    Ok(())
}

/// How SQLite runs `sql`.
async fn plan(storage: &Storage, sql: &str) -> Result<String, DbErr> {
    let values = sql.matches('?').map(|_| 1_i64.into());
    let explain = with(DbBackend::Sqlite, &format!("EXPLAIN QUERY PLAN {sql}"), values);
    let rows = storage.database().read.query_all_raw(explain).await?;
    let details = rows.iter().map(|row| row.try_get_by::<String, _>("detail"));
    Ok(details.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

#[tokio::test]
async fn queries_of_the_queue_use_its_indexes() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage(&folder).await?;
    let queries = [
        (claim::by_due(), "delivery_free_by_due"),
        (claim::by_receipt(), "delivery_free_by_receipt"),
        (claim::NEXT_DUE.to_owned(), "delivery_free_by_due"),
        (lease::lapsed_sql(), "delivery_held"),
        (record::TRIM.to_owned(), "execution_of_function"),
        (lease::free_sql("held_by = ?"), "delivery_held"),
        (settle::one(), "sqlite_autoindex_delivery"),
    ];
    let stops = crate::store::WAITING.into_iter().map(crate::store::stop_sql);
    let stops =
        stops.zip(["delivery_free_by_due", "delivery_held", "delivery_waiting", "delivery_ended"]);
    for (sql, index) in queries.into_iter().chain(stops) {
        let plan = plan(&storage, &sql).await?;
        assert!(plan.contains(index), "{sql}\n{plan}");
        assert!(!plan.contains("SCAN d"), "no table is read whole: {sql}\n{plan}");
        assert!(!plan.contains("SORT") && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
    }
    let plan = plan(&storage, &lease::lanes_sql()).await?;
    for index in ["USING COVERING INDEX delivery_free_by_due", "delivery_held"] {
        assert!(plan.contains(index), "{plan}");
    }
    storage.close().await;
    Ok(())
}
