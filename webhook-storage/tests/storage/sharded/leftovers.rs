//! What a crash between two databases leaves behind is found.

use std::time::Duration;

use sea_orm::{ConnectionTrait, Database};
use webhook_core::{
    DeliveryId, FunctionId, OutputId, ReplayId,
    function::record::{Given, KeptBody, Left, RunRecord},
    model::{
        Bucket, BucketSpec, DeliveryStatus, Driver, ExecutionStatus, Function, FunctionSpec,
        Output, OutputSpec, Replay, ReplaySpec, ReplayStatus, ReplayTotals,
    },
    store::{
        BucketStore, ClaimReplays, FeedReplay, FunctionStore, NewExecution, ReplayItem,
        ReplayStore, ReplayedWebhook,
    },
};
use webhook_storage::DatabaseUrl;

use super::*;
use crate::sample::{delivery, sweep};

/// The configuration is deleted, and the process ends before the shard is told.
#[tokio::test]
async fn what_waits_for_a_deleted_bucket_is_ended() -> Tested {
    let OnSqlite { folder: _folder, storage } = OnSqlite::open().await;
    let account = AccountId::generate();
    let mut bucket =
        Bucket::new(bucket_in(&storage, 2).await, account, NOW, BucketSpec::new("events"));
    let spec = OutputSpec::new("out", "https://example.com/hook");
    bucket.outputs.push(Output::new(OutputId::generate(), bucket.id, NOW, spec));
    storage.create_bucket(&bucket).await?;
    let new = delivery(bucket.outputs[0].id);
    storage.accept(accept_of(&webhook_in(account, bucket.id, NOW), &new)).await?;
    storage.tidy().await?;
    assert_eq!(storage.backlogs(sweep()).await?.len(), 1, "its output is there");

    storage.control().delete_bucket(account, bucket.id, None, true).await?;
    assert_eq!(storage.backlogs(sweep()).await?.len(), 1, "nobody has told the shard");
    storage.tidy().await?;
    assert!(storage.backlogs(sweep()).await?.is_empty());
    let log = storage.log(account, new.id).await?.expect("the log stays");
    assert_eq!(log.delivery.status, DeliveryStatus::Failed);
    storage.close().await;
    Ok(())
}

fn run_of(function: &Function) -> NewExecution {
    let record = RunRecord {
        id: webhook_core::ExecutionId::generate(),
        function_id: function.id,
        account_id: function.account_id,
        created: NOW,
        updated: NOW,
        duration: Duration::from_micros(17),
        status: ExecutionStatus::Success,
        given: Given {
            method: http::Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: http::HeaderMap::new(),
            body: KeptBody::default(),
            metadata: Default::default(),
            checks: Default::default(),
            response: None,
        },
        left: Left::default(),
    };
    NewExecution::new(record, 9)
}

/// A process ends when a step of a replay is in the shards and not in the control database;
/// another node does the step again, with other deliveries.
#[tokio::test]
async fn a_step_of_a_replay_that_is_repeated_queues_nothing_twice() -> Tested {
    let Some((options, removals)) = on_postgres(3).await else { return Ok(()) };
    let shards = [options[1].database_url.clone(), options[2].database_url.clone()];
    let storage = ShardedStorage::connect(&options[0], &shards).await?;
    let (account, output) = (AccountId::generate(), OutputId::generate());
    let mut logs = Vec::new();
    for shard in [1, 2, 1] {
        let webhook = webhook_in(account, bucket_in(&storage, shard).await, NOW);
        let log = with(delivery(output), |log| {
            (log.status, log.due_at) = (DeliveryStatus::Rejected, None);
        });
        storage.accept(accept_of(&webhook, &log)).await?;
        logs.push((webhook.id, log.id));
    }
    let replay = Replay {
        id: ReplayId::generate(),
        account_id: account,
        bucket_id: None,
        status: ReplayStatus::Running,
        error: String::new(),
        total: Some(3),
        outputs: vec![output],
        totals: ReplayTotals::default(),
        skipped: 0,
        created_at: NOW,
        finished_at: None,
        cursor: String::new(),
        spec: ReplaySpec::default(),
    };
    storage.create_replay(&replay, 9).await?;
    let until = NOW + Duration::from_secs(60);
    let step = |node, some: usize| {
        let mut feed = FeedReplay::new(&replay, node, NOW, until);
        feed.to = format!("{some}.here");
        let item = |(webhook, of): &(_, DeliveryId)| ReplayItem {
            of: *of,
            webhook: ReplayedWebhook::Stored {
                id: *webhook,
                deliveries: vec![delivery(output)],
                processed: None,
            },
        };
        feed.items = logs.iter().take(some).map(item).collect();
        feed
    };
    let (first, second) = (node(&storage).await, node(&storage).await);
    storage.claim_replays(ClaimReplays::new(first, NOW, until, 9)).await?;
    let late = step(first, 3);
    assert_eq!(storage.feed_replay(step(first, 2)).await?, Some(vec![true; 2]));
    let DatabaseUrl::Postgres(url) = &options[0].database_url else {
        unreachable!("it is PostgreSQL")
    };
    let control = Database::connect(url).await?;
    control
        .execute_unprepared("UPDATE replay SET place = '', held_by = NULL, wakes_at = 0")
        .await?;
    control.close().await?;

    assert_eq!(storage.claim_replays(ClaimReplays::new(second, NOW, until, 9)).await?.len(), 1);
    assert_eq!(storage.feed_replay(late).await?, None, "it is another node's");
    let queued = storage.feed_replay(step(second, 3)).await?;
    assert_eq!(queued, Some(vec![false, false, true]), "two of them are there");
    assert_eq!(storage.replay_totals(&[replay.id]).await?[0].queued, 3);
    assert_eq!(storage.replay(account, replay.id).await?.expect("it is there").skipped, 0);

    let mut cancelled = replay.clone();
    cancelled.finish(ReplayStatus::Cancelled, NOW)?;
    assert!(storage.change_replay(&cancelled, ReplayStatus::Running, NOW).await?);
    let totals = storage.replay_totals(&[replay.id]).await?[0];
    assert_eq!((totals.queued, totals.rejected), (3, 3), "what waits in shards is withdrawn");
    storage.close().await;
    for remove in removals {
        remove.await;
    }
    Ok(())
}

#[tokio::test]
async fn runs_of_a_deleted_function_go() -> Tested {
    let OnSqlite { folder: _folder, storage } = OnSqlite::open().await;
    let account = AccountId::generate();
    let function = Function {
        id: FunctionId::generate(),
        account_id: account,
        payload_size: 8,
        created: NOW,
        updated: NOW,
        spec: FunctionSpec::new("f", Driver::default(), "return r"),
    };
    storage.create_function(&function).await?;
    let run = run_of(&function);
    let webhook = webhook_in(account, bucket_in(&storage, 1).await, NOW);
    let accept = with(accept_of(&webhook, &delivery(OutputId::generate())), |accept| {
        accept.runs = vec![run.clone()];
    });
    storage.accept(accept).await?;
    assert!(storage.execution(account, run.execution.id).await?.is_some());
    storage.control().delete_function(account, function.id).await?;
    storage.tidy().await?;
    assert!(storage.execution(account, run.execution.id).await?.is_none());
    storage.close().await;
    Ok(())
}
