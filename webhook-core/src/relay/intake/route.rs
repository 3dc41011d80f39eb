//! Step 2: which outputs a webhook goes to.

use crate::{
    error::Error,
    id::OutputId,
    model::{Bucket, Output, Request, ResponseFromOutput, Webhook},
    relay::{RelayOptions, deliver::outgoing, loops},
    rule::Subject,
};

/// What is to become of one webhook at one output.
#[derive(Debug)]
pub(in crate::relay) struct Match<'a> {
    pub(in crate::relay) output: &'a Output,
    pub(in crate::relay) decision: Decision,
}

/// What the rules say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::relay) enum Decision {
    /// The dispatcher sends it, or runs the function of an internal output first.
    Deliver,
    /// Clients get it as it is.
    HandOver,
    /// Stopped by the rules.
    Reject,
}

impl<'a> Match<'a> {
    /// An output without its rules, which gets `sent` of the webhook. A webhook that may not be
    /// sent is not handed over either: the dispatcher writes why.
    pub(in crate::relay) fn unfiltered(
        output: &'a Output,
        (webhook, sent): (&Webhook, &Request),
        options: &RelayOptions,
    ) -> Self {
        let handed_over = output.spec.internal
            && output.spec.function_id.is_none()
            && outgoing::refused_path(&output.spec, sent).is_none()
            && loops::ends(webhook, options).is_none();
        let decision = if handed_over { Decision::HandOver } else { Decision::Deliver };
        Self { output, decision }
    }

    /// What the rules of one output say of the webhook, which is also their `subject`.
    pub(in crate::relay) fn new(
        output: &'a Output,
        (webhook, subject): (&Webhook, &Subject<'_>),
        options: &RelayOptions,
    ) -> Result<Self, Error> {
        let rules = &output.spec.rules;
        rules.can_evaluate(subject)?;
        Ok(match rules.matches(subject) {
            true => Self::unfiltered(output, (webhook, &webhook.request), options),
            false => Self { output, decision: Decision::Reject },
        })
    }
}

/// The enabled outputs of the bucket in ID order, each with what its rules say.
/// Fails when this build cannot evaluate one of them.
pub(in crate::relay) fn matches<'a>(
    bucket: &'a Bucket,
    webhook: &Webhook,
    options: &RelayOptions,
) -> Result<Vec<Match<'a>>, Error> {
    let subject = Subject::from(webhook);
    enabled(bucket).map(|output| Match::new(output, (webhook, &subject), options)).collect()
}

pub(super) fn enabled(bucket: &Bucket) -> impl Iterator<Item = &Output> {
    bucket.outputs.iter().filter(|output| output.spec.takes_webhooks())
}

/// All enabled outputs; a single none where the bucket has none.
pub(in crate::relay) fn everywhere(bucket: &Bucket) -> Vec<Option<&Output>> {
    let mut outputs: Vec<_> = enabled(bucket).map(Some).collect();
    if outputs.is_empty() {
        outputs.push(None);
    }
    outputs
}

/// Whether a sender that asked for `from` waits for this output.
pub(crate) fn answers(from: ResponseFromOutput, output: OutputId) -> bool {
    match from {
        ResponseFromOutput::Static => false,
        ResponseFromOutput::Any => true,
        ResponseFromOutput::Output(id) => id == output,
    }
}
