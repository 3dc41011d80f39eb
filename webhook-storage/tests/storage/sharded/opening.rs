//! Which databases are taken as whose shards.

use webhook_core::{ErrorKind, OutputId, store::DeliveryStore};

use super::*;
use crate::sample::{delivery, sweep};

#[tokio::test]
async fn the_order_of_shards_does_not_matter_and_none_may_be_missing() -> Tested {
    let OnSqlite { folder, storage } = OnSqlite::open().await;
    let account = AccountId::generate();
    for shard in [1, 2] {
        let bucket = bucket_in(&storage, shard).await;
        let new = delivery(OutputId::generate());
        storage.accept(accept_of(&webhook_in(account, bucket, NOW), &new)).await?;
    }
    let before = storage.shards().await?;
    assert_eq!(before.iter().map(|it| it.slots.len()).collect::<Vec<_>>(), [2_048, 2_048]);
    assert!(before.iter().all(|it| it.rows == Some((1, 1))), "{before:?}");
    storage.close().await;

    let storage = connect(folder.path(), &["two.db", "one.db"]).await?;
    assert_eq!(storage.shards().await?, before);
    assert_eq!(total(&storage, account).await, 2);
    storage.close().await;

    let error = connect(folder.path(), &["two.db"]).await.expect_err("one is missing");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("not named: shard 1"), "{error}");
    for wrong in [&["one.db", "one.db"][..], &[]] {
        let error = connect(folder.path(), wrong).await.expect_err("a wrong list");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }

    // A shard that is new gets nothing by itself.
    let storage = connect(folder.path(), &["one.db", "two.db", "three.db"]).await?;
    let shards = storage.shards().await?;
    assert_eq!(shards.iter().map(|it| it.slots.len()).collect::<Vec<_>>(), [2_048, 2_048, 0]);
    storage.close().await;

    // And none is the shard of two control databases.
    let other = tempfile::tempdir()?;
    let shards = [databases::file(folder.path(), "one.db")];
    let error = ShardedStorage::connect(&databases::sqlite(other.path()), &shards).await;
    let error = error.expect_err("it is another one's");
    assert!(error.to_string().contains("of another database"), "{error}");
    Ok(())
}

#[tokio::test]
async fn what_was_in_one_database_is_found_when_there_are_several() -> Tested {
    let folder = tempfile::tempdir()?;
    let (account, output) = (AccountId::generate(), OutputId::generate());
    let one = databases::open(&databases::sqlite(folder.path())).await;
    let mut old = Vec::new();
    for _ in 0..5 {
        let new = delivery(output);
        let webhook = webhook_in(account, BucketId::generate(), NOW);
        one.accept(accept_of(&webhook, &new)).await?;
        old.push(new.id);
    }
    one.close().await;
    let storage = connect(folder.path(), &["one.db", "two.db"]).await?;
    let shards = storage.shards().await?;
    assert_eq!((shards[0].number, shards[0].former_slots), (0, 4_096));
    assert_eq!(total(&storage, account).await, 5);
    assert_eq!(storage.backlogs(sweep()).await?[0].pending, 5);
    let new = delivery(output);
    let webhook = webhook_in(account, BucketId::generate(), NOW);
    storage.accept(accept_of(&webhook, &new)).await?;
    let shards = storage.shards().await?;
    assert_eq!(shards[0].rows, Some((5, 5)), "nothing comes to where it all was");
    assert_eq!(total(&storage, account).await, 6);
    let claimed = storage.claim(crate::sample::claim(node(&storage).await, output)).await?;
    let claimed: Vec<_> = claimed.deliveries.iter().map(|pending| pending.id).collect();
    assert_eq!((claimed.len(), &claimed[..5]), (6, &old[..]));
    storage.close().await;
    Ok(())
}
