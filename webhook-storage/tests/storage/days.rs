//! A log with a table for each day.

use std::{sync::Arc, time::Duration};

use sea_orm::{
    ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement, TransactionTrait,
};
use uuid::Uuid;
use webhook_core::{
    AccountId, BucketId, DeliveryId, ErrorKind, NodeId, OutputId, Timestamp, WebhookId,
    model::DeliveryStatus,
    store::{
        Accept, Claim, ClientReport, DeliveryStore, Lease, LogQuery, LogStore, NewDelivery,
        OldLogs, Origin, Redeliver,
    },
};
use webhook_storage::{DatabaseUrl, Storage, StorageOptions};

use crate::{
    databases::{on_postgres, open, sqlite},
    sample::{sent, webhook, with},
};

const DAY: Duration = Duration::from_secs(86_400);

/// A moment of a day to come, the first of which has a table of its own: what there was when
/// the log was divided ends with today.
fn moment(day: u32, secs: u64) -> Timestamp {
    let today = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    let today = i64::try_from(today / 86_400 * 86_400).expect("some seconds");
    Timestamp::from_secs(today) + DAY * day + Duration::from_secs(secs)
}

/// A key of this moment.
fn key(moment: Timestamp) -> Uuid {
    let millis = u64::try_from(moment.as_millis()).expect("after 1970");
    let other = BucketId::generate().as_uuid().into_bytes();
    let mut rest = [0; 10];
    rest.copy_from_slice(&other[6..]);
    uuid::Builder::from_unix_timestamp_millis(millis, &rest).into_uuid()
}

/// Where the webhooks of a test come in.
#[derive(Clone, Copy)]
struct Place {
    account: AccountId,
    bucket: BucketId,
    output: OutputId,
    node: NodeId,
}

impl Place {
    fn new() -> Self {
        let (account, bucket) = (AccountId::generate(), BucketId::generate());
        Self { account, bucket, output: OutputId::generate(), node: NodeId::generate() }
    }

    fn delivery(self, at: Timestamp) -> NewDelivery {
        let id = DeliveryId::from_uuid(key(at));
        with(NewDelivery::new(id, Some(self.output), Some(at)), |new| new.held_by = Some(self.node))
    }

    /// A webhook of this moment with one delivery, which its node holds.
    async fn receive(self, storage: &Storage, at: Timestamp) -> Accept {
        let webhook = with(webhook("body"), |webhook| {
            webhook.id = WebhookId::from_uuid(key(at));
            (webhook.account_id, webhook.bucket_id) = (self.account, self.bucket);
            webhook.received_at = at;
        });
        let accept = Accept::new(Arc::new(webhook), vec![self.delivery(at)]);
        storage.accept(accept.clone()).await.expect("it is stored");
        accept
    }

    async fn settle(self, storage: &Storage, accept: &Accept) {
        let origin = Origin::new(&accept.webhook, Some(self.output), accept.webhook.received_at);
        let settle = sent(accept.deliveries[0].id, origin, self.node);
        storage.settle(settle).await.expect("it is settled");
    }

    async fn send(self, storage: &Storage, at: Timestamp) -> Accept {
        let accept = self.receive(storage, at).await;
        self.settle(storage, &accept).await;
        accept
    }

    async fn total(self, storage: &Storage, status: Option<DeliveryStatus>) -> u64 {
        let query = with(LogQuery::new(100), |query| query.status = status);
        let page = storage.logs(self.account, &query).await.expect("a page");
        assert_eq!(page.total, page.logs.len() as u64, "what is counted is there");
        page.total
    }
}

/// The database as its operator sees it.
struct Beside(DatabaseConnection);

impl Beside {
    async fn of(options: &StorageOptions) -> Self {
        // As text it is without the name of the user.
        let DatabaseUrl::Postgres(url) = &options.database_url else { panic!("PostgreSQL") };
        Self(Database::connect(url).await.expect("it is there"))
    }

    async fn count(&self, from: &str) -> i64 {
        let count = format!("SELECT COUNT(*) AS n FROM {from}");
        let count = Statement::from_string(DbBackend::Postgres, count);
        let row = self.0.query_one_raw(count).await.expect("it is read").expect("a row");
        row.try_get_by("n").expect("a number")
    }

    async fn run(&self, sql: &str) {
        self.0.execute_unprepared(sql).await.expect("the statement is valid");
    }

    /// The tables of deliveries.
    async fn tables(&self) -> Vec<String> {
        let find = "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = \
            (SELECT relnamespace FROM pg_class WHERE oid = 'delivery'::regclass) \
            AND relname LIKE '%delivery%' ORDER BY relname";
        let find = Statement::from_string(DbBackend::Postgres, find);
        let rows = self.0.query_all_raw(find).await.expect("they are read");
        rows.iter().map(|row| row.try_get_by("name").expect("a name")).collect()
    }
}

async fn divided(options: &StorageOptions) -> Storage {
    Storage::divide_by_day(options).await.expect("it is divided");
    open(options).await
}

#[tokio::test]
async fn what_was_there_stays_and_no_server_may_run_meanwhile() {
    on_postgres(async |options| {
        let (place, storage) = (Place::new(), open(&options).await);
        let today = moment(0, 60);
        place.send(&storage, today).await;
        let open_one = place.receive(&storage, today).await;
        let until = today + DAY * 2;
        storage.extend_lease(Lease::new(place.node, 1, until)).await.expect("ok");
        let refused = Storage::divide_by_day(&options).await.expect_err("a server is running");
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(refused.to_string().contains("1 servers share the database"), "{refused}");
        storage.release(place.node, None).await.expect("it is released");
        Beside::of(&options).await.run("DELETE FROM node_lease").await;
        storage.close().await;

        for _ in 0..2 {
            Storage::divide_by_day(&options).await.expect("also when it is already");
        }
        let storage = open(&options).await;
        assert_eq!(place.total(&storage, None).await, 2);
        assert_eq!(place.total(&storage, Some(DeliveryStatus::Sent)).await, 1);
        let claim = Claim::new(place.node, place.output, until, 10);
        let claimed = storage.claim(claim).await.expect("a claim").deliveries;
        assert_eq!(claimed.len(), 1);
        assert_eq!(claimed[0].id, open_one.deliveries[0].id);
        let beside = Beside::of(&options).await;
        assert_eq!(beside.tables().await.len(), 5, "before, three days, and the rest");
        assert_eq!(beside.count("delivery_before").await, 2);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn sqlite_has_no_days() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refused = Storage::divide_by_day(&sqlite(folder.path())).await.expect_err("not SQLite");
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn old_days_go_with_their_tables_and_what_is_open_stays() {
    on_postgres(async |options| {
        let (place, other, storage) = (Place::new(), Place::new(), divided(&options).await);
        for minute in 0..20 {
            place.send(&storage, moment(1, minute * 60)).await;
            other.send(&storage, moment(1, minute * 61)).await;
            place.send(&storage, moment(2, minute * 60)).await;
        }
        let open_one = place.receive(&storage, moment(1, 86_399)).await;
        // Sent again on the next day.
        let again = place.send(&storage, moment(1, 7_000)).await;
        let next = place.delivery(moment(2, 3_600));
        let mut redeliver = Redeliver::new(again.webhook.id, vec![next.clone()], moment(2, 3_600));
        redeliver.processed = None;
        storage.redeliver(place.account, redeliver).await.expect("it is stored");
        let origin = Origin::new(&again.webhook, Some(place.output), moment(2, 3_600));
        storage.settle(sent(next.id, origin, place.node)).await.expect("it is settled");
        assert_eq!(place.total(&storage, None).await, 43);

        let beside = Beside::of(&options).await;
        // Not yet: the clocks of keys and of moments may differ.
        let purge = async |before| storage.purge(&OldLogs::new(before), 500).await;
        let of_first =
            format!("delivery_d{}", beside.tables().await[1].trim_start_matches("delivery_d"));
        assert_eq!(purge(moment(1, 0)).await.expect("nothing is so old"), 0);
        assert!(beside.tables().await.contains(&of_first));

        let gone = purge(moment(2, 301)).await.expect("a day is so old");
        assert_eq!(gone, 41 + 6, "the day, and row by row what came in the next five minutes");
        assert!(!beside.tables().await.contains(&of_first), "{:?}", beside.tables().await);
        assert_eq!(place.total(&storage, None).await, 43 - 21 - 6);
        assert_eq!(place.total(&storage, Some(DeliveryStatus::Received)).await, 1);
        assert_eq!(other.total(&storage, None).await, 0);
        assert_eq!(beside.count("delivery_rest").await, 1, "what is open");
        assert_eq!(beside.count("webhook_rest").await, 2, "its webhook, and that of the next day");
        assert_eq!(beside.count("tally WHERE span = 1 AND logs = 0").await, 0);
        place.settle(&storage, &open_one).await;
        assert_eq!(place.total(&storage, Some(DeliveryStatus::Sent)).await, 16);

        let gone = purge(moment(9, 0)).await.expect("all is old");
        assert_eq!(gone, 16);
        for table in ["webhook", "delivery", "tally WHERE span < 3 AND logs <> 0"] {
            assert_eq!(beside.count(table).await, 0, "{table}");
        }
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn what_comes_on_a_day_without_a_table_is_purged_row_by_row() {
    on_postgres(async |options| {
        let (place, storage) = (Place::new(), divided(&options).await);
        for hour in 0..5 {
            place.send(&storage, moment(30, hour * 3_600)).await;
        }
        let beside = Beside::of(&options).await;
        assert_eq!(beside.count("delivery_rest").await, 5);
        // The rows stay where they are, and the days around get tables.
        let before = beside.tables().await.len();
        storage.maintain(moment(29, 0)).await.expect("days are made");
        assert_eq!(beside.tables().await.len(), before + 3);
        place.send(&storage, moment(31, 5)).await;
        assert_eq!(beside.count("delivery_rest").await, 5);
        assert_eq!(place.total(&storage, None).await, 6);
        let old = OldLogs::new(moment(31, 0));
        assert_eq!(storage.purge(&old, 500).await.expect("they are old"), 5);
        assert_eq!(place.total(&storage, None).await, 1);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_day_of_which_too_much_is_open_is_purged_row_by_row() {
    on_postgres(async |options| {
        let (place, storage) = (Place::new(), divided(&options).await);
        let open_ones = (0..1_001).map(|secs| place.receive(&storage, moment(1, secs)));
        futures_util::future::join_all(open_ones).await;
        for secs in 0..600 {
            place.send(&storage, moment(1, secs)).await;
        }
        let beside = Beside::of(&options).await;
        let day = beside.tables().await[1].clone();
        let old = OldLogs::new(moment(2, 301));
        let mut gone = 0;
        // As a server does it.
        loop {
            let some = storage.purge(&old, 500).await.expect("they are old");
            gone += some;
            if some < 500 {
                break;
            }
        }
        assert_eq!(gone, 600);
        assert!(beside.tables().await.contains(&day), "{:?}", beside.tables().await);
        let (held, counted) = (beside.count("delivery").await, "tally WHERE span = 0 AND logs > 0");
        assert_eq!((held, beside.count(counted).await), (1_001, 1));
        storage.close().await;
    })
    .await;
}

/// A copy of the database reads all tables for hours.
#[tokio::test]
async fn a_day_that_is_in_use_goes_as_a_whole_later() {
    on_postgres(async |options| {
        let (place, storage) = (Place::new(), divided(&options).await);
        for minute in 0..30 {
            place.send(&storage, moment(1, minute)).await;
        }
        let beside = Beside::of(&options).await;
        let day = beside.tables().await[1].clone();
        let copying = beside.0.begin().await.expect("it begins");
        let read = format!("SELECT COUNT(*) FROM {day}");
        copying.execute_unprepared(&read).await.expect("it is read");
        let old = OldLogs::new(moment(2, 310));
        assert_eq!(storage.purge(&old, 500).await.expect("it goes on"), 0);
        assert_eq!(place.total(&storage, None).await, 30, "and none is removed row by row");
        copying.commit().await.expect("it ends");

        // Autovacuum, which nobody else waits for, is waited for.
        let vacuum = beside.0.begin().await.expect("it begins");
        let lock = format!("LOCK TABLE {day} IN SHARE UPDATE EXCLUSIVE MODE");
        vacuum.execute_unprepared(&lock).await.expect("it has the table");
        let purging = tokio::spawn({
            let storage = storage.clone();
            async move { storage.purge(&old, 500).await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!purging.is_finished());
        vacuum.commit().await.expect("it ends");
        assert_eq!(purging.await.expect("it ends").expect("all is old"), 30);
        assert!(!beside.tables().await.contains(&day));
        storage.close().await;
    })
    .await;
}

/// Each of two nodes would count what the other one takes off.
#[tokio::test]
async fn nodes_that_purge_at_once_count_each_log_once() {
    on_postgres(async |options| {
        let (place, storage) = (Place::new(), divided(&options).await);
        for minute in 0..30 {
            place.send(&storage, moment(1, minute)).await;
            place.send(&storage, moment(2, minute)).await;
        }
        let second = open(&options).await;
        let old = OldLogs::new(moment(2, 310));
        let purges = [&storage, &second, &storage, &second].map(|node| node.purge(&old, 500));
        let gone = futures_util::future::join_all(purges).await;
        let gone: u64 = gone.into_iter().map(|gone| gone.expect("it ends")).sum();
        assert_eq!(gone, 60);
        assert_eq!(place.total(&storage, None).await, 0);
        let beside = Beside::of(&options).await;
        assert_eq!(beside.count("tally WHERE span < 3 AND logs <> 0").await, 0);
        second.close().await;
        storage.close().await;
    })
    .await;
}

/// What a node leaves that is killed between closing a day and taking it out, and between that
/// and dropping its tables.
#[tokio::test]
async fn a_purge_that_was_killed_is_done_anew() {
    on_postgres(async |options| {
        let (place, storage) = (Place::new(), divided(&options).await);
        let ended = place.send(&storage, moment(1, 1)).await;
        let open_one = place.receive(&storage, moment(1, 2)).await;
        let beside = Beside::of(&options).await;
        let day = beside.tables().await[1].trim_start_matches("delivery_").to_owned();
        for (table, trigger, on, when) in [
            ("webhook", "closed", "INSERT", ""),
            ("delivery", "closed", "INSERT", ""),
            (
                "delivery",
                "ended",
                "UPDATE OR DELETE",
                "WHEN (OLD.due_at IS NULL AND OLD.held_by IS NULL)",
            ),
        ] {
            let make = format!(
                "CREATE TRIGGER {trigger} BEFORE {on} ON {table}_{day} FOR EACH ROW {when} \
                 EXECUTE FUNCTION day_is_closed()"
            );
            beside.run(&make).await;
        }
        beside.run("CREATE TABLE gone_delivery_before AS SELECT * FROM delivery_rest").await;

        // What is open goes on, what has come to an end stays, and nothing new is taken.
        place.settle(&storage, &open_one).await;
        let report =
            ClientReport::new(ended.deliveries[0].id, moment(1, 3), DeliveryStatus::Failed);
        storage.report(place.account, &report).await.expect("it is answered");
        assert_eq!(place.total(&storage, Some(DeliveryStatus::Sent)).await, 2);
        let late = Accept::new(Arc::clone(&ended.webhook), vec![place.delivery(moment(1, 4))]);
        let late = with(late, |late| {
            let webhook = with((*late.webhook).clone(), |webhook| {
                webhook.id = WebhookId::from_uuid(key(moment(1, 4)));
            });
            late.webhook = Arc::new(webhook);
        });
        storage.accept(late).await.expect_err("nothing is acknowledged that goes at once");
        let of_bucket = with(OldLogs::new(moment(9, 0)), |old| old.bucket_id = Some(place.bucket));
        assert_eq!(storage.purge(&of_bucket, 500).await.expect("it ends"), 0, "row by row");

        let old = OldLogs::new(moment(2, 301));
        assert_eq!(storage.purge(&old, 500).await.expect("it is old"), 2);
        assert_eq!(place.total(&storage, None).await, 0);
        for table in ["webhook", "delivery", "tally WHERE span < 3 AND logs <> 0"] {
            assert_eq!(beside.count(table).await, 0, "{table}");
        }
        let left = beside.tables().await;
        assert!(left.iter().all(|table| !table.starts_with("gone_")), "{left:?}");
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn one_node_purges_at_a_time() {
    on_postgres(async |options| {
        let (place, storage) = (Place::new(), open(&options).await);
        let (beside, old) = (Beside::of(&options).await, OldLogs::new(moment(9, 0)));
        let now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)";
        // Another one has its turn; one has lapsed; and one was taken before the clock was set back.
        for (until, gone) in [("20000", 0), ("-1", 1), ("86400000", 1)] {
            place.send(&storage, moment(1, 0)).await;
            beside.run(&format!("UPDATE purge_turn SET until = {now} + {until}")).await;
            assert_eq!(storage.purge(&old, 500).await.expect("it ends") > 0, gone > 0, "{until}");
        }
        assert_eq!(place.total(&storage, None).await, 0);
        // A turn is given up at the end.
        assert_eq!(beside.count("purge_turn WHERE until = 0").await, 1);
        storage.close().await;
    })
    .await;
}
