//! Step 2: which outputs a webhook goes to.

use std::net::IpAddr;

use crate::{
    id::OutputId,
    model::{Bucket, Output, Request, ResponseFromOutput},
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

/// The enabled outputs of the bucket in ID order, each with what its rules say.
pub(super) fn legs<'a>(
    route: &'a Route,
    request: &Request,
    remote_addr: Option<IpAddr>,
) -> Vec<Leg<'a>> {
    let subject = Subject { request, remote_addr };
    enabled(&route.bucket)
        .map(|output| {
            let verdict = if !output.spec.rules.matches(&subject) {
                Verdict::Reject
            } else if output.spec.internal && output.spec.function_id.is_none() {
                Verdict::HandOver
            } else {
                Verdict::Deliver
            };
            Leg { output, verdict }
        })
        .collect()
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
