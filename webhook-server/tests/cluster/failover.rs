//! The database fails over to its standby while webhooks come.

use super::*;
use crate::{
    counted::{Seen, Senders, statuses},
    databases::{Database, Programs},
    harness::postgres::{KEY, LEASE_OPTION, SECRET},
    proxy::Proxy,
};

/// How long an acknowledged webhook waits for its attempt after the standby was promoted: a lease,
/// and the time that servers need to connect again.
const ATTEMPTED: Duration = LEASE.saturating_add(Duration::from_secs(5));
/// How long senders may be told to come again after the database is there.
const RECOVERS: Duration = Duration::from_secs(6);
/// How many webhooks each server acknowledges before the database goes, and again after it came.
const BESIDE: u64 = 100;

async fn start(url: &str) -> Server {
    let options = [
        ("WEBHOOK_DATABASE_URL", url),
        ("WEBHOOK_API_KEY", KEY),
        ("WEBHOOK_SECRET_KEY", SECRET),
        LEASE_OPTION,
    ];
    Server::start_with(&options).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_or_late_when_the_database_fails_over() {
    let Some(programs) = Programs::find().await else { return };
    let mut primary = programs.primary("n0").await;
    let proxy = Proxy::to(primary.port).await;
    let url = Database::url(proxy.port);
    let (one, other) = (start(&url).await, start(&url).await);
    for round in 1..=chosen("CLUSTER_FAILOVERS", 2) {
        let standby = programs.standby(&primary, &format!("n{round}")).await;
        let (seen, sink) = Seen::sink(|_, _| Reply::Status(200)).await;
        let bucket = bucket_with(&one, &sink.base, json!(null)).await;
        let urls = [input_url(&one, &bucket), input_url(&other, &bucket)];
        let senders = Senders::start(&urls, 4, Duration::from_millis(50));
        senders.acknowledged(BESIDE).await;

        let gap = Instant::now();
        primary.kill().await;
        standby.promote().await;
        proxy.lead_to(standby.port);
        let there = Instant::now();
        senders.acknowledged(BESIDE).await;
        let sent = senders.stop().await;
        let twice = seen.all(&sent, ATTEMPTED).await;

        let mut latest = Duration::ZERO;
        for sent in &sent {
            match sent.status {
                Some(200) => {
                    let came = seen.first(sent.number).expect("all are there");
                    latest = latest.max(came.saturating_duration_since(sent.at.max(there)));
                }
                Some(503) => {
                    let in_gap = (gap..there + RECOVERS).contains(&sent.at);
                    assert!(in_gap, "503 {:?} after the gap began", sent.at - gap);
                }
                other => panic!("a sender was answered {other:?}"),
            }
        }
        let acknowledged = sent.iter().filter(|sent| sent.is_acknowledged()).count();
        println!(
            "round {round}: away for {:?}, {acknowledged} acknowledged, {twice} twice, the latest \
             {latest:?} after it was there, {:?}",
            there - gap,
            statuses(&sent)
        );
        assert!(acknowledged > 100 && latest < ATTEMPTED, "{acknowledged}, {latest:?}");
        // Every row is there: nothing that was committed was left behind.
        until_logs(&one, &bucket, "sent", acknowledged as u64).await;
        primary = standby;
    }
}
