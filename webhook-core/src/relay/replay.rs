//! A stored webhook is sent again.

use std::{sync::Arc, time::Duration};

use super::{
    accept::{Intake, new_delivery},
    cache::BucketCache,
    checks::{Checker, stored_url},
    deliver::{QueuedDelivery, Reservation},
    functions::{FunctionFailed, FunctionFailure, Functions, InputDecision},
    route::{self, Decision, Match},
};
use crate::{
    clock::{Clock, Timestamp},
    error::{Error, ErrorKind},
    id::{AccountId, OutputId},
    ids::Ids,
    model::{
        Bucket, DeliveryStatus, Log, Output, ProcessPolicy, Reason, Replay, Request,
        ResponseFromOutput, Webhook,
    },
    store::{NewDelivery, Pending, Redeliver},
};

/// Sends stored webhooks again.
#[derive(Debug)]
pub(super) struct Replayer {
    pub(super) intake: Arc<Intake>,
    pub(super) buckets: Arc<BucketCache>,
    pub(super) checker: Arc<Checker>,
    pub(super) functions: Arc<Functions>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<Ids>,
}

impl Replayer {
    pub(super) async fn replay(&self, account: AccountId, replay: Replay) -> Result<(), Error> {
        let log = self.intake.deliveries.log(account, replay.log).await?;
        let log = log.ok_or_else(|| Error::not_found("log"))?;
        let was_refused = log.delivery.reason == Some(Reason::Signature);
        let why_not = match log.delivery.reason {
            Some(Reason::Signature) => Some("its signature failed"),
            Some(Reason::Duplicate) => Some("it is a duplicate, whose body is not kept"),
            _ => None,
        };
        if let Some(why_not) = why_not.filter(|_| replay.policy != ProcessPolicy::Force) {
            let ask = "to send it all the same, resend it with the process_policy force";
            return Err(Error::conflict(format!("{why_not}; {ask}")));
        }
        if replay.policy == ProcessPolicy::Force && (log.webhook.input_failed || was_refused) {
            return self.receive_again(&replay, &log).await;
        }
        match replay.output.or(log.delivery.output_id) {
            Some(output) => {
                let bucket = self.buckets.of_output(output).await?;
                let bucket = bucket.filter(|bucket| bucket.id == log.webhook.bucket_id);
                let bucket = bucket.ok_or_else(|| Error::not_found("output"))?;
                let output = enabled_output(&bucket, output)?;
                self.deliver_again(&bucket, &[Some(output)], &log, replay.policy).await
            }
            None => {
                let bucket = self.bucket_of(&log).await?;
                let mut outputs: Vec<_> = route::enabled(&bucket).map(Some).collect();
                if outputs.is_empty() {
                    outputs.push(None);
                }
                self.deliver_again(&bucket, &outputs, &log, replay.policy).await
            }
        }
    }

    async fn bucket_of(&self, log: &Log) -> Result<Arc<Bucket>, Error> {
        let bucket = self.buckets.of_input(log.webhook.input_id).await?;
        bucket.ok_or_else(|| Error::not_found("input"))
    }

    /// Adds a delivery of the stored webhook for each of the outputs, all or none, and
    /// hands them on.
    async fn deliver_again(
        &self,
        bucket: &Arc<Bucket>,
        outputs: &[Option<&Output>],
        log: &Log,
        policy: ProcessPolicy,
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let webhook = Arc::new(log.webhook.clone());
        // With a processed request there is nothing left to process.
        let processed: Option<Arc<Request>> = match policy {
            ProcessPolicy::Skip => {
                let sent = log.delivery.processed.as_ref().unwrap_or(&webhook.request);
                Some(Arc::new(sent.clone()))
            }
            ProcessPolicy::Force => None,
        };
        let mut added = Vec::with_capacity(outputs.len());
        for output in outputs {
            added.push(self.another(*output, &webhook, policy, now)?);
        }
        if added.iter().any(|(delivery, _)| delivery.held_by.is_some()) {
            self.intake.deliverer.hold_lease().await?;
        }
        let deliveries = added.iter().map(|(delivery, _)| delivery.clone()).collect();
        let (webhook_id, sent) = (webhook.id, processed.clone());
        let redeliver = Redeliver { webhook_id, deliveries, processed: sent, now };
        let (intake, bucket) = (Arc::clone(&self.intake), Arc::clone(bucket));
        // Not to be left half-way when the caller hangs up.
        let work = async move {
            intake.deliveries.redeliver(webhook.account_id, redeliver).await?;
            for (NewDelivery { id, output_id, status, .. }, reservation) in added {
                let processed = processed.clone();
                match (reservation, output_id) {
                    (Some(reservation), Some(output_id)) => {
                        let pending = Pending::new(id, output_id, webhook.clone(), now, now);
                        let pending = Pending { processed, ..pending };
                        let bytes = pending.webhook.request.size_bytes();
                        let bytes = intake.deliverer.memory.take_anyway(bytes);
                        let delivery = QueuedDelivery::new(pending, Some(Arc::new(bytes)));
                        intake.deliverer.dispatch(reservation, delivery);
                    }
                    _ if status == DeliveryStatus::Received => {
                        let processed = processed.as_deref();
                        intake.clients.publish(&bucket, &webhook, id, output_id, processed);
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        tokio::spawn(work).await.unwrap_or_else(|panic| {
            Err(Error::new(ErrorKind::Internal, "internal error").caused_by(panic))
        })
    }

    /// Another delivery of `webhook`, with its slot in the output's queue if it is to be
    /// attempted.
    fn another(
        &self,
        output: Option<&Output>,
        webhook: &Webhook,
        policy: ProcessPolicy,
        now: Timestamp,
    ) -> Result<(NewDelivery, Option<Reservation>), Error> {
        let mut delivery = new_delivery(self.ids.next(), output, DeliveryStatus::Received);
        let decided = output.map(|output| match policy {
            ProcessPolicy::Skip => Ok(Match::unfiltered(output).decision),
            ProcessPolicy::Force => route::match_of(output, webhook).map(|it| it.decision),
        });
        let mut reserved = None;
        match (decided.transpose()?, output) {
            (Some(Decision::Deliver), Some(output)) => {
                let reservation = self.intake.deliverer.reserve(output, true)?;
                delivery.due_at = Some(now);
                delivery.held_by = self.intake.deliverer.holder(&reservation);
                reserved = Some(reservation);
            }
            (Some(Decision::Reject), _) => {
                delivery.status = DeliveryStatus::Rejected;
                delivery.reason = Some(Reason::Rules);
                delivery.detail = Some("stopped by the output's rules".to_owned());
            }
            _ => {}
        }
        Ok((delivery, reserved))
    }

    /// Receives the webhook of `log` anew, for the output that `replay` or the
    /// log names, or for all enabled ones.
    async fn receive_again(&self, replay: &Replay, log: &Log) -> Result<(), Error> {
        if log.webhook.ephemeral {
            return Err(Error::conflict("the webhook is ephemeral: its content is erased"));
        }
        let bucket = self.bucket_of(log).await?;
        let input = bucket.input(log.webhook.input_id).ok_or_else(|| Error::not_found("input"))?;
        let wanted = replay.output.or(log.delivery.output_id);
        if let Some(id) = wanted {
            enabled_output(&bucket, id)?;
        }
        let (id, received_at) = self.ids.next_and_moment();
        let mut webhook = Webhook {
            id,
            received_at,
            input_execution_id: None,
            input_failed: false,
            ..log.webhook.clone()
        };
        webhook.checks.duplicates = 0;
        if log.delivery.reason == Some(Reason::Signature) {
            let url = stored_url(
                &webhook.request,
                webhook.secure,
                input,
                &self.intake.options.path_prefix,
            );
            self.checker.verify_again(&bucket, input, &mut webhook, &url).await?;
        }
        let mut runs = Vec::new();
        if let Some(function) = input.spec.function_id {
            match self.functions.run_of_input(function, &bucket, input, &mut webhook).await {
                Ok(InputDecision { stop: false, run, .. }) => runs.push(run),
                Ok(InputDecision { stop: true, run, .. }) => {
                    let reason = "stopped by the input function";
                    let why = Some(Reason::Function);
                    return self.intake.keep(webhook, vec![run], &bucket, why, reason, true).await;
                }
                // The webhook is kept already.
                Err(FunctionFailed { failure: FunctionFailure::Failed, reason, run }) => {
                    if let Some(run) = run {
                        self.functions.record(&run).await;
                    }
                    return Err(Error::conflict(reason));
                }
                Err(FunctionFailed { reason, .. }) => {
                    return Err(Error::unavailable(reason, Duration::from_secs(1)));
                }
            }
        }
        let mut matches = route::matches(&bucket, &webhook)?;
        matches.retain(|Match { output, .. }| wanted.is_none_or(|wanted| output.id == wanted));
        // Whoever sends it again means it.
        let (no_answer, seen) = (ResponseFromOutput::Static, Vec::new());
        self.intake.accept(webhook, runs, &bucket, &matches, no_answer, seen).await.map(drop)
    }
}

fn enabled_output(bucket: &Bucket, id: OutputId) -> Result<&Output, Error> {
    let output = bucket.output(id).ok_or_else(|| Error::not_found("output"))?;
    if output.spec.disabled {
        return Err(Error::conflict("the output is disabled"));
    }
    Ok(output)
}
