//! Where the time of one request went.

use std::{net::SocketAddr, time::Duration};

use tokio::time::Instant;

use crate::forward::{ForwardError, ForwardResponse};

/// How long the parts of one request took, and over which connection it went.
///
/// A part that did not happen is absent: a kept connection has neither `resolve` nor
/// `connect` nor `tls`, an address as the host no `resolve`, plain HTTP no `tls`. The part
/// in which a request failed has the time until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// Finding the addresses of the host.
    pub resolve: Option<Duration>,
    /// Opening the connection, to whichever address took it first.
    pub connect: Option<Duration>,
    /// The TLS handshake.
    pub tls: Option<Duration>,
    /// From there until the head of the answer: sending the request is a part of it.
    pub first_byte: Option<Duration>,
    /// All of it, the body of the answer included.
    pub total: Duration,
    /// The address at the other end; of a connection that did not come about, the one
    /// that was tried first.
    pub address: Option<SocketAddr>,
    /// Whether an earlier request had opened the connection.
    pub reused: bool,
}

/// What a request is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    #[cfg(feature = "http")]
    Resolve,
    #[cfg(feature = "http")]
    Connect,
    #[cfg(feature = "http")]
    Tls,
    FirstByte,
    /// The rest, which only the total counts.
    Rest,
}

/// Takes the time of one request. It belongs to whoever sends, so that what a deadline
/// drops has left its times behind.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    started: Instant,
    stage: Stage,
    stage_started: Instant,
    timings: Timings,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        let (stage, timings) = (Stage::Rest, Timings::default());
        Self { started: now, stage, stage_started: now, timings }
    }

    /// Ends what the request was at: from here on it is at `stage`.
    pub(crate) fn enter(&mut self, stage: Stage) {
        self.enter_at(stage, Instant::now());
    }

    /// Nothing of the request had left: what follows is its first exchange.
    #[cfg(feature = "http")]
    pub(crate) fn begin_again(&mut self) {
        self.enter(Stage::Rest);
        self.timings.first_byte = None;
    }

    /// The request goes over a connection to `address`.
    #[cfg(feature = "http")]
    pub(crate) fn goes_to(&mut self, address: SocketAddr, reused: bool) {
        (self.timings.address, self.timings.reused) = (Some(address), reused);
    }

    fn stop(mut self) -> Timings {
        let now = Instant::now();
        self.enter_at(Stage::Rest, now);
        self.timings.total = now - self.started;
        self.timings
    }

    /// What came of the request, with its times.
    pub(crate) fn told(
        self,
        outcome: Result<ForwardResponse, ForwardError>,
    ) -> Result<ForwardResponse, ForwardError> {
        let timings = self.stop();
        outcome
            .map(|response| ForwardResponse { timings, ..response })
            .map_err(|error| error.timed(timings))
    }

    fn enter_at(&mut self, stage: Stage, now: Instant) {
        let part = match self.stage {
            #[cfg(feature = "http")]
            Stage::Resolve => &mut self.timings.resolve,
            #[cfg(feature = "http")]
            Stage::Connect => &mut self.timings.connect,
            #[cfg(feature = "http")]
            Stage::Tls => &mut self.timings.tls,
            Stage::FirstByte => &mut self.timings.first_byte,
            Stage::Rest => &mut None,
        };
        *part = Some(now - self.stage_started);
        (self.stage, self.stage_started) = (stage, now);
    }
}
