//! A destination: an HTTP server on a free port that keeps what arrives.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, request::Parts};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle, time::timeout};

use crate::harness::PATIENCE;

/// What to do with the request of this number, from 0.
type Script = dyn Fn(usize, &Arrived) -> Reply + Send + Sync;

/// What a sink does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Status(u16),
    With(Response<Bytes>),
    /// No answer for this long.
    Hang(Duration),
    /// No answer before this is true.
    #[allow(dead_code, reason = "the tests of several servers use it")]
    HangUntil(watch::Receiver<bool>),
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) head: Parts,
    pub(crate) body: Bytes,
}

/// A destination. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Sink {
    /// `http://127.0.0.1:<port>`
    pub(crate) base: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    count: watch::Receiver<usize>,
    listening: JoinHandle<()>,
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Sink {
    /// One that answers everything with 200.
    pub(crate) async fn start() -> Self {
        Self::scripted(|_| Reply::Status(200)).await
    }

    pub(crate) async fn scripted(script: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::with(Box::new(move |number, _| script(number))).await
    }

    /// One that answers according to what is asked.
    pub(crate) async fn answering(
        script: impl Fn(&Arrived) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::with(Box::new(move |_, arrived| script(arrived))).await
    }

    async fn with(script: Box<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        let arrived = Arc::<Mutex<Vec<Arrived>>>::default();
        let (counted, count) = watch::channel(0);
        let sink = Shared { arrived: Arc::clone(&arrived), counted, script };
        let sink = Arc::new(sink);
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sink = Arc::clone(&sink);
                let service = service_fn(move |request| Arc::clone(&sink).answer(request));
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move { drop(connection.await) });
            }
        });
        Self { base, arrived, count, listening }
    }

    /// Waits for `count` requests in all and returns them.
    pub(crate) async fn received(&self, count: usize) -> Vec<Arrived> {
        let mut seen = self.count.clone();
        let wait = timeout(PATIENCE, seen.wait_for(|seen| *seen >= count)).await;
        let so_far = self.so_far();
        assert!(wait.is_ok(), "{count} expected, {} arrived", so_far.len());
        so_far
    }

    /// Forgets what has arrived.
    pub(crate) fn forget(&self) {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What has arrived.
    pub(crate) fn so_far(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Shared {
    arrived: Arc<Mutex<Vec<Arrived>>>,
    counted: watch::Sender<usize>,
    script: Box<Script>,
}

impl Shared {
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let (head, body) = request.into_parts();
        let Ok(body) = body.collect().await else {
            // The sender was killed in the middle: nothing has arrived.
            return Ok(Response::default());
        };
        let request = Arrived { head, body: body.to_bytes() };
        let number = {
            let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
            arrived.push(request.clone());
            arrived.len() - 1
        };
        self.counted.send_replace(number + 1);
        let mut response = Response::default();
        match (self.script)(number, &request) {
            Reply::Status(status) => {
                *response.status_mut() = StatusCode::from_u16(status).expect("a status");
            }
            Reply::With(whole) => response = whole.map(Full::new),
            Reply::Hang(duration) => tokio::time::sleep(duration).await,
            // An error says that the test has ended.
            Reply::HangUntil(mut answers) => drop(answers.wait_for(|answers| *answers).await),
        }
        Ok(response)
    }
}
