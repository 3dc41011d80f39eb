use std::time::Duration;

use sea_orm::{ConnectionTrait, DbBackend, Statement};
use webhook_core::{
    AccountId, BucketId, DeliveryId, NodeId, OutputId, Timestamp,
    model::{Attempt, DeliveryStatus},
    store::{
        Accept, CountQuery, DayCount, DeliveryStore, Lease, LogQuery, LogStore, MinuteCount,
        NewDelivery, Origin, Settle,
    },
};

use super::{COMMITS, fold};
use crate::{
    Storage, migration,
    writer::{
        Purge,
        tests::{Tested, accept, changed, options_in, storage_in},
    },
};

const NODE_LEASE: Duration = Duration::from_secs(3_600);
const START: Timestamp = Timestamp::from_secs(1_700_000_000);

/// An account with two buckets of two outputs.
struct World {
    storage: Storage,
    account: AccountId,
    places: Vec<(BucketId, OutputId)>,
    node: NodeId,
    random: u64,
    open: Vec<(DeliveryId, Origin, u32)>,
    ended: Vec<DeliveryId>,
}

/// All that counts say.
#[derive(Debug, PartialEq)]
struct Counts {
    days: Vec<DayCount>,
    minutes: Vec<MinuteCount>,
    of_bucket: Vec<MinuteCount>,
    totals: Vec<u64>,
    between: u64,
    received: u64,
}

impl World {
    async fn new(storage: Storage) -> Result<Self, webhook_core::Error> {
        let buckets = [BucketId::generate(), BucketId::generate()];
        let places =
            buckets.iter().flat_map(|bucket| [(); 2].map(|()| (*bucket, OutputId::generate())));
        let node = NodeId::generate();
        storage.extend_lease(Lease::new(node, 0, START + NODE_LEASE)).await?;
        Ok(Self {
            storage,
            account: AccountId::generate(),
            places: places.collect(),
            node,
            random: 7,
            open: Vec::new(),
            ended: Vec::new(),
        })
    }

    fn random(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) as usize % below
    }

    fn received(&mut self) -> Accept {
        let number = self.random(self.places.len());
        let (bucket, output) = self.places[number];
        let received_at = START + Duration::from_secs(40_000 * self.random(4) as u64);
        let mut accept = accept(10);
        let webhook = std::sync::Arc::make_mut(&mut accept.webhook);
        (webhook.account_id, webhook.bucket_id) = (self.account, bucket);
        webhook.received_at = received_at;
        accept.deliveries = vec![changed(
            NewDelivery::new(DeliveryId::generate(), Some(output), Some(START)),
            |delivery| delivery.held_by = Some(self.node),
        )];
        let origin = Origin::new(&accept.webhook, Some(output), received_at);
        self.open.push((accept.deliveries[0].id, origin, 0));
        accept
    }

    /// Stores a webhook, an outcome, or removes a log.
    async fn step(&mut self) -> Result<(), webhook_core::Error> {
        match self.random(8) {
            0..4 => {
                let accept = self.received();
                self.storage.accept(accept).await?;
            }
            4..7 if !self.open.is_empty() => {
                let place = self.random(self.open.len());
                let (id, origin, attempts) = self.open.swap_remove(place);
                let attempts = attempts + 1 + self.random(3) as u32;
                let status = match self.random(3) {
                    0 => DeliveryStatus::Received,
                    1 => DeliveryStatus::Sent,
                    _ => DeliveryStatus::Failed,
                };
                let attempt = Attempt {
                    status_code: [0, 200, 503][self.random(3)],
                    duration: Duration::from_micros(self.random(5_000) as u64),
                    ..Attempt::default()
                };
                let outcome =
                    changed(Settle::new(id, origin, self.node, START, status), |settle| {
                        settle.due_at = Some(START);
                        settle.attempts = attempts;
                        settle.attempt = attempt.into();
                    });
                self.storage.settle(outcome).await?;
                match status {
                    DeliveryStatus::Received => self.open.push((id, origin, attempts)),
                    _ => self.ended.push(id),
                }
            }
            _ if !self.ended.is_empty() => {
                let place = self.random(self.ended.len());
                let id = self.ended.swap_remove(place);
                self.storage.write(Purge { logs: vec![id.as_uuid()], with_objects: false }).await?;
            }
            _ => {}
        }
        Ok(())
    }

    async fn counts(&self) -> Result<Counts, webhook_core::Error> {
        let (storage, account) = (&self.storage, self.account);
        let of_bucket = changed(CountQuery::default(), |query| {
            query.bucket_id = Some(self.places[0].0);
            query.output_id = Some(self.places[0].1);
        });
        let mut totals = Vec::new();
        for status in [None, Some(DeliveryStatus::Received), Some(DeliveryStatus::Sent)] {
            let query = changed(LogQuery::new(1_000), |query| query.status = status);
            let page = storage.logs(account, &query).await?;
            assert_eq!(page.logs.len() as u64, page.total, "all are listed");
            totals.push(page.total);
        }
        let between = changed(LogQuery::default(), |query| {
            query.from = Some(START + Duration::from_secs(11));
            query.to = Some(START + Duration::from_secs(90_007));
        });
        Ok(Counts {
            days: storage.days(account, &CountQuery::default()).await?,
            minutes: storage.minutes(account, &CountQuery::default()).await?,
            of_bucket: storage.minutes(account, &of_bucket).await?,
            totals,
            between: storage.logs(account, &between).await?.total,
            received: storage.received(account, START).await?,
        })
    }
}

/// The tallies that count something, and those that counting every log again brings.
async fn tallies(storage: &Storage) -> Result<[Vec<String>; 2], sea_orm::DbErr> {
    let read = "SELECT CONCAT_WS(' ', span, hex(account_id), hex(bucket_id), moment, \
        hex(output_id), status, status_code, retries, logs, micros) AS tally FROM tally \
        WHERE span < 3 AND logs <> 0 ORDER BY 1";
    let transaction = storage.database().begin().await?;
    let mut found = [Vec::new(), Vec::new()];
    for (number, tallies) in found.iter_mut().enumerate() {
        if number == 1 {
            transaction.execute_unprepared("DELETE FROM tally WHERE span < 3").await?;
            for count in migration::counts(DbBackend::Sqlite) {
                transaction.execute_unprepared(&count.replace("{int}", "INTEGER")).await?;
            }
        }
        let rows = Statement::from_string(DbBackend::Sqlite, read);
        for row in transaction.query_all_raw(rows).await? {
            tallies.push(row.try_get_by("tally")?);
        }
    }
    transaction.rollback().await;
    Ok(found)
}

async fn rows(storage: &Storage) -> Result<i64, sea_orm::DbErr> {
    let count = Statement::from_string(DbBackend::Sqlite, "SELECT COUNT(*) AS n FROM tally_delta");
    let row = storage.database().read.query_one_raw(count).await?;
    row.map_or(Ok(0), |row| row.try_get_by("n"))
}

#[tokio::test]
async fn counts_are_the_same_before_and_after_they_are_folded() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut world = World::new(storage_in(&folder).await?).await?;
    for _ in 0..30 {
        for _ in 0..world.random(25) {
            world.step().await?;
        }
        let before = world.counts().await?;
        fold(world.storage.database()).await?;
        assert_eq!(rows(&world.storage).await?, 0, "all are folded");
        assert_eq!(world.counts().await?, before);
        let [tallies, counted] = tallies(&world.storage).await?;
        assert_eq!(tallies, counted);
    }
    assert!(world.ended.len() > 20 && world.open.len() > 20, "much was counted");
    world.storage.close().await;
    Ok(())
}

/// What had the most retries is gone before it was folded, after it was, and before the
/// others were.
#[tokio::test]
async fn the_most_retries_are_those_of_logs_that_are_there() -> Tested {
    for folded in 0..4 {
        let folder = tempfile::tempdir()?;
        let mut world = World::new(storage_in(&folder).await?).await?;
        let mut ids = Vec::new();
        for attempts in [6, 3] {
            let mut accept = world.received();
            std::sync::Arc::make_mut(&mut accept.webhook).received_at = START;
            let id = accept.deliveries[0].id;
            let origin = Origin::new(&accept.webhook, accept.deliveries[0].output_id, START);
            world.storage.accept(accept).await?;
            let outcome = changed(
                Settle::new(id, origin, world.node, START, DeliveryStatus::Failed),
                |settle| {
                    settle.attempts = attempts;
                    settle.attempt = Attempt { status_code: 500, ..Attempt::default() }.into();
                },
            );
            world.storage.settle(outcome).await?;
            ids.push(id.as_uuid());
            if folded == 1 || (folded == 2 && attempts == 6) {
                fold(world.storage.database()).await?;
            }
        }
        let most = async |world: &World| {
            let days = world.storage.days(world.account, &CountQuery::default()).await?;
            Ok::<_, webhook_core::Error>(days.iter().map(|day| day.max_retries).max())
        };
        assert_eq!(most(&world).await?, Some(5));
        world.storage.write(Purge { logs: vec![ids[0]], with_objects: false }).await?;
        if folded == 3 {
            fold(world.storage.database()).await?;
        }
        assert_eq!(most(&world).await?, Some(2), "{folded}");
        world.storage.close().await;
    }
    Ok(())
}

/// The deltas are in the transactions that they are of: who ends between loses none.
#[tokio::test]
async fn what_was_not_folded_is_folded_at_the_next_start() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options_in(&folder)?;
    let mut world = World::new(Storage::connect(&options).await?).await?;
    for _ in 0..100 {
        world.step().await?;
    }
    let before = world.counts().await?;
    assert!(rows(&world.storage).await? > 50, "nothing was folded");
    world.storage.close().await;

    world.storage = Storage::connect(&options).await?;
    assert_eq!(rows(&world.storage).await?, 0);
    assert_eq!(world.counts().await?, before);
    let [tallies, counted] = tallies(&world.storage).await?;
    assert_eq!(tallies, counted);
    world.storage.close().await;
    Ok(())
}

#[tokio::test]
async fn a_writer_folds_after_so_many_commits() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut world = World::new(storage_in(&folder).await?).await?;
    for _ in 0..COMMITS + 10 {
        let accept = world.received();
        world.storage.accept(accept).await?;
    }
    // The fold is a transaction of its own behind the commit that made it due.
    let left = rows(&world.storage).await?;
    assert!(left <= 11, "{left} are left");
    let [tallies, counted] = tallies(&world.storage).await?;
    assert!(tallies.len() > 10 && tallies.len() <= counted.len());
    assert_eq!(world.counts().await?.totals[1], COMMITS + 10);
    world.storage.close().await;
    Ok(())
}

/// Rows that cannot be read spoil what counts, and nothing else.
#[tokio::test]
async fn a_damaged_row_stops_counting_and_not_storing() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut world = World::new(storage_in(&folder).await?).await?;
    let damaged = "INSERT INTO tally_delta (changes) VALUES (x'ff00')";
    world.storage.database().write.execute_unprepared(damaged).await?;
    assert!(fold(world.storage.database()).await.is_err());
    assert_eq!(rows(&world.storage).await?, 1, "it is kept");
    let accept = world.received();
    world.storage.accept(accept.clone()).await?;
    assert!(world.storage.days(world.account, &CountQuery::default()).await.is_err());
    let (account, webhook) = (accept.webhook.account_id, accept.webhook.id);
    assert_eq!(world.storage.logs_of(account, webhook).await?.len(), 1);
    world.storage.close().await;
    Ok(())
}
