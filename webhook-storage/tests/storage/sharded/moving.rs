//! A slot goes to another shard while webhooks come in and are delivered.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use webhook_core::{
    DeliveryId, OutputId,
    store::{Accepted, ClaimOrder, Origin, Seen},
};

use super::*;
use crate::sample::{claim, delivery, sent};

const WEBHOOKS: usize = 120;
const WRITERS: usize = 3;

/// Several nodes take in and deliver the webhooks of one bucket, which goes to and fro.
async fn move_under_load(nodes: &[ShardedStorage]) -> Tested {
    let storage = &nodes[0];
    let (account, output) = (AccountId::generate(), OutputId::generate());
    let bucket = bucket_in(storage, 1).await;
    let written = Arc::new(AtomicBool::new(false));
    let writers = (0..WRITERS).map(|number| {
        let storage = nodes[number % nodes.len()].clone();
        tokio::spawn(async move {
            let mut stored = Vec::new();
            for _ in 0..WEBHOOKS {
                let new = delivery(output);
                let accept = accept_of(&webhook_in(account, bucket, NOW), &new);
                let accepted = storage.accept(accept).await.expect("it is stored");
                assert_eq!(accepted, Accepted::Stored);
                stored.push(new.id);
            }
            stored
        })
    });
    let writers: Vec<_> = writers.collect();
    let delivered = Arc::new(Mutex::new(Vec::<DeliveryId>::new()));
    let mut workers = Vec::new();
    for number in 0..4 {
        let storage = nodes[number % nodes.len()].clone();
        let (written, delivered) = (Arc::clone(&written), Arc::clone(&delivered));
        let node = node(&storage).await;
        workers.push(tokio::spawn(async move {
            loop {
                let was_written = written.load(Ordering::Acquire);
                let request = with(claim(node, output), |claim| claim.limit = 5);
                let claimed = storage.claim(request).await.expect("a claim");
                for held in &claimed.deliveries {
                    storage.settle(sent(held.id, Origin::of(held), node)).await.expect("settled");
                    delivered.lock().expect("no panic").push(held.id);
                }
                let is_empty = claimed.deliveries.is_empty() && claimed.next_due_at.is_none();
                if was_written && is_empty {
                    return;
                }
            }
        }));
    }
    for to in [2, 1, 2] {
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert_eq!(storage.move_slots(&[slot_of(bucket)], to).await?, 1);
        assert_eq!(storage.move_slots(&[slot_of(bucket)], to).await?, 0, "it is there");
    }
    let stored = join_all(writers).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    written.store(true, Ordering::Release);
    join_all(workers).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    let stored: HashSet<_> = stored.into_iter().flatten().collect();
    let delivered = delivered.lock().expect("no panic").clone();
    assert_eq!(delivered.len(), WRITERS * WEBHOOKS, "nothing is delivered twice");
    assert_eq!(delivered.into_iter().collect::<HashSet<_>>(), stored, "nothing is lost");
    assert_eq!(total(storage, account).await, (WRITERS * WEBHOOKS) as u64);
    assert_eq!(storage.received(account, NOW).await?, (WRITERS * WEBHOOKS) as u64);
    let new = delivery(output);
    storage.accept(accept_of(&webhook_in(account, bucket, NOW), &new)).await?;
    let there = storage.shards().await?.into_iter().find(|it| it.number == 2).expect("a shard");
    assert_eq!(there.rows.map(|(waiting, _)| waiting), Some(1), "new ones come to where it is");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_moves_under_load_on_sqlite() -> Tested {
    let OnSqlite { folder: _folder, storage } = OnSqlite::open().await;
    move_under_load(std::slice::from_ref(&storage)).await?;
    storage.close().await;
    Ok(())
}

/// The second node goes by what it has read of the slots for up to 5 s.
#[tokio::test(flavor = "multi_thread")]
async fn a_slot_moves_under_the_load_of_two_nodes() -> Tested {
    let Some((options, removals)) = on_postgres(3).await else { return Ok(()) };
    let shards = [options[1].database_url.clone(), options[2].database_url.clone()];
    let one = ShardedStorage::connect(&options[0], &shards).await?;
    let reversed = [shards[1].clone(), shards[0].clone()];
    let nodes = [one, ShardedStorage::connect(&options[0], &reversed).await?];
    move_under_load(&nodes).await?;
    for node in nodes {
        node.close().await;
    }
    for remove in removals {
        remove.await;
    }
    Ok(())
}

/// What was stored before is known, and what it is a duplicate of; order holds over both.
#[tokio::test]
async fn what_came_before_a_move_is_known_after_it() -> Tested {
    let OnSqlite { folder: _folder, storage } = OnSqlite::open().await;
    let (account, output) = (AccountId::generate(), OutputId::generate());
    let bucket = bucket_in(&storage, 1).await;
    let seen = Seen { key: [7; 32], until: NOW + Duration::from_secs(60) };
    let first = with(accept_of(&webhook_in(account, bucket, NOW), &delivery(output)), |first| {
        first.seen = vec![seen];
    });
    assert_eq!(storage.accept(first.clone()).await?, Accepted::Stored);
    storage.move_slots(&[slot_of(bucket)], 2).await?;
    assert_eq!(storage.accept(first.clone()).await?, Accepted::Known);
    let again = webhook_in(account, bucket, NOW + Duration::from_secs(1));
    let again = Webhook { input_id: first.webhook.input_id, ..again };
    let again = with(accept_of(&again, &delivery(output)), |again| again.seen = vec![seen]);
    let of = first.webhook.id;
    assert_eq!(storage.accept(again).await?, Accepted::Duplicate { of });
    let second = delivery(output);
    storage.accept(accept_of(&webhook_in(account, bucket, NOW), &second)).await?;
    let request = with(claim(node(&storage).await, output), |claim| {
        (claim.order, claim.limit) = (ClaimOrder::Receipt, 1);
    });
    for wanted in [first.deliveries[0].id, second.id] {
        let claimed = storage.claim(request).await?.deliveries;
        assert_eq!(claimed.iter().map(|it| it.id).collect::<Vec<_>>(), [wanted]);
    }
    storage.close().await;
    Ok(())
}
