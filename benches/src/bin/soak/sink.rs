//! Where the webhooks arrive.

use std::{
    collections::HashSet,
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use benches::{Outcome, event};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Collected, Empty};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// The path of the output that fails, and of the crons.
const FAILING: &str = "/failing";
const CRON: &str = "/cron";

/// The webhooks that have arrived.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    numbers: Mutex<HashSet<u64>>,
    crons: AtomicU64,
}

impl Arrivals {
    /// The numbers of `sent` that did not arrive.
    pub(crate) fn missing(&self, sent: &[u64]) -> Vec<u64> {
        let arrived = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        sent.iter().filter(|number| !arrived.contains(number)).copied().collect()
    }

    /// How many runs of crons arrived.
    pub(crate) fn crons(&self) -> u64 {
        self.crons.load(Ordering::Relaxed)
    }

    async fn take(&self, request: Request<Incoming>) -> Response<Empty<Bytes>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        let path = parts.uri.path();
        match event::read(&body) {
            _ if path == CRON => _ = self.crons.fetch_add(1, Ordering::Relaxed),
            None => {}
            Some(number) => {
                self.numbers.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
            }
        }
        let mut answer = Response::default();
        if path == FAILING {
            *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
        answer
    }
}

/// Receives at an address of its own until the program ends.
pub(crate) async fn serve(arrivals: Arc<Arrivals>) -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let arrivals = Arc::clone(&arrivals);
            let service = service_fn(move |request| {
                let arrivals = Arc::clone(&arrivals);
                async move { Ok::<_, Infallible>(arrivals.take(request).await) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    Ok(address)
}
