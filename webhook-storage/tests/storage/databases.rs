//! Databases for tests.

use std::{future::Future, path::Path};

use sea_orm::{ConnectionTrait, Database};
use tokio::sync::OnceCell;
use webhook_storage::{DatabaseUrl, SecretKey, Storage, StorageOptions};

/// The outcome of a test.
pub(crate) type Tested = Result<(), Box<dyn std::error::Error>>;

/// A key that all tests share.
pub(crate) fn key() -> SecretKey {
    "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".parse().expect("32 bytes")
}

/// A database in `folder`.
pub(crate) fn sqlite(folder: &Path) -> StorageOptions {
    StorageOptions::new(file(folder, "webhooks.db"), key())
}

/// A database in `folder` that has the tables already: a copy of one that was made before.
pub(crate) async fn migrated(folder: &Path) -> StorageOptions {
    static MIGRATED: OnceCell<Vec<u8>> = OnceCell::const_new();
    let file = MIGRATED.get_or_init(async || {
        let folder = tempfile::tempdir().expect("a temporary folder");
        open(&sqlite(folder.path())).await.close().await;
        std::fs::read(folder.path().join("webhooks.db")).expect("the closed database")
    });
    std::fs::write(folder.join("webhooks.db"), file.await).expect("the folder is writable");
    sqlite(folder)
}

/// The database in this file of `folder`.
pub(crate) fn file(folder: &Path, name: &str) -> DatabaseUrl {
    format!("sqlite://{}", folder.join(name).display()).parse().expect("a url")
}

/// A schema of its own on the server that `TEST_POSTGRES_URL` names, and what
/// removes it; none, and a line that says so, when the variable is not set.
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
pub(crate) async fn postgres() -> Option<(StorageOptions, impl Future<Output = ()> + Send + 'static)>
{
    let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
        println!("skipped: TEST_POSTGRES_URL is not set");
        return None;
    };
    // A handshake of TLS waits for longer than most tests take, and a test has some six
    // connections. The tests of the server are encrypted, unless the variable says otherwise.
    let separator = if server.contains('?') { '&' } else { '?' };
    let plain = if server.contains("sslmode=") { "" } else { "sslmode=disable" };
    let server = format!("{server}{separator}{plain}");
    let schema = format!("test_{}", uuid::Uuid::new_v4().simple());
    run(&server, &format!("CREATE SCHEMA {schema}")).await;
    // Whether the server keeps a commit when it crashes itself is not asked here, and each schema
    // is made by a hundred statements.
    let settings = format!("-csearch_path%3D{schema}%20-csynchronous_commit%3Doff");
    let url = format!("{server}&options={settings}");
    let options = StorageOptions::new(url.parse().expect("a url"), key());
    Some((options, async move { run(&server, &format!("DROP SCHEMA {schema} CASCADE")).await }))
}

async fn run(server: &str, sql: &str) {
    let database = Database::connect(server).await.expect("the server can be reached");
    database.execute_unprepared(sql).await.expect("the statement is valid");
    database.close().await.expect("the connection can be closed");
}

pub(crate) async fn open(options: &StorageOptions) -> Storage {
    Storage::connect(options).await.expect("the database can be opened")
}

/// Runs `test` on a new database of PostgreSQL, if that answers.
pub(crate) async fn on_postgres(test: impl AsyncFn(StorageOptions)) {
    if let Some((options, remove)) = postgres().await {
        test(options).await;
        remove.await;
    }
}

/// Runs `test` on a new database of each kind.
pub(crate) async fn on_each(test: impl AsyncFn(StorageOptions)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    test(sqlite(folder.path())).await;
    if let Some((options, remove)) = postgres().await {
        test(options).await;
        remove.await;
    }
}
