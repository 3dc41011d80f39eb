//! Step 2: which outputs a webhook goes to.

use crate::{
    error::Error,
    id::OutputId,
    model::{Bucket, Output, ResponseFromOutput, Webhook},
    rule::Subject,
};

/// What is to become of one webhook at one output.
#[derive(Debug)]
pub(super) struct Match<'a> {
    pub(super) output: &'a Output,
    pub(super) decision: Decision,
}

/// What the rules say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// The dispatcher takes it on: it is sent, or an internal output's function
    /// runs before clients get it.
    Deliver,
    /// Clients get it as it is.
    HandOver,
    /// Stopped by the rules.
    Reject,
}

impl<'a> Match<'a> {
    /// An output whose rules are not asked.
    pub(super) fn unfiltered(output: &'a Output) -> Self {
        let handed_over = output.spec.internal && output.spec.function_id.is_none();
        let decision = if handed_over { Decision::HandOver } else { Decision::Deliver };
        Self { output, decision }
    }

    fn new(output: &'a Output, subject: &Subject<'_>) -> Result<Self, Error> {
        let rules = &output.spec.rules;
        rules.can_evaluate(subject)?;
        Ok(match rules.matches(subject) {
            true => Self::unfiltered(output),
            false => Self { output, decision: Decision::Reject },
        })
    }
}

/// The enabled outputs of the bucket in ID order, each with what its rules say.
/// Fails when this build cannot evaluate one of them.
pub(super) fn matches<'a>(bucket: &'a Bucket, webhook: &Webhook) -> Result<Vec<Match<'a>>, Error> {
    let subject = Subject::from(webhook);
    enabled(bucket).map(|output| Match::new(output, &subject)).collect()
}

/// What the rules of one output say.
pub(super) fn match_of<'a>(output: &'a Output, webhook: &Webhook) -> Result<Match<'a>, Error> {
    Match::new(output, &Subject::from(webhook))
}

pub(super) fn enabled(bucket: &Bucket) -> impl Iterator<Item = &Output> {
    bucket.outputs.iter().filter(|output| output.spec.takes_webhooks())
}

/// Whether a sender that asked for `from` waits for this output.
pub(crate) fn answers(from: ResponseFromOutput, output: OutputId) -> bool {
    match from {
        ResponseFromOutput::Static => false,
        ResponseFromOutput::Any => true,
        ResponseFromOutput::Output(id) => id == output,
    }
}
