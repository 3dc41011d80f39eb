//! Opening, refusing and closing.

use std::{
    ops::Range,
    path::Path,
    time::{Duration, Instant},
};

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
    options.connection_timeout = Duration::from_millis(200);
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

#[tokio::test]
async fn it_is_known_whether_a_database_was_opened_before() {
    on_each(async |options| {
        let before = async || Storage::was_opened(&options.database_url).await.expect("a look");
        assert!(!before().await);
        Storage::migrate(&options).await.expect("the schema is made");
        assert!(!before().await, "nothing is sealed yet");
        let storage = open(&options).await;
        assert!(before().await, "beside the one who has it open");
        storage.close().await;
        assert!(before().await);
    })
    .await;
}

#[tokio::test]
async fn a_look_makes_no_file() -> Tested {
    let folder = tempfile::tempdir()?;
    assert!(!Storage::was_opened(&sqlite(folder.path()).database_url).await?);
    std::fs::write(folder.path().join("webhooks.db"), "")?;
    assert!(!Storage::was_opened(&sqlite(folder.path()).database_url).await?);
    assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
    Ok(())
}

#[tokio::test]
async fn a_key_that_was_not_shown_is_kept_in_mind() {
    on_each(async |options| {
        let storage = open(&options).await;
        assert!(!storage.is_api_key_unshown().await.expect("a look"));
        for unshown in [true, true, false, false, true] {
            storage.set_api_key_unshown(unshown).await.expect("it is kept");
            assert_eq!(storage.is_api_key_unshown().await.expect("a look"), unshown);
        }
        storage.close().await;
        let storage = open(&options).await;
        assert!(storage.is_api_key_unshown().await.expect("a look"));
        storage.close().await;
    })
    .await;
}

/// Writes over what is in the file from so many thousandths of it to so many.
fn damage(file: &Path, thousandths: Range<usize>) -> Tested {
    let mut bytes = std::fs::read(file)?;
    let place = |thousandth: usize| bytes.len() * thousandth / 1000;
    let places = place(thousandths.start)..place(thousandths.end);
    bytes[places].fill(0xa5);
    std::fs::write(file, bytes)?;
    Ok(())
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_left_alone() -> Tested {
    for thousandths in [0..10, 300..900] {
        let folder = tempfile::tempdir()?;
        let options = sqlite(folder.path());
        let storage = open(&options).await;
        for number in 0..200 {
            storage.create_account(&account(&format!("{number}"))).await?;
        }
        storage.close().await;
        let file = folder.path().join("webhooks.db");
        damage(&file, thousandths.clone())?;
        let before = std::fs::read(&file)?;

        let error = Storage::connect(&options).await.expect_err("it is damaged");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let text = error.to_string();
        assert!(text.contains("webhooks.db is damaged ("), "{text}");
        assert!(text.contains("a backup") && text.lines().count() == 1, "{text}");
        assert!(std::fs::read(&file)? == before, "{thousandths:?}: the file was changed");

        // Who wants to try has a way.
        if thousandths.start > 0 {
            let mut unchecked = options.clone();
            unchecked.check_timeout = Duration::ZERO;
            let opened = Storage::connect(&unchecked).await;
            assert!(
                opened.as_ref().err().is_none_or(|error| !error.to_string().contains("damaged"))
            );
            if let Ok(storage) = opened {
                storage.close().await;
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_check_has_an_end() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut options = sqlite(folder.path());
    open(&options).await.close().await;
    // More than can be checked in the time that is left for it.
    let big = rusqlite::Connection::open(folder.path().join("webhooks.db"))?;
    big.execute_batch(
        "CREATE TABLE big (text TEXT); CREATE INDEX of_big ON big (text);
         INSERT INTO big WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n
             WHERE n < 400000) SELECT n || 'and some more text that has to be read' FROM n",
    )?;
    big.close().map_err(|(_, error)| error)?;
    options.check_timeout = Duration::from_millis(5);
    let started = Instant::now();
    let storage = open(&options).await;
    let took = started.elapsed();
    assert_eq!(storage.accounts().await?.len(), 0);
    storage.close().await;
    assert!(took < Duration::from_secs(20), "{took:?}");
    Ok(())
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_server_that_is_not_there_says_why() {
    let mut options = sqlite("".as_ref());
    options.database_url = "postgres://nobody@127.0.0.1:9/none".parse().expect("a url");
    options.connection_timeout = Duration::from_millis(200);
    let error = Storage::connect(&options).await.expect_err("no server");
    let mut causes = String::new();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        causes.push_str(&error.to_string());
        cause = error.source();
    }
    assert!(causes.contains("Connection refused"), "{causes}");
}
