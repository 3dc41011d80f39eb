//! Step 5: one attempt, that is the output's function and the request.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    credentials::Credentials,
    ending::Ending,
    outgoing,
    reconnect::Reconnects,
    replayed::{Withdrawals, name_replayed},
};
use crate::{
    destination::{Answer, Deadline, Destinations, SendError},
    model::{Bucket, Output, Reason, ReplayTotals, Request},
    relay::{
        Observer, RelayOptions,
        functions::{FunctionFailed, Functions, Transformed},
        loops,
        waiters::Waiters,
    },
    rule::MAX_ANSWER_BYTES,
    store::{NewExecution, Pending},
};

/// What is known after a delivery's turn.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) ending: Ending,
    /// How long it took.
    pub(super) duration: Duration,
    /// What the output's function made of the webhook, when it ran in this turn.
    pub(super) transformed: Option<Arc<Request>>,
    /// The run of the output's function, when it ran in this turn.
    pub(super) run: Option<NewExecution>,
    /// The tries of this turn that the destination did not process.
    pub(super) reconnects: Reconnects,
}

impl Report {
    /// Its output is gone: the store has ended it already, or will not mind.
    pub(super) fn orphaned() -> Self {
        Self::failed(Reason::Cancelled, "the output was deleted")
    }

    /// It has waited past its throttle's deadline.
    pub(super) fn expired() -> Self {
        Self::failed(Reason::Deadline, "waited in the output's queue past the throttle's deadline")
    }

    /// It has waited too long for a destination that fails each time.
    pub(super) fn given_up(is_durable: bool) -> Self {
        match is_durable {
            true => Self::failed(
                Reason::Deadline,
                "waited for a destination that fails until its time for retries was over",
            ),
            false => {
                Self::failed(Reason::Destination, "waited 10 minutes for a destination that fails")
            }
        }
    }

    /// Somebody does not want it to be sent any more.
    pub(super) fn withdrawn(detail: &str) -> Self {
        let ending = Ending::Rejected(Reason::Cancelled, detail.to_owned());
        Self { ending, ..Self::failed(Reason::Cancelled, "") }
    }

    fn failed(reason: Reason, detail: &str) -> Self {
        let ending = Ending::Failed(reason, detail.to_owned());
        let (duration, reconnects) = (Duration::ZERO, Reconnects::default());
        Self { ending, duration, transformed: None, run: None, reconnects }
    }
}

/// Makes attempts.
#[derive(Debug)]
pub(super) struct Attempter {
    pub(super) destinations: Arc<Destinations>,
    pub(super) credentials: Credentials,
    pub(super) functions: Arc<Functions>,
    pub(super) waiters: Arc<Waiters>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) withdrawals: Withdrawals,
    pub(super) options: Arc<RelayOptions>,
}

impl Attempter {
    /// Attempts a delivery once.
    pub(super) async fn attempt(
        &self,
        bucket: &Bucket,
        output: &Output,
        pending: &Pending,
    ) -> Report {
        if self.withdrawals.mean(pending).await {
            return Report::withdrawn(ReplayTotals::WITHDRAWN);
        }
        if let Some(why) = loops::ends(&pending.webhook, &self.options) {
            return Report::failed(Reason::Loop, &why);
        }
        let started = Instant::now();
        let (mut transformed, mut run, mut reconnects) = (None, None, Reconnects::default());
        let ending = match self.transform(bucket, output, pending).await {
            Ok(Some(Transformed { stop: true, run: stopped, .. })) => {
                run = stopped;
                Ending::Rejected(Reason::Function, "stopped by the output's function".to_owned())
            }
            Ok(ran) => {
                if let Some(ran) = ran {
                    run = ran.run;
                    transformed = Some(Arc::new(ran.request));
                }
                let request = sent_request(pending, transformed.as_deref());
                match outgoing::refused_path(&output.spec, request) {
                    Some(why) => Ending::Failed(Reason::DestinationRefused, why.to_owned()),
                    None if output.spec.internal => Ending::HandedOver,
                    None => self.send(output, pending, request, &mut reconnects).await.map_or_else(
                        |error| Ending::of_error(&output.spec, error),
                        |answer| Ending::of_answer(&output.spec, answer),
                    ),
                }
            }
            Err(mut failed) => {
                run = failed.run.take();
                Ending::Unanswered(failed.into())
            }
        };
        Report { ending, duration: started.elapsed(), transformed, run, reconnects }
    }

    /// Runs the output's function, unless there is none or an earlier attempt has run it.
    async fn transform(
        &self,
        bucket: &Bucket,
        output: &Output,
        pending: &Pending,
    ) -> Result<Option<Transformed>, FunctionFailed> {
        let Some(function) = output.spec.function_id.filter(|_| pending.processed.is_none()) else {
            return Ok(None);
        };
        let running = self.functions.run_of_output(function, bucket, output, pending);
        Box::pin(running).await.map(Some)
    }

    /// Sends it, and again as long as the destination does not process it.
    async fn send(
        &self,
        output: &Output,
        pending: &Pending,
        request: &Request,
        reconnects: &mut Reconnects,
    ) -> Result<Answer, SendError> {
        let deadline = Deadline::after(outgoing::timeout(&output.spec));
        loop {
            let is_new = reconnects.needs_new_connection();
            match self.send_once(output, pending, request, deadline, is_new).await {
                Err(error) if reconnects.go_on_after(&error, deadline) => {}
                sent => return sent,
            }
        }
    }

    async fn send_once(
        &self,
        output: &Output,
        pending: &Pending,
        request: &Request,
        deadline: Deadline,
        new_connection: bool,
    ) -> Result<Answer, SendError> {
        let mut max_response_bytes = if self.waiters.is_awaited(pending.id) {
            self.options.max_answer_bytes
        } else {
            self.options.max_logged_response_bytes
        };
        if output.spec.success_when.is_some() {
            max_response_bytes = max_response_bytes.max(MAX_ANSWER_BYTES);
        }
        let mut outgoing = outgoing::outgoing(
            &output.spec,
            &pending.webhook,
            request,
            pending.id,
            max_response_bytes,
        )?;
        outgoing.new_connection = new_connection;
        name_replayed(pending, &mut outgoing.headers);
        self.observer.sending(pending, &mut outgoing.headers);
        let spec = &output.spec;
        if spec.has_credentials() {
            let sending = self.credentials.send(spec, &pending.webhook, outgoing, deadline);
            return Box::pin(sending).await;
        }
        self.destinations.send(outgoing, deadline).await
    }
}

/// What is sent of a delivery, with what its function made of it in this turn.
pub(super) fn sent_request<'a>(
    pending: &'a Pending,
    transformed: Option<&'a Request>,
) -> &'a Request {
    transformed.or(pending.processed.as_deref()).unwrap_or(&pending.webhook.request)
}
