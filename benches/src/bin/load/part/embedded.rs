//! The relay inside a program of somebody else, which stores nothing: every
//! sender gets the destination's answer. Like nginx it has a thread for each
//! core, and a connection stays with one of them.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
};

use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use webhook_core::{
    Webhooks,
    admin::{Admin, AdminOptions, Caller},
    forward::http::HttpForwarder,
    guard::AddressGuard,
    model::{BucketSpec, InputSpec, OutputSpec, ResponseFromOutput},
    relay::{ClientAddr, IngestService},
    store::{Stores, memory::MemoryStore},
};

use crate::Outcome;

/// Enough that nobody waits for room, and little enough to stay in the cache.
const KEPT_WEBHOOKS: usize = 256;

pub(super) fn run(to: SocketAddr) -> Outcome<()> {
    super::multi_threaded()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let stores = Stores::of(MemoryStore::with_capacity(KEPT_WEBHOOKS));
        let guard = AddressGuard::allow_all();
        let forwarder = HttpForwarder::builder().guard(guard.clone()).build();
        let mut options = AdminOptions::default();
        options.guard = guard;
        let builder = Webhooks::builder(stores).forwarder(forwarder);
        let webhooks = builder.admin_options(options).build();
        let path = bucket(webhooks.admin(), to).await?;
        super::say(&(listener.local_addr()?, path))?;
        std::thread::spawn(|| {
            // Nothing is said to it: its input ends with the harness.
            let _ = super::order::<()>();
            std::process::exit(0);
        });
        let ingest = webhooks.ingest();
        tokio::spawn(async move { webhooks.run(std::future::pending()).await });
        let cores = std::thread::available_parallelism()?.get();
        // What the server's option of that name says.
        let shared = std::env::var_os("WEBHOOK_CORE_RUNTIMES").is_some_and(|set| set == "false");
        let cores = match shared {
            true => vec![tokio::runtime::Handle::current()],
            false => (0..cores).map(|_| core()).collect::<Result<Vec<_>, _>>()?,
        };
        for core in cores.iter().cycle() {
            let (stream, peer) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let stream = stream.into_std()?;
            let ingest = ingest.clone();
            core.spawn(async move { serve(TcpStream::from_std(stream)?, peer.ip(), ingest).await });
        }
        Ok(())
    })
}

/// A bucket whose input answers with what its output, the sink, answered.
async fn bucket(admin: &Admin, to: SocketAddr) -> Outcome<String> {
    let (account, _key) = admin.create_account("embedded", None).await?;
    let me = Caller::for_account(account.id);
    let spec = BucketSpec::new("embedded");
    let bucket = admin.create_bucket(&me, spec).await?;
    let input = bucket.inputs.first().ok_or("a bucket has an input")?.id;
    let mut spec = InputSpec::default();
    spec.response_from_output = ResponseFromOutput::Any;
    admin.update_input(&me, bucket.id, input, spec).await?;
    let destination = format!("http://{to}/0");
    let spec = OutputSpec::new("sink", destination);
    admin.create_output(&me, bucket.id, spec).await?;
    Ok(crate::api::input_path(&input.to_string()))
}

/// A runtime with a thread of its own.
fn core() -> std::io::Result<tokio::runtime::Handle> {
    let runtime = super::single_threaded()?;
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    Ok(handle)
}

async fn serve(stream: TcpStream, ip: IpAddr, ingest: IngestService) -> Outcome<()> {
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(ClientAddr { ip, secure: false });
        let ingest = ingest.clone();
        async move { Ok::<_, Infallible>(ingest.receive(request).await) }
    });
    let http = hyper::server::conn::http1::Builder::new();
    Ok(http.serve_connection(TokioIo::new(stream), service).await?)
}
