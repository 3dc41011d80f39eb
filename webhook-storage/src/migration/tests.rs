use sea_orm::{ConnectionTrait, EntityTrait, PaginatorTrait};
use webhook_core::ErrorKind;

use super::*;
use crate::{
    SecretKey, Storage, StorageOptions,
    entity::{account, webhook},
};

fn options(folder: &tempfile::TempDir) -> Result<StorageOptions, Error> {
    let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
    Ok(StorageOptions::new(url.parse()?, SecretKey::generate()?))
}

type Tested = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn migrating_again_changes_nothing() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    for _ in 0..2 {
        Storage::migrate(&options).await?;
    }
    let database = Database::open(&options).await?;
    migrate(&database).await?;
    let steps = Migrator::get_migration_models(&database.read).await?;
    assert_eq!(steps.len(), Migrator::migrations().len());
    database.close().await;
    Ok(())
}

#[tokio::test]
async fn an_old_database_is_brought_up_to_date_and_keeps_its_rows() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let old = Database::open(&options).await?;
    apply(&old, Some(1)).await?;
    let insert = "INSERT INTO account (id, name, created_at) VALUES (x'018f0000000070008000000000000000', 'a', 7)";
    old.write.execute_unprepared(insert).await?;
    assert!(webhook::Entity::find().count(&old.read).await.is_err(), "not there yet");
    old.close().await;

    let storage = Storage::connect(&options).await?;
    let read = &storage.database().read;
    assert_eq!(webhook::Entity::find().count(read).await?, 0);
    let kept = account::Entity::find().all(read).await?;
    assert_eq!((kept.len(), kept[0].name.as_str(), kept[0].created_at), (1, "a", 7));
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn a_step_that_fails_leaves_nothing_behind() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let database = Database::open(&options).await?;
    // In the way of the last step, so that the first one has to be taken back.
    database.write.execute_unprepared("CREATE TABLE node_lease (x INTEGER)").await?;
    assert!(migrate(&database).await.is_err());
    assert!(account::Entity::find().count(&database.read).await.is_err());
    database.write.execute_unprepared("DROP TABLE node_lease").await?;
    migrate(&database).await?;
    assert_eq!(account::Entity::find().count(&database.read).await?, 0);
    database.close().await;
    Ok(())
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let database = Database::open(&options).await?;
    migrate(&database).await?;
    let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_newer', 0)";
    database.write.execute_unprepared(newer).await?;
    database.close().await;

    let error = Storage::connect(&options).await.expect_err("the schema is unknown");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("m9999_newer"), "{error}");
    // The lock was given back.
    let database = Database::open(&options).await?;
    database.close().await;
    Ok(())
}
