//! What the log says of webhooks that were not taken.
//!
//! A store that refuses one refuses all of them: a line for each would fill the
//! disk that is full already.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use tokio::time::Instant;

use super::response;
use crate::{
    error::{Error, ErrorKind},
    id::WebhookId,
    lock::Lock,
    relay::functions::INPUT_FAILED,
};

/// How much time lies between two lines for one reason.
const PAUSE: Duration = Duration::from_secs(1);

/// How many reasons are told apart; further ones count with the first of them.
const MAX_REASONS: usize = 8;

/// Says the first refusal for a reason at once, and then at most once a second
/// how many more there were and what the last one was.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    told: Lock<Vec<Told>>,
}

/// A reason, which is an error's text for the sender.
#[derive(Debug)]
struct Told {
    reason: String,
    /// No line before this.
    quiet_until: Instant,
    /// Refusals that no line has counted.
    untold: u64,
    last: Option<Refusal>,
}

/// A webhook that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    id: WebhookId,
    error: String,
    cause: Option<String>,
}

impl Refusal {
    fn new(id: WebhookId, error: &Error) -> Self {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        Self { id, error: error.to_string(), cause }
    }
}

/// What is to be done about a refusal.
#[derive(Debug, PartialEq, Eq)]
enum Note {
    /// It is said now.
    Now,
    /// It is the first that is not: somebody has to say it at that moment.
    At { reason: String, moment: Instant },
    /// It is counted in what will be said.
    Counted,
}

impl Refusals {
    /// Says in the log, now or soon, that the webhook was not taken, where the operator can do
    /// something about it. A sender's fault is no line; neither is a loop, which is the account's.
    pub(super) fn tell(self: &Arc<Self>, id: WebhookId, error: &Error) {
        if error.kind() == ErrorKind::Loop || !error.kind().status().is_server_error() {
            return tracing::debug!(webhook = %id, %error, "webhook not taken");
        }
        let refusal = Refusal::new(id, error);
        match self.note(&refusal, Instant::now()) {
            Note::Now => {
                let Refusal { id, error, cause } = &refusal;
                tracing::error!(webhook = %id, %error, cause, "webhook not taken");
            }
            Note::At { reason, moment } => {
                let refusals = Arc::clone(self);
                tokio::spawn(async move {
                    tokio::time::sleep_until(moment).await;
                    refusals.tell_rest(&reason);
                });
            }
            Note::Counted => {}
        }
    }

    /// The answer where the function of an input failed. The account's log has the reason, and the
    /// operator has nothing to mend.
    pub(super) fn of_function(&self, id: WebhookId) -> Response<Full<Bytes>> {
        tracing::info!(webhook = %id, "{INPUT_FAILED}");
        response::refusal(&Error::new(ErrorKind::Internal, INPUT_FAILED))
    }

    fn tell_rest(&self, reason: &str) {
        if let Some((count, Refusal { id, error, cause })) = self.rest(reason, Instant::now()) {
            tracing::error!(count, webhook = %id, %error, cause, "more webhooks not taken");
        }
    }

    fn note(&self, refusal: &Refusal, now: Instant) -> Note {
        let mut told = self.told.lock();
        let mut known = told.iter().position(|told| told.reason == refusal.error);
        if known.is_none() && told.len() >= MAX_REASONS {
            told.retain(|told| told.untold > 0 || now < told.quiet_until);
            known = (told.len() >= MAX_REASONS).then_some(0);
        }
        let Some(known) = known.and_then(|known| told.get_mut(known)) else {
            let reason = refusal.error.clone();
            told.push(Told { reason, quiet_until: now + PAUSE, untold: 0, last: None });
            return Note::Now;
        };
        if known.untold == 0 && known.quiet_until <= now {
            known.quiet_until = now + PAUSE;
            return Note::Now;
        }
        known.untold += 1;
        known.last = Some(refusal.clone());
        match known.untold {
            1 => Note::At { reason: known.reason.clone(), moment: known.quiet_until },
            _ => Note::Counted,
        }
    }

    /// How many there were since the last line, and the last of them.
    fn rest(&self, reason: &str, now: Instant) -> Option<(u64, Refusal)> {
        let mut told = self.told.lock();
        let known = told.iter_mut().find(|told| told.reason == reason)?;
        known.quiet_until = now + PAUSE;
        let count = std::mem::take(&mut known.untold);
        known.last.take().map(|last| (count, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(reason: &str) -> Refusal {
        let error = Error::unavailable(reason, PAUSE).caused_by("the disk is full");
        Refusal::new(WebhookId::generate(), &error)
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_is_said_at_once_and_the_others_once_a_second() {
        let refusals = Refusals::default();
        let start = Instant::now();
        let first = refusal("no store");
        assert_eq!(first.cause.as_deref(), Some("the disk is full"));
        assert_eq!(refusals.note(&first, start), Note::Now);
        let later = Note::At { reason: "no store".to_owned(), moment: start + PAUSE };
        assert_eq!(refusals.note(&refusal("no store"), start + PAUSE / 2), later);
        let last = refusal("no store");
        assert_eq!(refusals.note(&last, start + PAUSE / 2), Note::Counted);
        assert_eq!(refusals.note(&refusal("no function"), start + PAUSE / 2), Note::Now);
        // Who is to say it comes a little late.
        let late = start + PAUSE + PAUSE / 10;
        assert_eq!(refusals.note(&last, late), Note::Counted);
        assert_eq!(refusals.rest("no store", late), Some((3, last.clone())));
        assert_eq!(refusals.rest("no store", late), None);

        // It goes on at the same pace, and begins anew after a pause.
        assert!(matches!(refusals.note(&last, late + PAUSE / 2), Note::At { .. }));
        assert_eq!(refusals.rest("no store", late + PAUSE), Some((1, last.clone())));
        assert_eq!(refusals.note(&last, late + 3 * PAUSE), Note::Now);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_kept_is_bounded() {
        let refusals = Refusals::default();
        let start = Instant::now();
        for number in 0..MAX_REASONS {
            assert_eq!(refusals.note(&refusal(&number.to_string()), start), Note::Now);
        }
        let further = refusal("further");
        assert!(matches!(refusals.note(&further, start), Note::At { .. }));
        assert_eq!(refusals.rest("0", start + PAUSE), Some((1, further.clone())));
        assert_eq!(refusals.note(&further, start + 3 * PAUSE), Note::Now);
        assert_eq!(refusals.told.lock().len(), 1, "what is over is forgotten");
    }
}
