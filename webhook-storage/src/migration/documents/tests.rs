//! A database of the version before becomes one of documents, whatever ends the pass.

use std::{process::Stdio, time::Duration};

use sea_orm::{ConnectionTrait, prelude::Uuid};
use webhook_core::{
    AccountId, BucketId, FunctionId, OutputId, Timestamp,
    model::{Bucket, Cron, Domain, Function, Notification},
    store::{BucketStore, DocumentKind, DocumentStore, FunctionStore, OutputStore},
};

use crate::{
    SecretKey, Storage, StorageOptions,
    database::Database,
    migration::{STEPS, apply},
    secret::{Cell, Vault},
    tx::{Param, Tx, with},
};

type Tested = Result<(), Box<dyn std::error::Error>>;

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
/// In the environment of a process that is to migrate.
const URL: &str = "MIGRATED_DATABASE";
const BUCKETS: u128 = 700;
const ACCOUNT: u128 = 5;

fn options(url: &str) -> Result<StorageOptions, Box<dyn std::error::Error>> {
    Ok(StorageOptions::new(url.parse()?, KEY.parse::<SecretKey>()?))
}

const fn uuid(kind: u128, number: u128) -> Uuid {
    Uuid::from_u128((kind << 64) | number)
}

/// Writes rows as the version before did: 700 buckets, each with an input, an output without a
/// name and a function, all functions of one name; a domain, a cron without a name, and a
/// notification.
async fn write_old(database: &Database, vault: &Vault) -> Tested {
    let account = uuid(0, ACCOUNT);
    let seal =
        |table, column, id, text: &str| vault.seal(Cell::new(table, column, id), text.as_bytes());
    let transaction = database.begin().await?;
    let tx = &*transaction;
    let run = async |sql: &'static str, values: Vec<Param<'static>>| {
        Tx::execute(tx, with(sql, values)).await
    };
    let domain = "INSERT INTO domain (id, account_id, name, created_at, updated_at) \
        VALUES (?, ?, 'hooks.example.com', 7, 7)";
    run(domain, vec![uuid(5, 1).into(), account.into()]).await?;
    for number in 1..=BUCKETS {
        let (bucket, input, output, function) =
            (uuid(1, number), uuid(2, number), uuid(3, number), uuid(4, number));
        let function_sql = "INSERT INTO function (id, account_id, payload_size, created, updated, \
            name, driver, payload, metadata) VALUES (?, ?, 1, 7, 7, 'same', 'lua', ?, '{}')";
        let source = format!("-- {number}").into_bytes();
        run(function_sql, vec![function.into(), account.into(), source.into()]).await?;
        let bucket_sql = "INSERT INTO bucket (id, account_id, created_at, updated_at, suspended, \
            name, description, stream, ephemeral, large_webhooks, static_ip, auth_type, \
            auth_username, auth_password_sealed) \
            VALUES (?, ?, 7, 7, FALSE, ?, '', TRUE, FALSE, FALSE, FALSE, 'basic', 'u', ?)";
        let password = seal("bucket", "auth_password_sealed", bucket, &format!("pw{number}"))?;
        let name = format!("bucket {number}");
        run(bucket_sql, vec![bucket.into(), account.into(), name.into(), password.into()]).await?;
        let input_sql = "INSERT INTO input (id, bucket_id, created_at, updated_at, created_by, \
            name, description, function_id, status_code, headers, body, response_from_output, \
            custom_domain, path_prefix, strip_path_prefix, tls_version, legacy_tls) \
            VALUES (?, ?, 7, 7, 'x', 'i', '', ?, 201, ?, ?, '', ?, ?, FALSE, '', FALSE)";
        let (host, prefix) = match number {
            // Two of them have the same place.
            1 | 2 => ("hooks.example.com", "/a"),
            _ => ("", ""),
        };
        let values = vec![
            input.into(),
            bucket.into(),
            function.into(),
            Vec::new().into(),
            b"ok".to_vec().into(),
            host.into(),
            prefix.into(),
        ];
        run(input_sql, values).await?;
        let output_sql = "INSERT INTO output (id, bucket_id, created_at, updated_at, created_by, \
            name, description, destination, function_id, internal, disabled, lock_path, retries, \
            timeout_secs, tls_verification, throttle, durability, rules_sealed, extensions_sealed) \
            VALUES (?, ?, 7, 9, 'x', '', '', 'http://127.0.0.1/', ?, FALSE, FALSE, FALSE, 2, 7, \
            TRUE, '{}', '{}', ?, ?)";
        let extensions = "{\"pauses\":{\"pause\":{\"at\":8,\"until\":null,\"by\":\"caller\",\
            \"reason\":\"why\"},\"past\":[[1,2]]},\"failing\":{\"since\":3},\
            \"disabling\":{\"on_disabled\":\"park\"},\
            \"auth\":{\"type\":\"bearer\",\"token\":\"a secret token\"}}";
        let values = vec![
            output.into(),
            bucket.into(),
            function.into(),
            seal("output", "rules_sealed", output, "{\"and\":[]}")?.into(),
            seal("output", "extensions_sealed", output, extensions)?.into(),
        ];
        run(output_sql, values).await?;
    }
    let version = "INSERT INTO function_version (function_id, number, created, hash) \
        VALUES (?, ?, ?, ?)";
    let source = "INSERT INTO function_source (function_id, hash, driver, payload_size, payload) \
        VALUES (?, ?, 'lua', 1, ?)";
    for number in 1..=2_i64 {
        let hash = vec![number.unsigned_abs() as u8; 32];
        let values =
            vec![uuid(4, 1).into(), number.into(), (6 + number).into(), hash.clone().into()];
        run(version, values).await?;
        let text = if number == 1 { "-- before" } else { "-- 1" };
        run(source, vec![uuid(4, 1).into(), hash.into(), text.as_bytes().into()]).await?;
    }
    let variable = "INSERT INTO variable (function_id, key, value_sealed, created_at, updated_at) \
        VALUES (?, 'K', NULL, 7, 7)";
    run(variable, vec![uuid(4, 1).into()]).await?;
    let cron = "INSERT INTO cron (id, account_id, created_at, updated_at, next_run, wakes_at, \
        bucket_id, input_id, output_id, name, enabled, recurring, schedule, timezone, method, \
        destination, payload) VALUES (?, ?, 7, 7, 99, 99, ?, ?, ?, '', TRUE, TRUE, '@daily', 'UTC', \
        'POST', 'http://127.0.0.1/', ?)";
    let values = vec![
        uuid(6, 1).into(),
        account.into(),
        uuid(1, 1).into(),
        uuid(2, 1).into(),
        uuid(3, 1).into(),
        Vec::new().into(),
    ];
    run(cron, values).await?;
    let notification = "INSERT INTO notification (id, account_id, created_at, updated_at, \
        last_sent_at, to_bucket, events, buckets, disabled, min_interval) \
        VALUES (?, ?, 7, 7, 8, ?, '[\"queue.deep\"]', '[]', FALSE, 60000000000)";
    run(notification, vec![uuid(7, 1).into(), account.into(), uuid(1, 1).into()]).await?;
    transaction.commit().await?;
    Ok(())
}

async fn make_old(url: &str) -> Tested {
    let options = options(url)?;
    let database = Database::open(&options).await?;
    let before = STEPS.iter().position(|(name, _)| *name == super::STEP);
    apply(&database, &STEPS[..before.expect("the step is there")]).await?;
    write_old(&database, &Vault::new(&options.secret_key)?).await?;
    database.close().await;
    Ok(())
}

async fn expect_all(url: &str) -> Tested {
    let storage = Storage::connect(&options(url)?).await?;
    let account = AccountId::from_uuid(uuid(0, ACCOUNT));
    let documents: &dyn DocumentStore = &storage;
    let buckets = documents.buckets(account).await?;
    assert_eq!(buckets.len() as u128, BUCKETS);
    for (bucket, number) in buckets.iter().zip(1..) {
        let Bucket { id, spec, inputs, outputs, .. } = bucket;
        assert_eq!(*id, BucketId::from_uuid(uuid(1, number)));
        assert_eq!(spec.auth.password.expose(), format!("pw{number}"));
        assert_eq!((inputs.len(), outputs.len()), (1, 1));
        assert_eq!((inputs[0].spec.status_code, &*inputs[0].spec.body), (201, "ok"));
        let output = &outputs[0];
        assert_eq!((output.spec.retries, output.spec.timeout), (2, Some(Duration::from_secs(7))));
        assert_eq!(output.spec.function_id, Some(FunctionId::from_uuid(uuid(4, number))));
        assert_eq!(output.failing_since, Some(Timestamp::from_millis(3)));
        let pause = output.pauses.current(Timestamp::from_millis(20)).expect("it is paused");
        assert_eq!((pause.at, &*pause.reason), (Timestamp::from_millis(8), "why"));
        assert!(output.spec.auth.set().is_some() && output.spec.on_disabled.is_some());
    }
    assert_eq!(documents.list::<Function>(account).await?.len() as u128, BUCKETS);
    let versions = documents.function_versions(account, FunctionId::from_uuid(uuid(4, 1))).await?;
    let sources: Vec<_> = versions.iter().map(|it| (it.version, it.payload.as_deref())).collect();
    assert_eq!(sources, [(2, Some("-- 1")), (1, Some("-- before"))]);
    assert_eq!(storage.variables(account, FunctionId::from_uuid(uuid(4, 1))).await?.len(), 1);
    let crons = documents.list::<Cron>(account).await?;
    assert_eq!((crons.len(), crons[0].next_run), (1, Some(Timestamp::from_millis(99))));
    let notifications = documents.list::<Notification>(account).await?;
    assert_eq!(notifications[0].last_sent_at, Some(Timestamp::from_millis(8)));
    let domain: Domain = documents.domain_named("hooks.example.com").await?.expect("it is kept");
    let at = webhook_core::store::InputStore::inputs_of_domain(&storage, &domain).await?;
    assert_eq!(at.len(), 2, "two inputs had the same place");
    let counts = documents.counts(account).await?;
    let count = |kind| counts.iter().find(|it| it.0 == kind).map(|it| u128::from(it.1));
    for kind in [DocumentKind::Bucket, DocumentKind::Input, DocumentKind::Output] {
        assert_eq!(count(kind), Some(BUCKETS));
    }

    // A secret that is replaced or removed is in no old table.
    let left = async |table: &str, id: Uuid| -> Result<usize, Box<dyn std::error::Error>> {
        let sql = format!("SELECT id FROM old_{table} WHERE id = ?");
        let rows =
            crate::tx::Read::query(&storage.database().read, with(sql, [id.into()]), |row| {
                row.get::<Uuid>("id")
            });
        Ok(rows.await?.len())
    };
    let mut output = buckets[1].outputs[0].clone();
    output.spec.description = "changed".to_owned();
    documents.update_output(account, &output).await?;
    documents.delete_output(account, OutputId::from_uuid(uuid(3, 3))).await?;
    for (number, kept) in [(2, 0), (3, 0), (4, 1)] {
        assert_eq!(left("output", uuid(3, number)).await?, kept, "{number}");
    }
    storage.close().await;
    Ok(())
}

/// The process that [`migrate_with_kills`] starts.
#[tokio::test]
#[ignore = "another test starts it"]
#[allow(clippy::disallowed_methods, reason = "the test that starts it says where")]
async fn migrates_what_it_is_told() -> Tested {
    let Ok(url) = std::env::var(URL) else { return Ok(()) };
    Storage::connect(&options(&url)?).await?.close().await;
    Ok(())
}

/// Migrates in processes that are killed, each later than the one before, until one is through.
async fn migrate_with_kills(url: &str) -> Tested {
    let name = "migration::documents::tests::migrates_what_it_is_told";
    let mut killed = 0;
    for millis in (0..).map(|kill| 20 << kill) {
        let mut child = std::process::Command::new(std::env::current_exe()?)
            .args([name, "--exact", "--ignored"])
            .env(URL, url)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        tokio::time::sleep(Duration::from_millis(millis)).await;
        if let Some(status) = child.try_wait()? {
            assert!(status.success(), "after {killed} kills");
            break;
        }
        child.kill()?;
        child.wait()?;
        killed += 1;
    }
    assert!(killed > 2, "the pass took no time");
    Ok(())
}

#[tokio::test]
async fn a_data_folder_of_the_version_before_is_migrated_through_kills() -> Tested {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
    make_old(&url).await?;
    migrate_with_kills(&url).await?;
    expect_all(&url).await
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn a_database_of_the_version_before_is_migrated_through_kills() -> Tested {
    let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
        println!("skipped: TEST_POSTGRES_URL is not set");
        return Ok(());
    };
    let schema = format!("test_{}", Uuid::new_v4().simple());
    let whole = sea_orm::Database::connect(&server).await?;
    whole.execute_unprepared(&format!("CREATE SCHEMA {schema}")).await?;
    let url = format!("{server}?options=-csearch_path%3D{schema}");
    make_old(&url).await?;
    migrate_with_kills(&url).await?;
    expect_all(&url).await?;
    whole.execute_unprepared(&format!("DROP SCHEMA {schema} CASCADE")).await?;
    whole.close().await?;
    Ok(())
}

#[tokio::test]
async fn a_value_that_cannot_be_opened_is_named_and_nothing_of_its_turn_is_moved() -> Tested {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
    make_old(&url).await?;
    let database = Database::open(&options(&url)?).await?;
    let broken = uuid(3, 600);
    let sql = "UPDATE output SET rules_sealed = ? WHERE id = ?";
    Tx::execute(&database.write, with(sql, [vec![1, 2, 3].into(), broken.into()])).await?;
    database.close().await;
    for _ in 0..2 {
        let error = Storage::connect(&options(&url)?).await.expect_err("it cannot be opened");
        let said = error.to_string();
        assert!(said.contains(&format!("output.rules_sealed of row {broken}")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let database = Database::open(&options(&url)?).await?;
    let sql = "SELECT id FROM document WHERE kind = 'output'";
    let moved = crate::tx::Read::query(&database.read, with(sql, []), |row| row.get::<Uuid>("id"));
    assert_eq!(moved.await?.len(), 500, "those of the turn before");
    database.close().await;
    Ok(())
}

#[tokio::test]
async fn a_document_of_a_newer_form_is_refused_in_one_line() -> Tested {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
    make_old(&url).await?;
    Storage::connect(&options(&url)?).await?.close().await;
    let database = Database::open(&options(&url)?).await?;
    database.write.execute_unprepared("UPDATE document SET schema = 9 WHERE kind = 'cron'").await?;
    database.close().await;
    let error = Storage::connect(&options(&url)?).await.expect_err("it is newer").to_string();
    let expected = "database: a newer version of this program wrote the cron";
    assert!(error.starts_with(expected) && error.lines().count() == 1, "{error}");
    Ok(())
}
