//! What several databases list, count and hand out is what one would.

use std::time::Duration;

use proptest::prelude::*;
use webhook_core::{
    DeliveryId, OutputId, WebhookId,
    model::DeliveryStatus,
    store::{
        CountQuery, Drain, LogCursor, LogFilter, LogOrder, LogSearch, Origin, ScanBounds, Settle,
    },
};

use super::*;
use crate::databases::open;

/// A webhook: the bucket, the second it came in, what became of it.
type Row = (usize, u64, u8);

const BUCKETS: usize = 6;

async fn fill(
    stores: [&dyn DeliveryStore; 2],
    account: AccountId,
    buckets: &[(BucketId, OutputId)],
    (first, rows): (u128, &[Row]),
) {
    let node = NodeId::generate();
    for store in stores {
        let lease = Lease::new(node, 1, NOW + Duration::from_secs(86_400));
        store.extend_lease(lease).await.expect("it is alive");
    }
    for (number, (bucket, second, fate)) in (first..).zip(rows) {
        let (bucket, output) = buckets[*bucket];
        let at = NOW + Duration::from_secs(*second);
        let mut webhook = webhook_in(account, bucket, at);
        webhook.id = WebhookId::from_uuid(uuid::Uuid::from_u128(number));
        let id = DeliveryId::from_uuid(uuid::Uuid::from_u128(number * 7_919 % 10_007));
        let waits_for_clients = *fate == 0;
        let new = with(NewDelivery::new(id, Some(output), Some(at)), |new| {
            new.internal = waits_for_clients;
            new.due_at = new.due_at.filter(|_| !waits_for_clients);
            new.held_by = (*fate > 1).then_some(node);
        });
        let origin = Origin::new(&webhook, Some(output), at);
        for store in stores {
            store.accept(accept_of(&webhook, &new)).await.expect("it is new");
            if *fate > 1 {
                let failed = if *fate == 2 { DeliveryStatus::Failed } else { DeliveryStatus::Sent };
                let settle = with(Settle::new(id, origin, node, at, failed), |settle| {
                    settle.attempts = u32::from(*fate);
                    settle.attempt = webhook_core::model::Attempt {
                        status_code: 200 + u16::from(*fate),
                        duration: Duration::from_millis(u64::from(*fate) * 3),
                        ..Default::default()
                    }
                    .into();
                });
                store.settle(settle).await.expect("it is held");
            }
        }
    }
}

async fn compare(rows: Vec<Row>, limit: usize, offset: u64) -> Tested {
    let OnSqlite { folder, storage: sharded } = OnSqlite::open().await;
    let mut alone = databases::sqlite(folder.path());
    alone.database_url = databases::file(folder.path(), "alone.db");
    let alone = open(&alone).await;
    let account = AccountId::generate();
    let mut buckets = Vec::new();
    for number in 0..BUCKETS {
        let shard = if number % 2 == 0 { 1 } else { 2 };
        buckets.push((bucket_in(&sharded, shard).await, OutputId::generate()));
    }
    let (before, after) = rows.split_at(rows.len() / 2);
    fill([&alone, &sharded], account, &buckets, (1, before)).await;
    // From then on two of the buckets have rows in both.
    for (bucket, to) in [(buckets[0].0, 2), (buckets[1].0, 1)] {
        assert_eq!(sharded.move_slots(&[slot_of(bucket)], to).await?, 1);
    }
    let next = 1 + before.len() as u128;
    fill([&alone, &sharded], account, &buckets, (next, after)).await;

    let some_buckets = [None, Some(buckets[0].0), Some(buckets[3].0)];
    for bucket_id in some_buckets {
        for status in [None, Some(DeliveryStatus::Sent), Some(DeliveryStatus::Received)] {
            let mut query = LogQuery::new(limit);
            (query.bucket_id, query.status, query.offset) = (bucket_id, status, offset);
            loop {
                let mut page = sharded.logs(account, &query).await?;
                let wanted = alone.logs(account, &query).await?;
                assert_eq!(page, wanted, "{query:?}");
                assert_eq!(
                    sharded.heads(account, &query).await?,
                    alone.heads(account, &query).await?
                );
                let Some(last) = page.logs.pop().filter(|_| page.has_more) else { break };
                (query.before, query.offset) = (Some(LogCursor::of(&last)), 0);
            }
        }
        let mut count = CountQuery::default();
        count.bucket_id = bucket_id;
        assert_eq!(sharded.days(account, &count).await?, alone.days(account, &count).await?);
        assert_eq!(sharded.minutes(account, &count).await?, alone.minutes(account, &count).await?);
        for order in [LogOrder::NewestFirst, LogOrder::OldestFirst(None)] {
            let found = [
                searched(&sharded, account, bucket_id, order, limit).await,
                searched(&alone, account, bucket_id, order, limit).await,
            ];
            assert_eq!(found[0], found[1], "{order:?}");
        }
    }
    assert_eq!(sharded.received(account, NOW).await?, alone.received(account, NOW).await?);
    let ids: Vec<_> = buckets.iter().map(|(id, _)| *id).collect();
    let (mut waiting, mut after) = (Vec::new(), None);
    loop {
        let some = sharded.waiting(account, &ids, after, limit).await?;
        let Some(last) = some.last() else { break };
        after = Some(LogCursor::of(last));
        waiting.extend(some);
    }
    assert_eq!(waiting, alone.waiting(account, &ids, None, 1_000).await?);
    let now = NOW + Duration::from_secs(1_000);
    loop {
        let drain = Drain::new(now, limit);
        let drained = sharded.drain(account, &drain).await?;
        assert_eq!(drained, alone.drain(account, &drain).await?);
        if !drained.has_more {
            break;
        }
    }
    alone.close().await;
    sharded.close().await;
    Ok(())
}

async fn searched(
    store: &dyn LogStore,
    account: AccountId,
    bucket: Option<BucketId>,
    order: LogOrder,
    limit: usize,
) -> Vec<DeliveryId> {
    let (mut found, mut order, mut before) = (Vec::new(), order, None);
    loop {
        let mut query = LogQuery::new(limit);
        (query.bucket_id, query.before) = (bucket, before);
        let bounds = ScanBounds { max_bytes: 40, max_time: Duration::from_secs(60) };
        let mut search = LogSearch::new(query, LogFilter::default(), bounds);
        search.order = order;
        let looked = store.search(account, &search).await.expect("a search");
        found.extend(looked.logs.iter().map(|log| log.delivery.id));
        if looked.complete {
            return found;
        }
        assert!(looked.scanned_until.is_some(), "it goes on");
        match &mut order {
            LogOrder::NewestFirst => before = looked.scanned_until,
            LogOrder::OldestFirst(after) => *after = looked.scanned_until,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 64, ..Default::default() })]

    #[test]
    fn two_databases_answer_as_one(
        rows in prop::collection::vec((0..BUCKETS, 0_u64..200, 0_u8..5), 0..40),
        limit in 1_usize..9,
        offset in 0_u64..12,
    ) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(compare(rows, limit, offset)).expect("both answer");
    }
}
