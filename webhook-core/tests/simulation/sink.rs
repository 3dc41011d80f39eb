//! The destination of all nodes, which writes down what it gets.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use http::StatusCode;
use tokio::time::{Instant, sleep};
use webhook_core::forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder};

use crate::link::Link;

/// What came to the destination.
#[derive(Debug)]
pub(crate) struct Sink {
    seed: u64,
    attempts: Mutex<BTreeMap<String, Vec<Attempt>>>,
}

/// One request of one delivery.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) body: String,
    pub(crate) output: String,
    /// Over which process.
    pub(crate) by: Arc<Link>,
    pub(crate) began: Instant,
    /// When it was answered, and how; none for a process that did not live to see it.
    pub(crate) ended: Option<(Instant, StatusCode)>,
}

impl Sink {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self { seed, attempts: Mutex::default() })
    }

    /// What sends over `link`.
    pub(crate) fn over(self: &Arc<Self>, link: &Arc<Link>) -> Road {
        Road { sink: self.clone(), link: link.clone() }
    }

    /// All attempts, by the delivery's identifier.
    pub(crate) fn attempts(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Attempt>>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the destination takes the request: the same for each seed, whatever comes first.
    fn answer(&self, delivery: &str, number: usize) -> (Duration, StatusCode) {
        let mut key = self.seed.rotate_left(17) ^ number as u64;
        for byte in delivery.bytes() {
            key = key.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte);
        }
        let mut random = fastrand::Rng::with_seed(key);
        let fails = number == 0 && random.u8(..5) == 0;
        let status = if fails { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
        (Duration::from_millis(random.u64(..3_000)), status)
    }
}

/// How one process gets to the destination.
#[derive(Debug)]
pub(crate) struct Road {
    sink: Arc<Sink>,
    link: Arc<Link>,
}

#[async_trait]
impl Forwarder for Road {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        self.link.lives().await;
        let delivery = request.headers["x-webhook-relay-id"].to_str().expect("text").to_owned();
        let attempt = Attempt {
            body: String::from_utf8_lossy(&request.body).into_owned(),
            output: request.url.path().to_owned(),
            by: self.link.clone(),
            began: Instant::now(),
            ended: None,
        };
        let number = {
            let mut attempts = self.sink.attempts();
            let of_this = attempts.entry(delivery.clone()).or_default();
            of_this.push(attempt);
            of_this.len() - 1
        };
        let (takes, status) = self.sink.answer(&delivery, number);
        let takes = if request.url.path().ends_with("/soon") { takes / 20 } else { takes };
        sleep(takes).await;
        self.link.lives().await;
        self.sink.attempts().entry(delivery).or_default()[number].ended =
            Some((Instant::now(), status));
        Ok(ForwardResponse::empty(status))
    }
}
