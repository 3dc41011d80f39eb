//! Claims beyond what every store promises.

use std::{sync::Arc, time::Duration};

use futures_util::FutureExt;
use sea_orm::{ConnectionTrait, Database};
use webhook_core::{
    NodeId, OutputId,
    model::DeliveryStatus,
    store::{Accept, DeliveryStore, Lease},
};

use crate::{
    databases::{Tested, on_each, open, sqlite},
    sample::{NOW, accept, claim, sweep, webhook, with},
};

#[tokio::test]
async fn a_claim_returns_a_bounded_number_of_bytes() {
    on_each(async |mut options| {
        options.claim_bytes = 2_500;
        let storage = open(&options).await;
        let (node, output) = (NodeId::generate(), OutputId::generate());
        storage
            .extend_lease(Lease::new(node, 0, NOW + Duration::from_secs(60)))
            .await
            .expect("a lease");
        for bytes in [1_000, 1_000, 1_000, 9_000, 10] {
            let webhook = Arc::new(webhook(vec![0; bytes]));
            storage
                .accept(with(accept(output), |accept| accept.webhook = webhook))
                .await
                .expect("it is new");
        }
        for expected in [2, 1, 1, 1] {
            let claimed = storage.claim(claim(node, output)).await.expect("a claim");
            assert_eq!(claimed.deliveries.len(), expected);
            let more = storage
                .backlogs(sweep())
                .await
                .expect("backlogs")
                .pop()
                .and_then(|backlog| backlog.due_at);
            assert_eq!(claimed.next_due_at, more, "what is left is due already");
        }
        assert!(storage.backlogs(sweep()).await.expect("backlogs").is_empty());
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_claimed_for_nobody_is_free_again() {
    on_each(async |mut options| {
        options.writers = 1;
        let storage = open(&options).await;
        let (node, output) = (NodeId::generate(), OutputId::generate());
        storage
            .extend_lease(Lease::new(node, 0, NOW + Duration::from_secs(60)))
            .await
            .expect("a lease");
        storage.accept(accept(output)).await.expect("it is new");

        // Queued by the first poll, and then given up by the caller.
        assert!(storage.claim(claim(node, output)).now_or_never().is_none());
        // The same writer answers this one after it is done with the claim.
        storage.accept(accept(OutputId::generate())).await.expect("it is new");
        let claimed = storage.claim(claim(node, output)).await.expect("a claim");
        assert_eq!(claimed.deliveries.len(), 1);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_cannot_be_read_holds_up_nothing() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = sqlite(folder.path());
    let storage = open(&options).await;
    let (node, output) = (NodeId::generate(), OutputId::generate());
    let (bad, lost, good) = (accept(output), accept(output), accept(output));
    for accept in [&bad, &lost, &good] {
        storage.accept(accept.clone()).await?;
    }
    storage.close().await;

    let file = Database::connect(options.database_url.to_string()).await?;
    let hex = |accept: &Accept| accept.webhook.id.as_uuid().simple().to_string();
    let spoil = format!("UPDATE webhook SET method = 'not a method' WHERE id = x'{}'", hex(&bad));
    assert_eq!(file.execute_unprepared(&spoil).await?.rows_affected(), 1);
    let lose = format!("DELETE FROM webhook WHERE id = x'{}'", hex(&lost));
    assert_eq!(file.execute_unprepared(&lose).await?.rows_affected(), 1);
    file.close().await?;

    let storage = open(&options).await;
    let claimed = storage.claim(claim(node, output)).await?;
    let ids: Vec<_> = claimed.deliveries.iter().map(|pending| pending.id).collect();
    assert_eq!(ids, [good.deliveries[0].id]);
    assert_eq!(claimed.next_due_at, None);
    let error = storage.log(bad.webhook.account_id, bad.deliveries[0].id).await;
    let error = error.expect_err("the row cannot be read");
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.starts_with("webhook.method of row"), "{cause}");
    assert!(cause.contains(&bad.webhook.id.to_string()), "{cause}");
    storage.close().await;

    let file = Database::connect(options.database_url.to_string()).await?;
    let status = format!(
        "SELECT status, due_at FROM delivery WHERE id = x'{}'",
        lost.deliveries[0].id.as_uuid().simple()
    );
    let status = sea_orm::Statement::from_string(sea_orm::DbBackend::Sqlite, status);
    let row = file.query_one_raw(status).await?.expect("the log stays");
    assert_eq!(row.try_get_by::<i64, _>("status")?, i64::from(DeliveryStatus::Failed.as_u8()));
    assert_eq!(row.try_get_by::<Option<i64>, _>("due_at")?, None);
    file.close().await?;
    Ok(())
}
