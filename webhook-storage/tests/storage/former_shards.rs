//! Databases of the former version, which could spread webhooks over several of them.

use sea_orm::{ConnectionTrait, Database, DatabaseConnection, Statement};
use webhook_core::{AccountId, Error, ErrorKind, model::Account, store::AccountStore};
use webhook_storage::{DatabaseUrl, Storage, StorageOptions};

use crate::{
    databases::{on_each, open},
    sample::NOW,
};

/// What the former version had and this one removes.
const TABLES: &str = "CREATE TABLE shard (number bigint PRIMARY KEY NOT NULL, \
        database_id uuid NOT NULL UNIQUE); \
    CREATE TABLE slot (number bigint NOT NULL, shard bigint NOT NULL, \
        is_current boolean NOT NULL, moved_at bigint NOT NULL, PRIMARY KEY (number, shard)); \
    DELETE FROM seaql_migrations WHERE version = 'm0038_one_database'";

/// The database with the configuration of three. Slot 9 was moved back and left logs behind.
const CONTROL: &str = "INSERT INTO shard (number, database_id) VALUES \
        (0, '00000000-0000-7000-8000-000000000000'), (1, '00000000-0000-7000-8000-000000000001'), \
        (2, '00000000-0000-7000-8000-000000000002'); \
    INSERT INTO slot (number, shard, is_current, moved_at) VALUES \
        (7, 1, TRUE, 0), (8, 0, TRUE, 0), (9, 0, TRUE, 5), (9, 2, FALSE, 5), (10, 1, TRUE, 0)";

/// The same database once all slots are in shard 0 and the other databases are empty.
const EMPTIED: &str = "DELETE FROM slot WHERE shard <> 0";

/// One of the other databases. The value is that of any name.
const SHARD: &str = "INSERT INTO meta (name, value) \
    SELECT 'control_id', value FROM meta WHERE name = 'min_reader'";

async fn beside(options: &StorageOptions) -> DatabaseConnection {
    let url = match &options.database_url {
        DatabaseUrl::Postgres(url) => url.clone(),
        file => file.to_string(),
    };
    Database::connect(url).await.expect("it can be reached")
}

async fn run(options: &StorageOptions, sql: &str) {
    let database = beside(options).await;
    database.execute_unprepared(sql).await.expect("the statements are valid");
    database.close().await.expect("it is closed");
}

/// How many rows the table has; none without the table.
async fn rows(options: &StorageOptions, table: &str) -> Option<i64> {
    let database = beside(options).await;
    let count = format!("SELECT COUNT(*) AS n FROM {table}");
    let count = Statement::from_string(database.get_database_backend(), count);
    let row = database.query_one_raw(count).await;
    database.close().await.expect("it is closed");
    row.ok().flatten().map(|row| row.try_get_by("n").expect("a number"))
}

fn line(others: u32) -> String {
    format!(
        "webhooks are in {others} other databases: with the version before, move all slots to \
         shard 0, wait until `webhook-server shards` shows no log in them (its column WAITING \
         does not count deliveries for clients), take the others off the list, then upgrade."
    )
}

/// Whatever would open the database or copy it says so, and leaves it as it is.
async fn expect_refused(options: &StorageOptions, others: u32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("copy.db");
    let mut refused: Vec<Option<Error>> = vec![
        Storage::connect(options).await.err(),
        Storage::connect_beside(options).await.err(),
        Storage::migrate(options).await.err(),
        Storage::was_opened(&options.database_url).await.err(),
    ];
    match &options.database_url {
        DatabaseUrl::Postgres(_) => refused.push(Storage::divide_by_day(options).await.err()),
        url => refused.push(Storage::back_up(url, &copy).await.err()),
    }
    for error in refused {
        let error = error.expect("webhooks would be hidden");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Invalid, line(others)));
    }
    assert!(!copy.exists());
    assert!(rows(options, "slot").await.is_some(), "nothing is dropped");
}

async fn former_database(options: &StorageOptions) -> Account {
    let storage = open(options).await;
    let account = Account { id: AccountId::generate(), name: "a".to_owned(), created_at: NOW };
    storage.create_account(&account).await.expect("it is new");
    storage.close().await;
    run(options, TABLES).await;
    account
}

async fn expect_opened(options: &StorageOptions, account: Account) {
    let storage = open(options).await;
    assert_eq!(storage.accounts().await.expect("accounts"), [account]);
    storage.close().await;
    for table in ["shard", "slot"] {
        assert_eq!(rows(options, table).await, None, "{table} is dropped");
    }
    assert!(Storage::was_opened(&options.database_url).await.expect("a look"));
}

#[tokio::test]
async fn a_database_that_was_always_alone_is_opened() {
    on_each(async |options| {
        let account = former_database(&options).await;
        assert_eq!(rows(&options, "slot").await, Some(0));
        expect_opened(&options, account).await;
    })
    .await;
}

#[tokio::test]
async fn a_database_with_slots_in_other_databases_is_refused_until_they_are_moved() {
    on_each(async |options| {
        let account = former_database(&options).await;
        run(&options, CONTROL).await;
        expect_refused(&options, 2).await;
        run(&options, EMPTIED).await;
        expect_opened(&options, account).await;
    })
    .await;
}

#[tokio::test]
async fn a_database_that_was_one_of_the_others_is_refused() {
    on_each(async |options| {
        former_database(&options).await;
        run(&options, SHARD).await;
        expect_refused(&options, 1).await;
    })
    .await;
}
