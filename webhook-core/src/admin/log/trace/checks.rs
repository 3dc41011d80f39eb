//! What was asked about a webhook before it was sent.

use std::time::Duration;

use super::error_of;
use crate::model::{
    AuthType, Bucket, Input, Log, Output, Reason, SignatureSpec, TraceCheck, TraceCheckKind,
    TraceCheckOutcome, signatures,
};

type Found = (TraceCheckOutcome, String);

/// The checks in their order. A webhook that is stored has passed those before its storing,
/// apart from what is stored with it.
pub(super) fn of(log: &Log, bucket: Option<&Bucket>, output: Option<&Output>) -> Vec<TraceCheck> {
    let input = bucket.and_then(|bucket| bucket.input(log.webhook.input_id));
    let check = |check, (outcome, detail): Found| TraceCheck { check, outcome, detail };
    vec![
        check(TraceCheckKind::BucketAuth, bucket_auth(log, bucket)),
        check(TraceCheckKind::Challenge, challenge(input)),
        check(TraceCheckKind::Signature, signature(log)),
        check(TraceCheckKind::Deduplication, deduplication(log, input)),
        check(TraceCheckKind::Throttle, throttle(log, output)),
    ]
}

fn passed(detail: impl Into<String>) -> Found {
    (TraceCheckOutcome::Passed, detail.into())
}

fn failed(detail: impl Into<String>) -> Found {
    (TraceCheckOutcome::Failed, detail.into())
}

fn skipped(detail: impl Into<String>) -> Found {
    (TraceCheckOutcome::Skipped, detail.into())
}

fn bucket_auth(log: &Log, bucket: Option<&Bucket>) -> Found {
    match bucket {
        None => skipped("the bucket is gone"),
        Some(bucket) if bucket.spec.auth.kind == AuthType::None => {
            skipped("the bucket asks for no credentials")
        }
        Some(_) if log.webhook.remote_addr.is_none() => skipped("it has no sender"),
        Some(bucket) if bucket.updated_at > log.webhook.received_at => {
            skipped("the bucket was changed since; it asks for credentials now")
        }
        Some(_) => passed("the sender had the bucket's credentials"),
    }
}

fn challenge(input: Option<&Input>) -> Found {
    let answers = |spec: &SignatureSpec| {
        let custom = spec.scheme.as_ref().filter(|_| spec.provider == "custom");
        let presets = signatures::presets();
        spec.enabled
            && spec.challenge
            && match custom {
                Some(scheme) => !scheme.challenges.is_empty(),
                None => presets.iter().any(|it| it.name == spec.provider && it.challenge),
            }
    };
    match input.and_then(|input| input.spec.signature.set()).is_some_and(answers) {
        true => passed("it is no handshake"),
        false => skipped("the input answers no handshakes"),
    }
}

fn signature(log: &Log) -> Found {
    match log.webhook.checks.verified {
        Some(true) => passed("the signature is the sender's"),
        Some(false) => {
            let why = error_of(log).filter(|_| log.delivery.reason == Some(Reason::Signature));
            failed(why.unwrap_or("the signature is not the sender's"))
        }
        None => skipped("the input did not verify"),
    }
}

fn deduplication(log: &Log, input: Option<&Input>) -> Found {
    let checks = &log.webhook.checks;
    let deduplicates = input.is_some_and(|input| input.spec.deduplication.set().is_some());
    match (checks.duplicate_of, checks.duplicates) {
        (Some(first), _) => failed(format!("a duplicate of the webhook of log {first}")),
        (None, 0) if deduplicates => passed("no duplicate has come"),
        (None, 0) => skipped("the input does not deduplicate"),
        (None, came) => passed(format!("the first; {came} duplicates came after it")),
    }
}

fn throttle(log: &Log, output: Option<&Output>) -> Found {
    let delivery = &log.delivery;
    let waited_too_long = delivery.reason == Some(Reason::Deadline) && delivery.attempts == 0;
    if waited_too_long {
        return failed(error_of(log).unwrap_or("waited too long for its turn"));
    }
    if !output.is_some_and(|output| output.spec.throttle.enabled) {
        return skipped("the output has no throttle");
    }
    match delivery.history.attempts().first() {
        Some(first) => {
            let waited = Duration::as_secs_f64(&first.queued);
            passed(format!("it waited {waited:.3} s for its turn"))
        }
        None if delivery.due_at.is_some() => skipped("it waits for its turn"),
        None => skipped("it was not sent"),
    }
}
