//! Accepting and settling webhooks of 1 KiB, 64 at once, in memory and on
//! SQLite, where every acknowledgement follows an fsync.
//!
//! ```text
//! cargo bench -p microbenches --bench stores
//! ```

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_util::future::join_all;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use webhook_core::{
    AccountId, BucketId, DeliveryId, InputId, NodeId, OutputId, Timestamp, WebhookId,
    model::{Attempt, DeliveryStatus, Request, Webhook},
    store::{Accept, DeliveryStore, Lease, NewDelivery, Origin, Settle, memory::MemoryStore},
};
use webhook_storage::{DatabaseUrl, SecretKey, Storage, StorageOptions};

const AT_ONCE: u64 = 64;
const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

/// What every webhook of the benchmark has in common.
struct Scene {
    account: AccountId,
    bucket: BucketId,
    input: InputId,
    output: OutputId,
    node: NodeId,
    headers: HeaderMap,
    body: Bytes,
}

impl Scene {
    fn new() -> Self {
        let header = |number: u8| {
            let name = HeaderName::try_from(format!("x-header-{number}")).expect("a name");
            (name, HeaderValue::from_static("a value of ordinary length"))
        };
        Self {
            account: AccountId::generate(),
            bucket: BucketId::generate(),
            input: InputId::generate(),
            output: OutputId::generate(),
            node: NodeId::generate(),
            headers: (0..12).map(header).collect(),
            body: Bytes::from(vec![b'x'; 1 << 10]),
        }
    }

    fn accept(&self) -> Accept {
        let request = Request::new(Method::POST, self.headers.clone(), self.body.clone());
        let place = (self.account, self.bucket, self.input);
        let webhook = Webhook::new(WebhookId::generate(), place, request, NOW);
        let mut delivery = NewDelivery::new(DeliveryId::generate(), Some(self.output), Some(NOW));
        delivery.held_by = Some(self.node);
        Accept::new(Arc::new(webhook), vec![delivery])
    }

    fn settle(&self, id: DeliveryId, origin: Origin) -> Settle {
        let mut settle = Settle::new(id, origin, self.node, NOW, DeliveryStatus::Sent);
        settle.attempts = 1;
        settle.attempt = Attempt { status_code: 200, ..Attempt::default() }.into();
        settle
    }

    async fn cycle(&self, store: &dyn DeliveryStore) {
        let accept = self.accept();
        let id = accept.deliveries[0].id;
        let origin = Origin::new(&accept.webhook, Some(self.output), NOW);
        store.accept(accept).await.expect("accepted");
        store.settle(self.settle(id, origin)).await.expect("settled");
    }
}

fn stores(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let url = DatabaseUrl::Sqlite(folder.path().join("bench.db"));
    let options = StorageOptions::new(url, SecretKey::generate().expect("a key"));
    let sqlite = runtime.block_on(Storage::connect(&options)).expect("a database");
    let scene = Scene::new();
    let mut group = criterion.benchmark_group("stores, 64 at once");
    group.throughput(Throughput::Elements(AT_ONCE)).measurement_time(Duration::from_secs(10));
    let memory = MemoryStore::default();
    let backends: [(&str, &dyn DeliveryStore); 2] = [("memory", &memory), ("sqlite", &sqlite)];
    for (name, store) in backends {
        runtime
            .block_on(store.extend_lease(Lease::new(
                scene.node,
                0,
                NOW + Duration::from_secs(3600),
            )))
            .expect("a lease");
        // Without outcomes the store in memory would soon be full.
        if name != "memory" {
            group.bench_function(format!("accept, {name}"), |bencher| {
                bencher.to_async(&runtime).iter(|| async {
                    for accepted in
                        join_all((0..AT_ONCE).map(|_| store.accept(scene.accept()))).await
                    {
                        accepted.expect("accepted");
                    }
                });
            });
        }
        group.bench_function(format!("accept and settle, {name}"), |bencher| {
            bencher.to_async(&runtime).iter(|| async {
                join_all((0..AT_ONCE).map(|_| scene.cycle(store))).await;
            });
        });
    }
    group.finish();
    runtime.block_on(sqlite.close());
}

criterion_group!(benches, stores);
criterion_main!(benches);
