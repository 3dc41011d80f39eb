//! What is remembered of the attempts of one delivery, in few bytes.
//!
//! Written with each outcome, so it is small: an attempt is about thirty bytes. Whatever
//! the number of attempts, a [`History`] has the first and the last of them and at most
//! [`History::MAX_BYTES`].

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;

use crate::forward::{ForwardError, Timings};

mod code;
#[cfg(test)]
mod tests;
mod trace;

pub use trace::TraceAttempt;

/// The attempts of one delivery: the first [`FIRST`](Self::FIRST) and the last
/// [`LAST`](Self::LAST), fewer of the last where they take more than
/// [`MAX_BYTES`](Self::MAX_BYTES).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History(Bytes);

impl History {
    /// How many of the first attempts are kept.
    pub const FIRST: usize = 8;
    /// How many of the last ones.
    pub const LAST: usize = 56;
    /// The most bytes of one.
    pub const MAX_BYTES: usize = 2_048;

    /// What a store has kept. Bytes that cannot be read are no attempts, and no error.
    #[must_use]
    pub const fn from_bytes(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// What a store keeps; empty before the first attempt.
    #[must_use]
    pub const fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// The attempts, the oldest first. Between the first and the last ones some may be missing.
    #[must_use]
    pub fn attempts(&self) -> Vec<PastAttempt> {
        code::decode(&self.0)
    }

    /// The history after another attempt.
    #[must_use]
    pub fn with(&self, attempt: PastAttempt) -> Self {
        let mut attempts = self.attempts();
        attempts.push(attempt);
        if attempts.len() > Self::FIRST + Self::LAST {
            attempts.remove(Self::FIRST);
        }
        loop {
            let bytes = code::encode(&attempts);
            if bytes.len() <= Self::MAX_BYTES || attempts.len() <= Self::FIRST {
                return Self(bytes.into());
            }
            attempts.remove(Self::FIRST);
        }
    }
}

/// One attempt, after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PastAttempt {
    /// Which one, from 1 on.
    pub number: u32,
    /// Why it was made.
    pub trigger: Trigger,
    /// When it began, in milliseconds of unix time.
    pub at_ms: i64,
    /// How long it had been due by then; kept to the millisecond, up to 49 days.
    pub queued: Duration,
    /// The status of the answer; 0 when there was none.
    pub status_code: u16,
    /// Why there was none. With a status: why the body of the answer did not end, or
    /// [`Unsuccessful`](FailureKind::Unsuccessful).
    pub failure: Option<FailureKind>,
    /// Where the time went; kept to the microsecond, up to 71 minutes each.
    pub timings: Timings,
    /// When the next attempt is due, in milliseconds of unix time, and why then.
    pub next: Option<(i64, NextBecause)>,
}

impl PastAttempt {
    /// An attempt that began at `at_ms` and was answered with `status_code`, or not with 0.
    #[must_use]
    pub fn new(number: u32, trigger: Trigger, at_ms: i64, status_code: u16) -> Self {
        Self {
            number,
            trigger,
            at_ms,
            queued: Duration::ZERO,
            status_code,
            failure: None,
            timings: Timings::default(),
            next: None,
        }
    }

    /// Whether the head of an answer came, and its body did not end.
    #[must_use]
    pub const fn is_answer_incomplete(&self) -> bool {
        self.status_code > 0 && !matches!(self.failure, None | Some(FailureKind::Unsuccessful))
    }
}

/// Makes enums whose variants have a word and a number.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $number:literal $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// How it is kept: never changed, never used again.
            const fn number(self) -> u8 {
                match self { $(Self::$variant => $number,)+ }
            }

            fn of_number(number: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|each| each.number() == number)
            }
        }
    };
}

words! {
    /// Why an attempt was made.
    Trigger {
        /// The webhook had come in.
        First = 0 "first",
        /// The attempt before had failed.
        Retry = 1 "retry",
        /// Somebody asked for another delivery.
        Resend = 2 "resend",
        /// A replay asked for it.
        Replay = 3 "replay",
        /// It had waited for the end of a pause.
        Resume = 4 "resume",
        /// To find out whether a destination that fails is back.
        Probe = 5 "probe",
        /// The request was sent again on another connection, within the same attempt.
        Reconnect = 6 "reconnect",
    }
}

words! {
    /// What went wrong with an attempt that has no answer.
    FailureKind {
        /// The name of the host has no address that could be found.
        Resolve = 0 "resolve",
        /// No connection came about.
        Connect = 1 "connect",
        /// The TLS handshake failed.
        Tls = 2 "tls",
        /// The answer was not complete in time.
        Timeout = 3 "timeout",
        /// The exchange broke off.
        Broken = 4 "broken",
        /// The address may not be connected to.
        Refused = 5 "refused",
        /// The request cannot be sent as it is.
        Unsendable = 6 "unsendable",
        /// There was no signature or no credentials for it.
        Credentials = 7 "credentials",
        /// The destination did not take the webhook.
        Nack = 8 "nack",
        /// The destination says that it has not processed the webhook: the relay sends it again
        /// immediately, on another connection.
        Unprocessed = 9 "unprocessed",
        /// A kept connection ended before the first byte of an answer: the relay sends the webhook
        /// again immediately, on a new connection.
        KeptClosed = 10 "kept_closed",
        /// There is a whole answer, and it does not pass the rules of the output for a success.
        Unsuccessful = 11 "unsuccessful",
    }
}

words! {
    /// Why the next attempt is when it is.
    NextBecause {
        /// The output's schedule says so.
        Schedule = 0 "schedule",
        /// The destination asked for it with `Retry-After`.
        RetryAfter = 1 "retry_after",
        /// The webhook was not processed, so it was sent again within the same attempt.
        Reconnect = 2 "reconnect",
    }
}

impl FailureKind {
    /// What went wrong: of a connection that did not come about, the part that did not end.
    #[must_use]
    pub fn of(error: &ForwardError) -> Self {
        match error {
            ForwardError::Connect { timings, .. } => match timings.as_deref() {
                Some(Timings { tls: Some(_), .. }) => Self::Tls,
                Some(Timings { resolve: Some(_), connect: None, .. }) => Self::Resolve,
                _ => Self::Connect,
            },
            ForwardError::Timeout { .. } => Self::Timeout,
            ForwardError::Broken { .. } => Self::Broken,
            ForwardError::Unprocessed { .. } => Self::Unprocessed,
            ForwardError::KeptClosed { .. } => Self::KeptClosed,
            ForwardError::Incomplete { cause, .. } => Self::of(cause),
            ForwardError::Refused(_) => Self::Refused,
            ForwardError::Unsendable(_) => Self::Unsendable,
            ForwardError::Credentials(_) => Self::Credentials,
        }
    }
}

/// What an address takes, and the order of the parts: for the code alone.
type Parts = [Option<Duration>; 4];

const fn parts(timings: &Timings) -> Parts {
    [timings.resolve, timings.connect, timings.tls, timings.first_byte]
}

fn timings(parts: Parts, total: Duration, address: Option<SocketAddr>, reused: bool) -> Timings {
    let [resolve, connect, tls, first_byte] = parts;
    Timings { resolve, connect, tls, first_byte, total, address, reused }
}
