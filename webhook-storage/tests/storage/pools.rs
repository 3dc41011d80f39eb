//! Connections to PostgreSQL that do not wait for each other.

use std::time::Duration;

use sea_orm::{ConnectionTrait, Database, DbBackend, Statement, TransactionTrait};
use tokio::time::timeout;
use webhook_core::{
    AccountId, InputId, OutputId,
    store::{BucketStore, DeliveryStore, LogQuery, LogStore, RouteStore},
};
use webhook_storage::DatabaseUrl;

use crate::{
    databases::{Tested, open, postgres},
    sample::{accept, webhook},
};

/// Longer than anything here takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(30);

/// While lists of logs have every connection that reads, and a lock keeps them, routes are read
/// and webhooks are stored.
#[tokio::test(flavor = "multi_thread")]
async fn routes_and_webhooks_wait_for_no_list() -> Tested {
    let Some((mut options, remove)) = postgres().await else { return Ok(()) };
    options.read_connections = 2;
    options.write_connections = 1;
    options.writers = 1;
    let storage = open(&options).await;
    let account = webhook("").account_id;

    let DatabaseUrl::Postgres(url) = &options.database_url else {
        return Err("it is PostgreSQL's".into());
    };
    let beside = Database::connect(url).await?;
    let locking = beside.begin().await?;
    locking.execute_unprepared("LOCK TABLE tally IN ACCESS EXCLUSIVE MODE").await?;
    let lists: Vec<_> = (0..4)
        .map(|_| {
            let storage = storage.clone();
            tokio::spawn(async move { storage.logs(account, &LogQuery::new(10)).await })
        })
        .collect();
    // Until both connections wait for the lock.
    let waiting = Statement::from_string(
        DbBackend::Postgres,
        "SELECT COUNT(*) AS n FROM pg_locks WHERE NOT granted AND relation = 'tally'::regclass",
    );
    let wait = async {
        loop {
            let row = beside.query_one_raw(waiting.clone()).await?;
            if row.map_or(Ok(0), |row| row.try_get::<i64>("", "n"))? >= 2 {
                return Ok::<_, sea_orm::DbErr>(());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, wait).await??;

    let route = timeout(PATIENCE, storage.bucket_of_input(InputId::generate())).await??;
    assert!(route.is_none(), "the input is nobody's");
    let route = timeout(PATIENCE, storage.bucket_of_output(OutputId::generate())).await??;
    assert!(route.is_none());
    timeout(PATIENCE, storage.accept(accept(OutputId::generate()))).await??;
    let other = timeout(Duration::from_millis(200), storage.buckets(AccountId::generate()));
    assert!(other.await.is_err(), "the configuration waits for the lists");
    assert!(lists.iter().all(|list| !list.is_finished()), "and they for the lock");

    locking.rollback().await?;
    for list in lists {
        list.await??;
    }
    storage.close().await;
    beside.close().await?;
    remove.await;
    Ok(())
}
