//! Step 2: which outputs a webhook goes to.

use crate::{
    id::OutputId,
    model::{Bucket, Output, ResponseFromOutput, Webhook},
    relay::routes::Route,
    rule::Subject,
};

/// What is to become of one webhook at one output.
#[derive(Debug)]
pub(super) struct Leg<'a> {
    pub(super) output: &'a Output,
    pub(super) verdict: Verdict,
}

/// What the rules say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The dispatcher takes it on: it is sent, or an internal output's function
    /// runs before clients get it.
    Deliver,
    /// Clients get it as it is.
    HandOver,
    /// Stopped by the rules.
    Reject,
}

impl<'a> Leg<'a> {
    /// A leg past which no rules stand.
    pub(super) fn unfiltered(output: &'a Output) -> Self {
        let handed_over = output.spec.internal && output.spec.function_id.is_none();
        let verdict = if handed_over { Verdict::HandOver } else { Verdict::Deliver };
        Self { output, verdict }
    }

    fn new(output: &'a Output, subject: &Subject<'_>) -> Self {
        if output.spec.rules.matches(subject) {
            Self::unfiltered(output)
        } else {
            Self { output, verdict: Verdict::Reject }
        }
    }
}

/// The enabled outputs of the bucket in ID order, each with what its rules say.
pub(super) fn legs<'a>(route: &'a Route, webhook: &Webhook) -> Vec<Leg<'a>> {
    let subject = Subject::from(webhook);
    enabled(&route.bucket).map(|output| Leg::new(output, &subject)).collect()
}

/// What the rules of one output say.
pub(super) fn leg<'a>(output: &'a Output, webhook: &Webhook) -> Leg<'a> {
    Leg::new(output, &Subject::from(webhook))
}

pub(super) fn enabled(bucket: &Bucket) -> impl Iterator<Item = &Output> {
    bucket.outputs.iter().filter(|output| !output.spec.disabled)
}

/// Whether a sender that asked for `from` waits for this output.
pub(super) fn answers(from: ResponseFromOutput, output: OutputId) -> bool {
    match from {
        ResponseFromOutput::Static => false,
        ResponseFromOutput::Any => true,
        ResponseFromOutput::Output(id) => id == output,
    }
}
