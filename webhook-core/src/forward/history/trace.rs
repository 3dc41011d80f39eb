//! Attempts as a trace tells them.

use std::time::Duration;

use serde::Serialize;

use super::PastAttempt;

/// One attempt to send.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TraceAttempt {
    /// Which one, from 1 on.
    pub number: u32,
    /// Why it was made: `first`, `retry`, `resend`, `replay`, `resume` when it had waited for
    /// the end of a pause, `probe` when it tried whether a destination that fails is back, or
    /// `reconnect` when it was sent again on another connection within the same attempt.
    pub trigger: &'static str,
    /// When it began, in unix seconds.
    pub at: f64,
    /// How long it had been due by then, in milliseconds.
    pub queued_ms: f64,
    /// How long finding the address took, in milliseconds; absent on a kept connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve_ms: Option<f64>,
    /// How long connecting took, in milliseconds; absent on a kept connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<f64>,
    /// How long the TLS handshake took, in milliseconds; absent on a kept connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ms: Option<f64>,
    /// From there until the answer began, in milliseconds; absent when nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<f64>,
    /// All of it, in milliseconds.
    pub total_ms: f64,
    /// Whether the connection was kept from an earlier request.
    pub reused: bool,
    /// The address and port; empty when there was none.
    pub address: String,
    /// The status of the answer; 0 when there was none.
    pub status_code: u16,
    /// Why there was no answer, of the last attempt only; else empty.
    pub error: String,
    /// The same in one word: `resolve`, `connect`, `tls`, `timeout`, `broken`, `refused`,
    /// `unsendable`, `credentials`, `nack`, `unprocessed`, `kept_closed` or `unsuccessful` when the
    /// answer did not pass `success_when`; absent when there was another whole answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<&'static str>,
    /// Whether the body of the answer did not end; absent when it did, or there was no answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub answer_incomplete: bool,
    /// When the next attempt was due, in unix seconds; absent after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<f64>,
    /// Why then: `schedule`, `retry_after` when the destination asked for it, or `reconnect`
    /// when the webhook was not processed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_because: Option<&'static str>,
}

impl From<&PastAttempt> for TraceAttempt {
    fn from(attempt: &PastAttempt) -> Self {
        let PastAttempt { number, trigger, at_ms, queued, status_code, timings, next, .. } =
            *attempt;
        let millis = |part: Duration| part.as_micros() as f64 / 1e3;
        Self {
            number,
            trigger: trigger.as_str(),
            at: at_ms as f64 / 1e3,
            queued_ms: millis(queued),
            resolve_ms: timings.resolve.map(millis),
            connect_ms: timings.connect.map(millis),
            tls_ms: timings.tls.map(millis),
            first_byte_ms: timings.first_byte.map(millis),
            total_ms: millis(timings.total),
            reused: timings.reused,
            address: timings.address.map(|address| address.to_string()).unwrap_or_default(),
            status_code,
            error: String::new(),
            error_kind: attempt.failure.map(|kind| kind.as_str()),
            answer_incomplete: attempt.is_answer_incomplete(),
            next_at: next.map(|(next_ms, _)| next_ms as f64 / 1e3),
            next_because: next.map(|(_, because)| because.as_str()),
        }
    }
}
