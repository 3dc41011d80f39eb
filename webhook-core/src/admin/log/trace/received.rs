//! How a webhook came in, and what its sender got: of what is stored, and of the input as it
//! is, when that was not changed since.

use std::time::Duration;

use http::StatusCode;

use crate::{
    admin::Admin,
    clock::Timestamp,
    error::Error,
    forward::history::PastAttempt,
    model::{
        AnswerFrom, Bucket, Delivery, DuplicateAnswer, Execution, Input, Log, Reason,
        ResponseFromOutput, TraceReceived, seconds,
    },
    relay::answers,
};

/// A status, and where it came from.
type Answer = (u16, AnswerFrom);

impl Admin {
    /// How a webhook came in; `run` is that of its input's function.
    pub(super) async fn received(
        &self,
        log: &Log,
        bucket: Option<&Bucket>,
        run: Option<&Execution>,
    ) -> Result<TraceReceived, Error> {
        let webhook = &log.webhook;
        let input = bucket.and_then(|bucket| bucket.input(webhook.input_id));
        let verified = webhook.checks.verified == Some(true);
        let signature = input.filter(|_| verified).and_then(|input| input.spec.signature.set());
        let answer = match bucket.zip(input) {
            Some((bucket, input)) => self.answer(log, bucket, input, run).await?,
            None => None,
        };
        Ok(TraceReceived {
            at: seconds(webhook.received_at),
            remote_addr: webhook.remote_addr.map(|ip| ip.to_string()).unwrap_or_default(),
            verified_by: signature.map(|spec| spec.provider.clone()),
            secure: webhook.secure,
            bytes: webhook.request.body.len(),
            ephemeral: webhook.ephemeral,
            answered: answer.map(|(status, _)| status),
            answer_from: answer.map(|(_, from)| from),
        })
    }

    /// What the sender got; none where that is not known.
    async fn answer(
        &self,
        log: &Log,
        bucket: &Bucket,
        input: &Input,
        run: Option<&Execution>,
    ) -> Result<Option<Answer>, Error> {
        let Log { webhook, delivery } = log;
        if webhook.remote_addr.is_none() || input.updated_at > webhook.received_at {
            return Ok(None);
        }
        let refused = |status: StatusCode| Ok(Some((status.as_u16(), AnswerFrom::Refusal)));
        if delivery.reason == Some(Reason::Signature) {
            return refused(StatusCode::UNAUTHORIZED);
        }
        if webhook.input_failed {
            return refused(StatusCode::INTERNAL_SERVER_ERROR);
        }
        let own = status(input.spec.status_code.into());
        if delivery.reason == Some(Reason::Duplicate) {
            let answer = input.spec.deduplication.set().map(|spec| spec.answer);
            let stated = match answer {
                Some(DuplicateAnswer::Status(stated)) => status(stated.into()),
                _ => own,
            };
            return Ok(Some((stated, AnswerFrom::Static)));
        }
        match (webhook.input_execution_id, run) {
            (Some(_), None) => return Ok(None),
            (_, Some(run)) if run.execute_response["response_modified"] == true => {
                let set = run.execute_response["response"]["status"].as_u64().unwrap_or(0);
                return Ok(Some((status(set), AnswerFrom::Function)));
            }
            _ => {}
        }
        let stopped = delivery.reason == Some(Reason::Function);
        if input.spec.response_from_output == ResponseFromOutput::Static
            || (stopped && delivery.output_execution_id.is_none())
        {
            return Ok(Some((own, AnswerFrom::Static)));
        }
        let logs = self.stores.deliveries.logs_of(webhook.account_id, webhook.id).await?;
        Ok(self.answer_of_outputs(log, &logs, bucket, input).map(|(status, from)| match from {
            AnswerFrom::Output => (status, from),
            _ => (own, from),
        }))
    }

    /// The first answer of the outputs that the sender waited for; what there was in place of
    /// one, without a status; none where that is not known.
    fn answer_of_outputs(
        &self,
        log: &Log,
        logs: &[Log],
        bucket: &Bucket,
        input: &Input,
    ) -> Option<Answer> {
        let received_at = log.webhook.received_at;
        // Later ones were added when somebody sent it again.
        let first_ones = logs.iter().map(|log| &log.delivery);
        let first_ones = first_ones.filter(|delivery| delivery.created_at == received_at);
        let (mut timeout, mut ended) = (Duration::ZERO, received_at);
        let mut first: Option<(Timestamp, u16)> = None;
        for delivery in first_ones {
            let id = delivery.output_id?;
            let output = bucket.output(id)?;
            let wanted = input.spec.response_from_output;
            let soon = received_at + Duration::from_secs(1);
            let is_paused = !output.pauses.stood_still(received_at, soon).is_zero();
            if delivery.reason == Some(Reason::Rules) || is_paused || !answers(wanted, id) {
                continue;
            }
            timeout =
                timeout.max(self.relay.receiver.options.answer_timeout_of(&output.spec.durability));
            let answer = answer_of(delivery);
            first = first.into_iter().chain(answer).min();
            let is_over = delivery.status.is_final() || answer.is_some();
            ended = ended.max(if is_over { delivery.updated_at } else { received_at + timeout });
        }
        let until = received_at + timeout;
        match first {
            Some((at, status)) if at <= until => Some((status, AnswerFrom::Output)),
            _ if self.now() < until && ended >= until => None,
            _ if timeout.is_zero() || ended < until => Some((0, AnswerFrom::Static)),
            _ => Some((0, AnswerFrom::Timeout)),
        }
    }
}

/// When a delivery was answered for the first time, and with what.
fn answer_of(delivery: &Delivery) -> Option<(Timestamp, u16)> {
    if delivery.internal {
        let reported = delivery.last.as_ref().map_or(0, |last| last.status_code);
        return (reported != 0).then_some((delivery.updated_at, reported));
    }
    let attempts = delivery.history.attempts();
    let is_whole =
        |attempt: &&PastAttempt| attempt.status_code != 0 && !attempt.is_answer_incomplete();
    let answered = attempts.iter().find(is_whole)?;
    let at = Timestamp::from_millis(answered.at_ms) + answered.timings.total;
    // To the sender an answer that ends no exchange is a 502.
    let status = if answered.status_code < 200 { 502 } else { answered.status_code };
    Some((at, status))
}

/// The status that is sent for one that was stated: 0 stands for 200.
fn status(stated: u64) -> u16 {
    let stated = u16::try_from(stated).ok().and_then(|code| StatusCode::from_u16(code).ok());
    stated.unwrap_or(StatusCode::OK).as_u16()
}
