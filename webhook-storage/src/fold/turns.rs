//! Who folds, of several nodes on one PostgreSQL database.

use std::time::Duration;

use sea_orm::{ConnectionTrait, Database, DbBackend, Statement, TransactionTrait};
use tokio::time::timeout;
use webhook_core::store::DeliveryStore;

use super::{ADVISORY_LOCK, fold, fold_in_turn};
use crate::{
    DatabaseUrl, SecretKey, Storage, StorageOptions,
    writer::tests::{Tested, accept},
};

async fn rows(storage: &Storage) -> Result<i64, sea_orm::DbErr> {
    let count =
        Statement::from_string(DbBackend::Postgres, "SELECT COUNT(*) AS n FROM tally_delta");
    let row = storage.database().read.query_one_raw(count).await?;
    row.map_or(Ok(0), |row| row.try_get_by("n"))
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn one_node_folds_what_is_worth_it_and_nobody_waits_for_it() -> Tested {
    let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
        println!("skipped: TEST_POSTGRES_URL is not set");
        return Ok(());
    };
    let schema = format!("test_{}", uuid::Uuid::new_v4().simple());
    let beside = Database::connect(&server).await?;
    beside.execute_unprepared(&format!("CREATE SCHEMA {schema}")).await?;
    let separator = if server.contains('?') { '&' } else { '?' };
    let url = format!("{server}{separator}options=-csearch_path%3D{schema}");
    let options = StorageOptions::new(DatabaseUrl::Postgres(url), SecretKey::generate()?);
    let storage = Storage::connect(&options).await?;
    let database = storage.database();
    for _ in 0..11 {
        storage.accept(accept(10)).await?;
    }
    assert_eq!(rows(&storage).await?, 11, "one for each commit");

    // The lock is of a database, whichever schema it is for.
    let other = beside.begin().await?;
    let lock = format!("SELECT pg_advisory_xact_lock({ADVISORY_LOCK})");
    other.execute_unprepared(&lock).await?;
    timeout(Duration::from_secs(30), fold_in_turn(database, 11)).await??;
    assert_eq!(rows(&storage).await?, 11, "another node folds");
    assert!(timeout(Duration::from_millis(200), fold(database)).await.is_err(), "this one waits");
    other.rollback().await?;

    fold_in_turn(database, 40).await?;
    assert_eq!(rows(&storage).await?, 11, "others have folded most of what 40 commits left");
    // Another test may hold the lock of the database for a moment.
    for _ in 0..1_000 {
        fold_in_turn(database, 20).await?;
        if rows(&storage).await? == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(rows(&storage).await?, 0, "a half of 20 is worth it");
    fold_in_turn(database, 20).await?;
    storage.close().await;
    beside.execute_unprepared(&format!("DROP SCHEMA {schema} CASCADE")).await?;
    beside.close().await?;
    Ok(())
}
