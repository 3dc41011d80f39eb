//! A shard that does not answer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::net::{TcpListener, TcpStream};
use webhook_core::{ErrorKind, OutputId};
use webhook_storage::DatabaseUrl;

use super::*;
use crate::sample::{claim, delivery, sweep};

/// A way to a database that can be cut.
struct Proxy {
    url: DatabaseUrl,
    is_cut: Arc<AtomicBool>,
}

impl Proxy {
    async fn to(url: &DatabaseUrl) -> Self {
        let DatabaseUrl::Postgres(url) = url else { unreachable!("it is PostgreSQL") };
        let (before, rest) = url.split_once("://").expect("a scheme");
        let (user, rest) = rest.rsplit_once('@').unwrap_or(("postgres", rest));
        let (host, rest) = rest.split_once('/').expect("a database");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let here = listener.local_addr().expect("an address");
        let (host, is_cut) = (host.to_owned(), Arc::new(AtomicBool::new(false)));
        let url = format!("{before}://{user}@{here}/{rest}").parse().expect("a url");
        let cut = Arc::clone(&is_cut);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                if cut.load(Ordering::Acquire) {
                    continue;
                }
                let (host, cut) = (host.clone(), Arc::clone(&cut));
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(host).await.expect("the database");
                    let is_cut = async {
                        while !cut.load(Ordering::Acquire) {
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                    };
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                        () = is_cut => {}
                    }
                });
            }
        });
        Self { url, is_cut }
    }

    fn cut(&self, cut: bool) {
        self.is_cut.store(cut, Ordering::Release);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shard_that_is_away_is_missed_by_its_own_buckets_only() -> Tested {
    let Some((options, removals)) = on_postgres(3).await else { return Ok(()) };
    let proxy = Proxy::to(&options[2].database_url).await;
    let shards = [options[1].database_url.clone(), proxy.url.clone()];
    let storage = ShardedStorage::connect(&options[0], &shards).await?;
    let account = AccountId::generate();
    let (here, there) = (bucket_in(&storage, 1).await, bucket_in(&storage, 2).await);
    let (holder, output) = (NodeId::generate(), OutputId::generate());
    let until = |seconds| NOW + Duration::from_secs(seconds);
    storage.extend_lease(Lease::new(holder, 1, until(5))).await?;
    let accept = |bucket, node| {
        let new = with(delivery(output), |new| new.held_by = node);
        storage.accept(accept_of(&webhook_in(account, bucket, NOW), &new))
    };
    accept(here, None).await?;
    accept(there, Some(holder)).await?;
    assert_eq!(storage.received(account, NOW).await?, 2);

    proxy.cut(true);
    // Connections that are open are cut a moment later.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let error = accept(there, None).await.expect_err("it is away");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    // Soon that is known, and is said at once.
    let cut = Instant::now();
    loop {
        let asked = Instant::now();
        assert_eq!(accept(there, None).await.expect_err("away").kind(), ErrorKind::Unavailable);
        if asked.elapsed() < Duration::from_millis(50) {
            break;
        }
        assert!(cut.elapsed() < Duration::from_secs(30), "each call waits for it");
    }
    accept(here, None).await?;
    let asked = Instant::now();
    storage.extend_lease(Lease::new(holder, 1, until(60))).await?;
    assert!(asked.elapsed() < Duration::from_secs(2), "the lease lasts everywhere else");
    assert_eq!(storage.received(account, NOW).await?, 3, "it counts what it did");
    assert_eq!(storage.backlogs(sweep()).await?[0].pending, 2);
    let mut of_bucket = LogQuery::new(9);
    of_bucket.bucket_id = Some(here);
    assert_eq!(storage.logs(account, &of_bucket).await?.total, 2);
    let all = storage.logs(account, &LogQuery::new(9)).await;
    assert_eq!(all.expect_err("some are away").kind(), ErrorKind::Unavailable);
    assert!(storage.shards().await?.iter().any(|shard| shard.rows.is_none()));

    proxy.cut(false);
    let back = Instant::now();
    while accept(there, None).await.is_err() {
        assert!(back.elapsed() < Duration::from_secs(30), "it comes back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The lease that was extended meanwhile is there before anybody can claim: what the node
    // holds there, by the lease that it had when the shard went away, is not another one's.
    let other = NodeId::generate();
    storage.extend_lease(Lease::new(other, 1, until(60))).await?;
    let request = with(claim(other, output), |claim| claim.now = until(30));
    let claimed = storage.claim(request).await?;
    assert_eq!(claimed.deliveries.len(), 3, "two here and one there are nobody's");
    assert_eq!(total(&storage, account).await, 4);
    storage.close().await;
    for remove in removals {
        remove.await;
    }
    Ok(())
}
