//! A webhook whose input function failed, taken through it again.

use std::sync::Arc;

use super::{
    Inner,
    attempt::FunctionFailed,
    functions::INPUT_FAILED,
    ingest::InputVerdict,
    resend::Resend,
    route::{self, Leg},
};
use crate::{
    error::Error,
    id::WebhookId,
    model::{ExecutionStatus, Log, ResponseFromOutput, Webhook},
};

impl Inner {
    /// Whether the webhook was kept because its input's function failed: what is
    /// stored is then what came, not what the function made of it.
    pub(super) async fn input_failed(&self, log: &Log) -> Result<bool, Error> {
        let last = log.delivery.last.as_ref().and_then(|last| last.error.as_deref());
        if last.is_some_and(|error| error.starts_with(INPUT_FAILED)) {
            return Ok(true);
        }
        // A delivery of the same webhook may have another reason.
        let Some(id) = log.webhook.input_execution_id else { return Ok(false) };
        let run = self.stores.functions.execution(log.webhook.account_id, id).await?;
        Ok(run.is_some_and(|run| run.status == ExecutionStatus::Error))
    }

    /// Receives the webhook of `log` anew, for the output that `resend` or the
    /// log names, or for all enabled ones.
    pub(super) async fn receive_again(
        self: &Arc<Self>,
        resend: &Resend,
        log: &Log,
    ) -> Result<(), Error> {
        if log.webhook.ephemeral {
            return Err(Error::conflict("the webhook is ephemeral: its content is erased"));
        }
        let route = self.route_of_input(log.webhook.input_id).await?;
        let route = route.ok_or_else(|| Error::not_found("input"))?;
        let input = route.input(log.webhook.input_id).ok_or_else(|| Error::not_found("input"))?;
        let wanted = resend.output.or(log.delivery.output_id);
        if let Some(id) = wanted {
            let output = route.output(id).ok_or_else(|| Error::not_found("output"))?;
            if output.spec.disabled {
                return Err(Error::conflict("the output is disabled"));
            }
        }
        let mut webhook = Webhook {
            id: WebhookId::generate(),
            received_at: self.clock.now(),
            input_execution_id: None,
            ..log.webhook.clone()
        };
        if let Some(function) = input.spec.function_id {
            let ran = self.run_input_function(function, &route.bucket, input, &mut webhook).await;
            match ran {
                Ok(InputVerdict { stop: false, response: _ }) => {}
                Ok(InputVerdict { stop: true, response: _ }) => {
                    return self.keep(webhook, &route, "stopped by the input function", true).await;
                }
                Err(FunctionFailed { reason, retryable: true, .. }) => {
                    return Err(Error::unavailable(reason, std::time::Duration::from_secs(1)));
                }
                // The webhook is kept already.
                Err(FunctionFailed { reason, .. }) => return Err(Error::conflict(reason)),
            }
        }
        let mut legs = route::legs(&route, &webhook);
        legs.retain(|Leg { output, .. }| wanted.is_none_or(|wanted| output.id == wanted));
        self.accept(webhook, &route, &legs, ResponseFromOutput::Static).await.map(drop)
    }
}
