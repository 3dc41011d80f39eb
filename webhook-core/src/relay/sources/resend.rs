//! A stored webhook is sent again.

use std::sync::Arc;

use crate::{
    clock::{Clock, Ids, Timestamp},
    error::{Error, ErrorKind},
    id::{AccountId, OutputId},
    model::{
        Bucket, Log, Output, ProcessPolicy, Reason, Request, Resend, ResponseFromOutput, Webhook,
    },
    relay::{
        RelayParts,
        cache::BucketCache,
        deliver::Reservation,
        intake::{
            accept::Intake,
            checks::{Checker, stored_url},
            end::new_delivery,
            route::{self, Match},
            stage::InputDecision,
        },
    },
    rule::Subject,
    store::{NewDelivery, Redeliver},
};

/// Sends stored webhooks again.
#[derive(Debug)]
pub(in crate::relay) struct Resender {
    pub(super) intake: Arc<Intake>,
    pub(super) buckets: Arc<BucketCache>,
    pub(super) checker: Arc<Checker>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<Ids>,
}

impl Resender {
    pub(in crate::relay) fn new(
        parts: &RelayParts,
        intake: &Arc<Intake>,
        buckets: &Arc<BucketCache>,
        checker: &Arc<Checker>,
    ) -> Self {
        Self {
            intake: intake.clone(),
            buckets: buckets.clone(),
            checker: checker.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
        }
    }

    pub(in crate::relay) async fn resend(
        &self,
        account: AccountId,
        resend: Resend,
    ) -> Result<(), Error> {
        let log = self.intake.deliveries.log(account, resend.log).await?;
        let log = log.ok_or_else(|| Error::not_found("log"))?;
        let was_refused = log.delivery.reason == Some(Reason::Signature);
        let why_not = match log.delivery.reason {
            Some(Reason::Signature) => Some("its signature failed"),
            Some(Reason::Duplicate) => Some("it is a duplicate, whose body is not kept"),
            _ => None,
        };
        if let Some(why_not) = why_not.filter(|_| resend.policy != ProcessPolicy::Force) {
            let ask = "to send it all the same, resend it with the process_policy force";
            return Err(Error::conflict(format!("{why_not}; {ask}")));
        }
        if resend.policy == ProcessPolicy::Force && (log.webhook.input_failed || was_refused) {
            return self.receive_again(&resend, &log).await;
        }
        match resend.output.or(log.delivery.output_id) {
            Some(output) => {
                let bucket = self.buckets.of_output(output).await?;
                let bucket = bucket.filter(|bucket| bucket.id == log.webhook.bucket_id);
                let bucket = bucket.ok_or_else(|| Error::not_found("output"))?;
                let output = enabled_output(&bucket, output)?;
                self.deliver_again(&bucket, &[Some(output)], &log, resend.policy).await
            }
            None => {
                let bucket = self.bucket_of(&log).await?;
                self.deliver_again(&bucket, &route::everywhere(&bucket), &log, resend.policy).await
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
            added.push(self.another(*output, &webhook, policy, processed.as_deref(), now)?);
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
            for again in added {
                intake.hand_on(again, &bucket, &webhook, processed.as_ref(), (now, now), None);
            }
            Ok(())
        };
        tokio::spawn(work).await.unwrap_or_else(|panic| {
            Err(Error::new(ErrorKind::Internal, "internal error").caused_by(panic))
        })
    }

    /// Another delivery of `webhook`, with its slot in the output's queue if it is to be
    /// attempted.
    pub(super) fn another(
        &self,
        output: Option<&Output>,
        webhook: &Webhook,
        policy: ProcessPolicy,
        processed: Option<&Request>,
        now: Timestamp,
    ) -> Result<(NewDelivery, Option<Reservation>), Error> {
        let Some(output) = output else {
            return Ok((new_delivery(self.ids.next(), None), None));
        };
        let options = &self.intake.options;
        let matched = match policy {
            ProcessPolicy::Skip => {
                let sent = processed.unwrap_or(&webhook.request);
                Match::unfiltered(output, (webhook, sent), options)
            }
            ProcessPolicy::Force => {
                Match::new(output, (webhook, &Subject::from(webhook)), options)?
            }
        };
        self.intake.delivery_of(&matched, now, true)
    }

    /// Receives the webhook of `log` anew, for the output that `resend` or the
    /// log names, or for all enabled ones.
    async fn receive_again(&self, resend: &Resend, log: &Log) -> Result<(), Error> {
        let bucket = self.bucket_of(log).await?;
        let wanted = resend.output.or(log.delivery.output_id);
        if let Some(id) = wanted {
            enabled_output(&bucket, id)?;
        }
        let (webhook, InputDecision { end, runs, .. }) = self.receive(&bucket, log).await?;
        if let Some(end) = end {
            return self.intake.keep(webhook, runs, &bucket, &end).await;
        }
        let mut matches = route::matches(&bucket, &webhook, &self.intake.options)?;
        matches.retain(|Match { output, .. }| wanted.is_none_or(|wanted| output.id == wanted));
        // Whoever sends it again means it.
        let (no_answer, seen) = (ResponseFromOutput::Static, Vec::new());
        self.intake.accept(webhook, runs, &bucket, &matches, no_answer, seen).await.map(drop)
    }

    /// Takes the webhook of `log` through its input again, as one that was just received.
    pub(super) async fn receive(
        &self,
        bucket: &Arc<Bucket>,
        log: &Log,
    ) -> Result<(Webhook, InputDecision), Error> {
        if log.webhook.ephemeral {
            return Err(Error::conflict("the webhook is ephemeral: its content is erased"));
        }
        let input = bucket.input(log.webhook.input_id).ok_or_else(|| Error::not_found("input"))?;
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
            self.checker.verify_again(bucket, input, &mut webhook, &url).await?;
        }
        let decision = self.intake.stage(bucket, Some(input), &mut webhook).await?;
        match decision.end {
            // The webhook is kept already.
            Some(end) if webhook.input_failed => {
                for run in &decision.runs {
                    self.intake.functions.record(run).await;
                }
                Err(Error::conflict(end.detail))
            }
            _ => Ok((webhook, decision)),
        }
    }
}

fn enabled_output(bucket: &Bucket, id: OutputId) -> Result<&Output, Error> {
    let output = bucket.output(id).ok_or_else(|| Error::not_found("output"))?;
    if output.spec.disabled {
        return Err(Error::conflict("the output is disabled"));
    }
    Ok(output)
}
