//! A node is cut off: from the database, from NATS, from both.

use super::*;
use crate::{
    counted::{Seen, Senders, Sent, statuses},
    harness::postgres::{Schema, node_with, skipped},
    nats::Nats,
    proxy::Proxy,
};

/// Of each node: senders, and how long they rest after an answer.
const SENDERS: usize = 4;
const PAUSE: Duration = Duration::from_millis(100);
/// How many webhooks each node acknowledges before the cut, and again after it.
const BESIDE: u64 = 40;
/// A sender is told soon that the database does not answer: before the cut ends.
const REFUSED: (&str, &str) = ("WEBHOOK_ACCEPT_TIMEOUT", "1s");

#[derive(Clone, Copy, PartialEq)]
enum Cut {
    Database,
    Nats,
    Both,
}

/// A node at the end of the proxies that is cut off, and one that is not.
async fn cut(name: &str, what: Cut) {
    let Some(schema) = Schema::create(name).await else { return skipped() };
    let Some(nats) = Nats::start().await else { return schema.remove().await };
    let (url, port) = schema.through_port();
    let (database, messages) = (Proxy::to(port).await, Proxy::to(nats.port).await);
    let url = url(database.port);
    let behind = format!("nats://127.0.0.1:{}", messages.port);
    let direct = format!("nats://127.0.0.1:{}", nats.port);
    let through = [("WEBHOOK_DATABASE_URL", &*url), ("WEBHOOK_NATS_URL", &*behind), REFUSED];
    let cut_off = node_with(&schema, &through).await;
    let other = node_with(&schema, &[("WEBHOOK_NATS_URL", &direct)]).await;
    let (seen, sink) = Seen::sink(|_, _| Reply::Status(200)).await;
    let bucket = bucket_with(&other, &sink.base, json!(null)).await;

    let urls = [input_url(&cut_off, &bucket), input_url(&other, &bucket)];
    let senders = Senders::start(&urls, SENDERS, PAUSE);
    senders.acknowledged(BESIDE).await;
    let cut_at = Instant::now();
    for (proxy, unless) in [(&database, Cut::Nats), (&messages, Cut::Database)] {
        if what != unless {
            proxy.cut();
        }
    }
    // Longer than a lease, and long enough for the other node to look.
    let lasts = chosen("CLUSTER_CUT_SECONDS", LEASE.as_secs() + 2);
    tokio::time::sleep(Duration::from_secs(lasts)).await;
    let mended_at = Instant::now();
    database.mend();
    messages.mend();
    senders.acknowledged(BESIDE).await;
    let sent = senders.stop().await;
    let twice = seen.all(&sent, TAKEN_OVER).await;
    let acknowledged = sent.iter().filter(|sent| sent.is_acknowledged()).count();
    println!("{name}: {acknowledged} acknowledged, {twice} twice, {:?}", statuses(&sent));

    // Senders that are turned away are told so, and only by the node that is cut off.
    let refused: Vec<_> = sent.iter().filter(|sent| !sent.is_acknowledged()).collect();
    let in_time = |sent: &Sent| {
        sent.to == 0 && sent.at > cut_at && sent.at < mended_at + Duration::from_secs(6)
    };
    assert!(refused.iter().all(|sent| sent.status == Some(503) && in_time(sent)), "{refused:?}");
    if what == Cut::Nats {
        assert_eq!((refused.len(), twice), (0, 0), "NATS is only about latency");
    }
    // What was in flight, and what had its outcome on the way, when the cut came.
    let before = cut_at - Duration::from_secs(1);
    let under_way =
        sent.iter().filter(|sent| sent.to == 0 && (before..mended_at).contains(&sent.at));
    let under_way = under_way.count();
    assert!(twice <= under_way, "{twice} twice, {under_way} under way");
    assert!(seen.times().values().all(|count| *count <= 2));
    // It takes part again, and its outcomes are there.
    until_logs(&cut_off, &bucket, "sent", acknowledged as u64).await;
    assert_eq!(logs(&other, &bucket, "failed").await, 0);
    drop((cut_off, other));
    schema.remove().await;
}

#[tokio::test]
async fn a_node_without_its_database_turns_away_and_the_other_goes_on() {
    cut("cut_database", Cut::Database).await;
}

#[tokio::test]
async fn a_node_without_nats_loses_nothing_and_sends_nothing_twice() {
    cut("cut_nats", Cut::Nats).await;
}

#[tokio::test]
async fn a_node_without_both_turns_away_and_comes_back() {
    cut("cut_both", Cut::Both).await;
}
