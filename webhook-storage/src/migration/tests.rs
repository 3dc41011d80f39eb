use std::time::Duration;

use sea_orm::ConnectionTrait;
use serde_json::json;
use webhook_core::{
    AccountId, DeliveryId, ErrorKind, ExecutionId, FunctionId, NodeId, Timestamp,
    model::{
        DeliveryStatus, Driver, Execution, ExecutionStatus, Function, FunctionSpec, FunctionVersion,
    },
    store::{
        Change, CountQuery, DeliveryStore, DocumentStore, ExecutionPage, FunctionStore, LogQuery,
        LogStore, Origin, Settle,
    },
};

use super::*;
use crate::{
    SecretKey, Storage, StorageOptions,
    entity::{Table, account, webhook},
};

fn options(folder: &tempfile::TempDir) -> Result<StorageOptions, Error> {
    let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
    Ok(StorageOptions::new(url.parse()?, SecretKey::generate()?))
}

type Tested = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn migrating_again_changes_nothing() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    for _ in 0..2 {
        Storage::migrate(&options).await?;
    }
    let database = Database::open(&options).await?;
    migrate(&database).await?;
    assert_eq!(applied(&database.read).await?.len(), STEPS.len());
    database.close().await;
    Ok(())
}

#[tokio::test]
async fn an_old_database_is_brought_up_to_date_and_keeps_its_rows() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let old = Database::open(&options).await?;
    apply(&old, &STEPS[..1]).await?;
    let insert = "INSERT INTO account (id, name, created_at) VALUES (x'018f0000000070008000000000000000', 'a', 7)";
    old.write.execute_unprepared(insert).await?;
    assert!(webhook::Model::select(&old.read, "", []).await.is_err(), "not there yet");
    old.close().await;

    let storage = Storage::connect(&options).await?;
    let read = &storage.database().read;
    assert!(webhook::Model::select(read, "", []).await?.is_empty());
    let kept = account::Model::select(read, "", []).await?;
    assert_eq!((kept.len(), kept[0].name.as_str(), kept[0].created_at), (1, "a", 7));
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn a_step_that_fails_leaves_nothing_behind() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let database = Database::open(&options).await?;
    // In the way of the last step, so that the first one has to be taken back.
    database.write.execute_unprepared("CREATE TABLE node_lease (x INTEGER)").await?;
    assert!(migrate(&database).await.is_err());
    assert!(account::Model::select(&database.read, "", []).await.is_err());
    database.write.execute_unprepared("DROP TABLE node_lease").await?;
    migrate(&database).await?;
    assert!(account::Model::select(&database.read, "", []).await?.is_empty());
    database.close().await;
    Ok(())
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let database = Database::open(&options).await?;
    migrate(&database).await?;
    // By a version that did not say yet what the schema asks for.
    database.write.execute_unprepared("DELETE FROM meta WHERE name = 'min_reader'").await?;
    let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_newer', 0)";
    database.write.execute_unprepared(newer).await?;
    database.close().await;

    let error = Storage::connect(&options).await.expect_err("the schema is unknown");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("m9999_newer"), "{error}");
    // The lock was given back.
    let database = Database::open(&options).await?;
    database.close().await;
    Ok(())
}

/// A newer version adds what this one need not know, and later drops what this one reads.
#[tokio::test]
async fn a_newer_schema_is_worked_on_as_long_as_it_asks_for_no_more() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let database = Database::open(&options).await?;
    migrate(&database).await?;
    let asked = reader::asked_by_schema(&database.read).await?;
    assert_eq!(asked, Some(reader::asked_by(STEPS)));
    let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_newer', 0)";
    database.write.execute_unprepared(newer).await?;
    migrate(&database).await?;
    for asks in ["x'39393939'", "x'21'"] {
        let ask = format!("UPDATE meta SET value = {asks} WHERE name = 'min_reader'");
        database.write.execute_unprepared(&ask).await?;
        let error = migrate(&database).await.expect_err("it asks for more");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("asks for a newer version"), "{error}");
    }
    database.close().await;
    Ok(())
}

#[tokio::test]
async fn logs_that_are_there_already_are_counted() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let old = Database::open(&options).await?;
    apply(&old, &STEPS[..2]).await?;
    // Two days, four statuses; what is open counts without what attempts brought.
    for (number, (status, code, attempts)) in
        [(1, 200, 1), (1, 200, 3), (2, 503, 4), (4, 503, 2), (0, 503, 2), (5, 0, 0)]
            .into_iter()
            .enumerate()
    {
        let insert = format!(
            "INSERT INTO delivery (id, webhook_id, account_id, bucket_id, output_id, internal, \
             ephemeral, status, due_at, attempts, created_at, updated_at, status_code, \
             duration_ns) VALUES (x'{number:032x}', x'{number:032x}', x'{:032x}', x'{:032x}', \
             NULL, 0, 0, {status}, {}, {attempts}, {}, 0, {code}, 2500000)",
            7,
            8,
            if status == 4 { "5" } else { "NULL" },
            1_760_000_000_123_i64 + number as i64 / 3 * 86_400_000,
        );
        old.write.execute_unprepared(&insert).await?;
    }
    old.close().await;

    let storage = Storage::connect(&options).await?;
    let account = webhook_core::AccountId::from_uuid(sea_orm::prelude::Uuid::from_u128(7));
    let days = storage.days(account, &CountQuery::default()).await?;
    let day = |day: usize| (days[day].received, days[day].success, days[day].failures);
    assert_eq!((days.len(), day(0), day(1)), (2, (3, 2, 1), (3, 0, 0)));
    assert_eq!((days[0].retried, days[0].retry_count, days[0].max_retries), (2, 5, 3));
    let minutes = storage.minutes(account, &CountQuery::default()).await?;
    assert_eq!(minutes.len(), 2);
    assert!((minutes[0].latency_ms_avg - 2.5).abs() < 1e-9);
    assert_eq!(minutes[1].counts, [("received", 2), ("rejected", 1)].into());
    let page = storage.logs(account, &LogQuery::new(0)).await?;
    assert_eq!((page.total, page.has_more), (6, true));
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn what_a_log_said_of_an_inputs_function_becomes_a_fact() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let old = Database::open(&options).await?;
    let step = STEPS.iter().position(|(name, _)| *name == "m0014_input_failures");
    apply(&old, &STEPS[..step.expect("the step")]).await?;
    let errors =
        ["NULL", "'the output''s function failed: no'", "'the input''s function failed: no'"];
    for (number, error) in errors.into_iter().enumerate() {
        let insert = format!(
            "INSERT INTO webhook (id, account_id, bucket_id, input_id, method, extra_path, \
             raw_query, headers, secure, ephemeral, received_at, body) VALUES \
             (x'{number:032x}', x'{0:032x}', x'{0:032x}', x'{0:032x}', 'POST', x'', x'', x'', \
             0, 0, 0, x''); \
             INSERT INTO delivery (id, webhook_id, account_id, bucket_id, internal, ephemeral, \
             status, created_at, updated_at, error) VALUES (x'{number:032x}', \
             x'{number:032x}', x'{0:032x}', x'{0:032x}', 0, 0, 2, 0, 0, {error})",
            7
        );
        old.write.execute_unprepared(&insert).await?;
    }
    migrate(&old).await?;
    let webhooks = webhook::Model::select(&old.read, "", []).await?;
    let mut failed: Vec<_> = webhooks.iter().map(|row| (row.id, row.input_failed)).collect();
    failed.sort_unstable();
    assert_eq!(
        failed.into_iter().map(|(_, failed)| failed).collect::<Vec<_>>(),
        [false, false, true]
    );
    old.close().await;
    Ok(())
}

/// What was counted at once so far, and what is appended from now on, add up.
#[tokio::test]
async fn logs_in_every_state_are_counted_on_from_where_the_last_version_stopped() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let old = Database::open(&options).await?;
    let before = STEPS.iter().position(|(name, _)| *name == "m0015_deltas").ok_or("a step")?;
    apply(&old, &STEPS[..before]).await?;
    let node = "x'000000000000000000000000000000ff'";
    // Held, free and due later, waiting for clients, handed over, sent, failed, rejected, stalled.
    let states = [
        (0, "1", node, false),
        (4, "5", node, false),
        (4, "5", "NULL", false),
        (4, "NULL", "NULL", false),
        (1, "NULL", "NULL", true),
        (1, "NULL", "NULL", false),
        (2, "NULL", "NULL", false),
        (5, "NULL", "NULL", false),
        (3, "NULL", "NULL", false),
    ];
    let at = 1_760_000_000_123_i64;
    for (number, (status, due_at, held_by, handed_over)) in states.into_iter().enumerate() {
        let webhook = format!(
            "INSERT INTO webhook (id, account_id, bucket_id, input_id, method, extra_path, \
             raw_query, headers, secure, ephemeral, received_at, body) VALUES (x'{number:032x}', \
             x'{:032x}', x'{:032x}', x'{:032x}', 'POST', x'', x'', x'', 0, 0, {at}, x'')",
            7, 8, 6
        );
        old.write.execute_unprepared(&webhook).await?;
        let delivery = format!(
            "INSERT INTO delivery (id, webhook_id, account_id, bucket_id, output_id, internal, \
             ephemeral, status, due_at, held_by, attempts, created_at, updated_at, status_code, \
             duration_ns, handed_over) VALUES (x'{number:032x}', x'{number:032x}', x'{:032x}', \
             x'{:032x}', x'{:032x}', 0, 0, {status}, {due_at}, {held_by}, 3, {at}, {at}, 503, \
             2500000, {handed_over})",
            7, 8, 9
        );
        old.write.execute_unprepared(&delivery).await?;
    }
    for count in counts(DbBackend::Sqlite) {
        old.write.execute_unprepared(&count.replace("{int}", "INTEGER")).await?;
    }
    old.close().await;

    let storage = Storage::connect(&options).await?;
    let uuid = sea_orm::prelude::Uuid::from_u128;
    let account = AccountId::from_uuid(uuid(7));
    let counted = async || {
        let days = storage.days(account, &CountQuery::default()).await?;
        let all = LogQuery::new(100);
        let page = storage.logs(account, &all).await?;
        assert_eq!((days.len(), page.logs.len() as u64), (1, page.total));
        let day = &days[0];
        Ok::<_, Error>((page.total, day.received, day.success, day.failures, day.retried))
    };
    assert_eq!(counted().await?, (9, 9, 2, 1, 5));
    // The first one is sent after all, and is counted in a row that is not folded yet.
    let first = DeliveryId::from_uuid(uuid(0));
    let log = storage.log(account, first).await?.ok_or("the log is gone")?;
    let origin = Origin::new(&log.webhook, log.delivery.output_id, log.delivery.created_at);
    let now = Timestamp::from_millis(at);
    let mut settle = Settle::new(first, origin, NodeId::generate(), now, DeliveryStatus::Sent);
    settle.attempts = 1;
    storage.settle(settle).await?;
    assert_eq!(counted().await?, (9, 9, 3, 1, 5));
    storage.close().await;
    let storage = Storage::connect(&options).await?;
    let days = storage.days(account, &CountQuery::default()).await?;
    assert_eq!((days[0].received, days[0].success, days[0].retried), (9, 3, 5));
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn what_changed_before_there_were_versions_is_known_from_then_on() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let old = Database::open(&options).await?;
    let before = STEPS.iter().position(|(name, _)| *name == "m0026_versions");
    apply(&old, &STEPS[..before.expect("the step is there")]).await?;
    for (number, updated) in [(1, 7), (2, 9)] {
        let insert = format!(
            "INSERT INTO function (id, account_id, payload_size, created, updated, name, driver, \
             payload, metadata) VALUES (x'{number:032x}', x'{:032x}', 1, 7, {updated}, 'f', \
             'lua', x'61', '{{}}')",
            5,
        );
        old.write.execute_unprepared(&insert).await?;
    }
    old.close().await;

    let storage = Storage::connect(&options).await?;
    let uuid = sea_orm::prelude::Uuid::from_u128;
    let account = AccountId::from_uuid(uuid(5));
    for (number, since) in [(1, 7), (2, 9)] {
        let id = FunctionId::from_uuid(uuid(number));
        let documents: &dyn DocumentStore = &storage;
        let function = documents.get::<Function>(account, id.as_uuid()).await?;
        let mut function = function.ok_or("it is there")?;
        let mut first = FunctionVersion::current(&function).with_payload("a".to_owned());
        assert_eq!((first.version, first.created), (1, Timestamp::from_millis(since)));
        assert_eq!(documents.function_versions(account, id).await?, [first.clone()]);
        let at = Timestamp::from_millis(20);
        function.change(FunctionSpec::new("f", Driver::Lua, "b"), at);
        let update = Change::update(account, &function, function.version)?;
        documents.apply(&[update]).await.map_err(webhook_core::Error::from)?;
        let second = FunctionVersion::current(&function).with_payload("b".to_owned());
        assert_eq!((second.version, second.created), (2, at));
        first.current = false;
        assert_eq!(documents.function_versions(account, id).await?, [second, first]);
    }
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn runs_of_earlier_versions_are_read_as_they_were() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options(&folder)?;
    let old = Database::open(&options).await?;
    let before = STEPS.iter().position(|(name, _)| *name == "m0030_runs");
    apply(&old, &STEPS[..before.expect("the step is there")]).await?;
    for insert in [
        "INSERT INTO function (id, account_id, payload_size, created, updated, name, driver, \
         payload, metadata) VALUES (x'00000000000000000000000000000001', \
         x'00000000000000000000000000000005', 1, 7, 7, 'f', 'lua', x'61', '{}')",
        "INSERT INTO execution (id, function_id, account_id, created, updated, duration_ns, status, \
         request, response) VALUES (x'00000000000000000000000000000009', \
         x'00000000000000000000000000000001', x'00000000000000000000000000000005', 7, 8, 9, \
         'error', '{\"request\":{\"body\":\"YQ==\"}}', '{\"error\":\"broken\",\"logs\":[\"a\"]}')",
    ] {
        old.write.execute_unprepared(insert).await?;
    }
    old.close().await;

    let storage = Storage::connect(&options).await?;
    let uuid = sea_orm::prelude::Uuid::from_u128;
    let (account, function) = (AccountId::from_uuid(uuid(5)), FunctionId::from_uuid(uuid(1)));
    let page = storage.executions(account, function, 9, 0).await?;
    let run = Execution {
        id: ExecutionId::from_uuid(uuid(9)),
        function_id: function,
        account_id: account,
        created: Timestamp::from_millis(7),
        updated: Timestamp::from_millis(8),
        duration: Duration::from_nanos(9),
        status: ExecutionStatus::Error,
        stands_for: 1,
        execute_request: json!({ "request": { "body": "YQ==" } }),
        execute_response: json!({ "error": "broken", "logs": ["a"] }),
    };
    assert_eq!(page, ExecutionPage::new(vec![run], 1));
    storage.close().await;
    Ok(())
}
