//! A process that is killed loses nothing that it acknowledged.

use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::Arc,
};

use webhook_core::{
    AccountId, DeliveryId, ErrorKind, NodeId, OutputId,
    model::Webhook,
    store::{Accept, DeliveryStore, Lease, Origin},
};
use webhook_storage::Storage;

use crate::{
    databases::{Tested, open, sqlite},
    sample::{NOW, claim, delivery, sweep, webhook, with},
};

const FOLDER: &str = "WEBHOOK_STORAGE_CRASH_FOLDER";
const OUTPUT: &str = "018f0000-0000-7000-8000-000000000001";
const ACCOUNT: &str = "018f0000-0000-7000-8000-000000000002";
const ACKNOWLEDGED: usize = 500;

fn ids() -> (AccountId, OutputId) {
    (ACCOUNT.parse().expect("an id"), OUTPUT.parse().expect("an id"))
}

/// What the test below runs in a process of its own: it stores webhooks until
/// it is killed, and prints the delivery of each when it is acknowledged.
#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let storage = open(&sqlite(folder.as_ref())).await;
    let ((account_id, output), node) = (ids(), NodeId::generate());
    let alive = NOW + std::time::Duration::from_secs(1_000_000);
    storage.extend_lease(Lease::new(node, 0, alive)).await.expect("a lease");
    let clients = (0..32).map(|_| {
        let storage = storage.clone();
        tokio::spawn(async move {
            loop {
                let webhook = Arc::new(Webhook { account_id, ..webhook("body") });
                let delivery = with(delivery(output), |delivery| delivery.held_by = Some(node));
                let id = delivery.id;
                let accept = Accept::new(webhook, vec![delivery]);
                storage.accept(accept).await.expect("it is stored");
                // One write per line, so that no line is cut by another.
                std::io::stdout().write_all(format!("\nstored {id}\n").as_bytes()).expect("a pipe");
            }
        })
    });
    futures_util::future::join_all(clients).await;
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = sqlite(folder.path());
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--exact", "crash::child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let stored = |line: &str| -> Option<DeliveryId> {
        line.strip_prefix("stored ").and_then(|id| id.parse().ok())
    };

    let mut acknowledged = HashSet::<DeliveryId>::new();
    while acknowledged.len() < ACKNOWLEDGED {
        let line = lines.next().expect("the child goes on")?;
        acknowledged.extend(stored(&line));
    }
    let refused = Storage::connect(&options).await.expect_err("the child has it open");
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("open in another process"), "{refused}");

    child.kill()?;
    child.wait()?;
    // What it had still written when it was killed is acknowledged as well; a
    // last line without an end may be half of one.
    for line in lines.map_while(Result::ok) {
        acknowledged.extend(stored(&line));
    }

    let storage = open(&options).await;
    let (account, output) = ids();
    for id in &acknowledged {
        let log = storage.log(account, *id).await?;
        assert!(log.is_some(), "{id} was acknowledged");
    }
    // The dead process holds nothing: all of it is there to be claimed at once.
    let backlogs = storage.backlogs(sweep()).await?;
    assert_eq!(backlogs.len(), 1);
    assert!(backlogs[0].pending >= acknowledged.len() as u64, "{} of them", backlogs[0].pending);
    let mut claimed = HashSet::new();
    loop {
        let more = storage.claim(claim(NodeId::generate(), output)).await?.deliveries;
        if more.is_empty() {
            break;
        }
        // No lease was taken, so each claim would get the same ones again.
        for pending in more {
            claimed.insert(pending.id);
            let (origin, node) = (Origin::of(&pending), NodeId::generate());
            storage.settle(crate::sample::sent(pending.id, origin, node)).await?;
        }
    }
    assert!(claimed.is_superset(&acknowledged));
    storage.close().await;
    Ok(())
}
