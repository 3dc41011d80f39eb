//! Opening, refusing and closing.

use webhook_core::{AccountId, ErrorKind, model::Account, store::AccountStore};
use webhook_storage::{SecretKey, Storage};

use crate::{
    databases::{Tested, on_each, open, sqlite},
    sample::NOW,
};

fn account(name: &str) -> Account {
    Account { id: AccountId::generate(), name: name.to_owned(), created_at: NOW }
}

#[tokio::test]
async fn a_wrong_key_is_refused_and_changes_nothing() {
    on_each(async |options| {
        let storage = open(&options).await;
        let account = account("a");
        storage.create_account(&account).await.expect("it is new");
        storage.close().await;

        let mut other = options.clone();
        other.secret_key = SecretKey::generate().expect("randomness");
        for _ in 0..2 {
            let error = Storage::connect(&other).await.expect_err("another key");
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().starts_with("secret key: is not the one"), "{error}");
        }

        let storage = open(&options).await;
        assert_eq!(storage.accounts().await.expect("accounts"), [account]);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_is_opened_once_at_a_time() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = sqlite(folder.path());
    let first = open(&options).await;
    for refused in [Storage::connect(&options).await.err(), Storage::migrate(&options).await.err()]
    {
        let refused = refused.expect("it is open");
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(refused.to_string().contains("webhooks.db.lock"), "{refused}");
    }
    first.create_account(&account("a")).await?;
    first.close().await;

    let second = open(&options).await;
    assert_eq!(second.accounts().await?.len(), 1);
    second.close().await;
    Ok(())
}

#[tokio::test]
async fn files_are_for_their_owner_only() -> Tested {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir()?;
    let storage = open(&sqlite(folder.path())).await;
    storage.create_account(&account("a")).await?;
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder.path())? {
        let file = file?;
        let mode = file.metadata()?.permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.file_name());
        names.push(file.file_name().into_string().expect("a name of ours"));
    }
    names.sort();
    let ends = ["", "-shm", "-wal", ".lock"].map(|end| format!("webhooks.db{end}"));
    assert_eq!(names, ends, "the database, its log, and the lock");
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn a_path_that_cannot_be_made_is_named() {
    let options = sqlite("/nonexistent".as_ref());
    let error = Storage::connect(&options).await.expect_err("no folder");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("/nonexistent/webhooks.db.lock"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let mut options = sqlite("".as_ref());
    // Port 9 is "discard", where nobody listens.
    options.database_url = "postgres://nobody@127.0.0.1:9/none".parse().expect("a url");
    options.connection_timeout = std::time::Duration::from_millis(200);
    let error = Storage::connect(&options).await.expect_err("no server");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn migrating_is_possible_alone() {
    on_each(async |options| {
        for _ in 0..2 {
            Storage::migrate(&options).await.expect("the schema is made once");
        }
        let storage = open(&options).await;
        storage.ping().await.expect("it answers");
        assert!(storage.accounts().await.expect("accounts").is_empty());
        storage.close().await;
    })
    .await;
}
