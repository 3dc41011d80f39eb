use std::sync::Arc;

use webhook_core::{
    NodeId, Timestamp,
    store::{Accept, DeliveryStore, LogStore, OldLogs},
};

use super::{super::tests::sent, *};
use crate::{
    Storage,
    writer::tests::{Tested, accept, changed, found_in, storage_in},
};

const MARK: &[u8] = b"what nobody is to find";

/// A webhook of this length, full of marks.
fn marked(bytes: usize, mark: &[u8]) -> Accept {
    let body: Vec<u8> = mark.iter().copied().cycle().take(bytes).collect();
    changed(accept(0), |accept| Arc::make_mut(&mut accept.webhook).request.body = body.into())
}

/// Waits until the thread has emptied the log.
async fn emptied(folder: &tempfile::TempDir) -> Tested {
    let log = folder.path().join("webhooks.db-wal");
    let emptied = async {
        while log.metadata().is_ok_and(|log| log.len() > 0) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), emptied).await?;
    Ok(())
}

async fn store_and_settle(storage: &Storage, accept: &Accept) -> Tested {
    storage.accept(accept.clone()).await?;
    storage.settle(sent(accept, NodeId::generate())).await?;
    Ok(())
}

/// 300 webhooks of all sizes are removed between others, and others come after them.
#[tokio::test]
async fn bodies_that_were_removed_are_in_no_file() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    for number in 0..600_usize {
        let bytes = [64, 900, 3_000, 5_000, 20_000, 70_000][number % 6];
        let (mark, at) = match number % 4 < 2 {
            true => (MARK, 1),
            false => (&b"what stays"[..], 1_000_000),
        };
        let accept = changed(marked(bytes, mark), |accept| {
            Arc::make_mut(&mut accept.webhook).received_at = Timestamp::from_secs(at);
        });
        store_and_settle(&storage, &accept).await?;
    }
    assert!(found_in(&folder, MARK)? > 300);
    let old = OldLogs::new(Timestamp::from_secs(1_000));
    assert_eq!(storage.purge(&old, 1_000).await?, 300);
    for _ in 0..2_000 {
        store_and_settle(&storage, &marked(64, b"later")).await?;
    }
    emptied(&folder).await?;
    assert_eq!(found_in(&folder, MARK)?, 0);
    assert!(found_in(&folder, b"what stays")? > 300);
    storage.close().await;
    assert_eq!(found_in(&folder, MARK)?, 0);
    Ok(())
}

#[tokio::test]
async fn bodies_of_ephemeral_webhooks_are_in_no_file_of_a_quiet_server() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    for bytes in [64, 3_000, 5_000, 200_000] {
        let accept = changed(marked(bytes, MARK), |accept| {
            Arc::make_mut(&mut accept.webhook).ephemeral = true;
        });
        storage.accept(accept.clone()).await?;
        assert!(found_in(&folder, MARK)? > 0);
        storage.settle(sent(&accept, NodeId::generate())).await?;
        assert!(found_in(&folder, MARK)? > 0, "the write-ahead log has it");
    }
    emptied(&folder).await?;
    assert_eq!(found_in(&folder, MARK)?, 0);
    storage.close().await;
    Ok(())
}

/// The log is emptied after a write of another connection, too.
#[tokio::test]
async fn what_others_wrote_leaves_the_log() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    emptied(&folder).await?;
    storage.set_api_key_unshown(true).await?;
    let log = folder.path().join("webhooks.db-wal");
    assert!(log.metadata()?.len() > 0);
    emptied(&folder).await?;
    storage.close().await;
    Ok(())
}

#[test]
fn the_log_is_emptied_in_time_however_busy_it_is() -> Tested {
    let folder = tempfile::tempdir()?;
    let connection = Connection::open(folder.path().join("t.db"))?;
    connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)")?;
    let now = Instant::now();
    let mut wal = Wal::written(now);
    assert_eq!(wal.empty_at(), Some(now + QUIET));
    wal.look(&connection, true);
    assert!(wal.empty_at().is_some(), "it was written just now");

    let reader = Connection::open(folder.path().join("t.db"))?;
    reader.execute_batch("BEGIN; SELECT * FROM t")?;
    let late = Instant::now().checked_sub(LONGEST).ok_or("a machine that runs for a minute")?;
    wal.written = Some((Instant::now(), late));
    wal.look(&connection, true);
    let again = wal.empty_at().ok_or("somebody reads from it")?;
    assert!(again <= Instant::now() + AGAIN);
    reader.execute_batch("COMMIT")?;
    wal.written = Some((late, late));
    wal.look(&connection, false);
    assert_eq!(wal.empty_at(), None);
    assert_eq!(folder.path().join("t.db-wal").metadata()?.len(), 0);
    wal.look(&connection, false);
    assert_eq!(wal.empty_at(), None, "nobody has written");
    Ok(())
}
