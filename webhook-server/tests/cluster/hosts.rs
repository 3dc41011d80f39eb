//! PostgreSQL with several hosts in its URL, without a proxy: the database moves from one to
//! another while webhooks come.

use super::*;
use crate::{
    counted::{Seen, Senders, statuses},
    databases::{Database, Programs},
    harness::postgres::{KEY, LEASE_OPTION, SECRET},
};

/// How long an acknowledged webhook waits for its attempt after the other host takes writes.
const ATTEMPTED: Duration = LEASE.saturating_add(Duration::from_secs(5));
/// How long senders may be told to come again after the other host takes writes.
const RECOVERS: Duration = Duration::from_secs(6);
/// How many webhooks are acknowledged before, and again after.
const BESIDE: u64 = 100;

/// How the first host ends to be the one that is wanted.
enum End {
    /// It is gone.
    Killed,
    /// Its connections stay open, and it takes no writes any more.
    ReadOnly,
}

async fn moves(end: End, wanted: &str) {
    let Some(programs) = Programs::find().await else { return };
    let mut first = programs.primary("n0").await;
    let second = programs.standby(&first, "n1").await;
    // The first host of the URL is a standby, which the server passes over.
    let url = Database::url_of(&[second.port, first.port], wanted);
    let options = [
        ("WEBHOOK_DATABASE_URL", &*url),
        ("WEBHOOK_API_KEY", KEY),
        ("WEBHOOK_SECRET_KEY", SECRET),
        LEASE_OPTION,
    ];
    let server = Server::start_with(&options).await;
    let (seen, sink) = Seen::sink(|_, _| Reply::Status(200)).await;
    let bucket = bucket_with(&server, &sink.base, json!(null)).await;
    let senders = Senders::start(&[input_url(&server, &bucket)], 4, Duration::from_millis(20));
    senders.acknowledged(BESIDE).await;

    let gap = Instant::now();
    match end {
        End::Killed => first.kill().await,
        End::ReadOnly => {
            first.ask("ALTER SYSTEM SET default_transaction_read_only = on").await;
            first.ask("SELECT pg_reload_conf()").await;
        }
    }
    second.promote().await;
    let there = Instant::now();
    senders.acknowledged(BESIDE).await;
    let sent = senders.stop().await;
    seen.all(&sent, ATTEMPTED).await;
    println!("{:?} of {:?}", statuses(&sent), sent.len());
    for sent in &sent {
        let in_gap = (gap..there + RECOVERS).contains(&sent.at);
        assert!(sent.is_acknowledged() || sent.status == Some(503) && in_gap, "{sent:?}");
    }
    let acknowledged = sent.iter().filter(|sent| sent.is_acknowledged()).count() as u64;
    until_logs(&server, &bucket, "sent", acknowledged).await;
    // A webhook that was answered 503 may be stored.
    let stored: u64 = second.ask("SELECT count(*) FROM webhook").await.parse().expect("a number");
    assert!((acknowledged..=sent.len() as u64).contains(&stored), "{stored} of {acknowledged}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_host_is_found_when_one_is_gone() {
    moves(End::Killed, "primary").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_host_is_found_when_one_takes_no_writes_any_more() {
    moves(End::ReadOnly, "read-write").await;
}
