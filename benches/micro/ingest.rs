//! The ingest service over stores in memory: what a webhook costs without a
//! disk and without a network.
//!
//! ```text
//! cargo bench -p microbenches --bench ingest
//! ```

use std::sync::Arc;

use bytes::Bytes;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use http::{Request, StatusCode};
use http_body_util::Full;
use tokio::sync::Semaphore;
use tower_service::Service;
use webhook_core::{
    InputId, Webhooks,
    admin::{AdminOptions, Caller},
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    model::{BucketSpec, OutputSpec},
    store::{Stores, memory::MemoryStore},
};

/// Answers 200 at once and counts.
#[derive(Clone, Debug)]
struct Nowhere(Arc<Semaphore>);

#[async_trait::async_trait]
impl Forwarder for Nowhere {
    async fn forward(&self, _: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        self.0.add_permits(1);
        Ok(ForwardResponse::empty(StatusCode::OK))
    }
}

/// Webhooks with buckets of `outputs` outputs, and the addresses of their inputs.
async fn webhooks(buckets: usize, outputs: usize, nowhere: Nowhere) -> (Webhooks, Vec<InputId>) {
    let stores = Stores::of(MemoryStore::default());
    let mut options = AdminOptions::default();
    options.max_buckets_per_account = buckets;
    let webhooks = Webhooks::builder(stores).forwarder(nowhere).admin_options(options).build();
    let admin = webhooks.admin();
    let (account, _) = admin.create_account("bench", None).await.expect("an account");
    let me = Caller::for_account(account.id);
    let mut inputs = Vec::with_capacity(buckets);
    for bucket in 0..buckets {
        let spec = BucketSpec::new(format!("bucket {bucket}"));
        let bucket = admin.create_bucket(&me, spec).await.expect("a bucket");
        for output in 0..outputs {
            let spec = OutputSpec::new(format!("output {output}"), "https://example.com/hook");
            admin.create_output(&me, bucket.id, spec).await.expect("an output");
        }
        inputs.push(bucket.inputs[0].id);
    }
    (webhooks, inputs)
}

fn request(input: InputId, body: &Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::post(format!("/v1/webhooks/{input}/orders?source=shop"));
    for header in 0..12 {
        request = request.header(format!("x-header-{header}"), "a value of ordinary length");
    }
    request.body(Full::new(body.clone())).expect("a request")
}

fn ingest(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let mut group = criterion.benchmark_group("ingest and deliver in memory");
    for (name, buckets, outputs, bytes) in [
        ("1 KiB, 1 output", 1, 1, 1 << 10),
        ("1 KiB, 10 outputs", 1, 10, 1 << 10),
        ("256 KiB, 1 output", 1, 1, 256 << 10),
        // What finding the route costs when there are many.
        ("1 KiB, 10 000 inputs in turn", 10_000, 1, 1 << 10),
    ] {
        let delivered = Arc::new(Semaphore::new(0));
        let (webhooks, inputs) =
            runtime.block_on(webhooks(buckets, outputs, Nowhere(Arc::clone(&delivered))));
        let mut inputs = inputs.into_iter().cycle();
        let expected = u32::try_from(64 * outputs).expect("a small number");
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let dispatching = webhooks.clone();
        let dispatcher =
            runtime.spawn(async move { dispatching.run(async { drop(stopped.await) }).await });
        let body = Bytes::from(vec![b'x'; bytes]);
        let service = webhooks.ingest();
        group.throughput(Throughput::Elements(64));
        group.bench_function(name, |bencher| {
            bencher.to_async(&runtime).iter_batched(
                || inputs.by_ref().take(64).map(|id| request(id, &body)).collect::<Vec<_>>(),
                |requests| {
                    let (mut service, delivered) = (service.clone(), Arc::clone(&delivered));
                    async move {
                        let answers = requests.into_iter().map(|request| service.call(request));
                        for answer in futures_util::future::join_all(answers).await {
                            assert_eq!(answer.map(|answer| answer.status()), Ok(StatusCode::OK));
                        }
                        delivered.acquire_many(expected).await.expect("open").forget();
                    }
                },
                BatchSize::SmallInput,
            );
        });
        drop(stop);
        runtime.block_on(dispatcher).expect("no panic").expect("a clean stop");
    }
    group.finish();
}

criterion_group!(benches, ingest);
criterion_main!(benches);
