//! Durable commits without HTTP.

use super::{Progress, mib, micros_each};
use crate::{
    Outcome,
    measured::Measured,
    options::Context,
    part::{Said, commits::CommitPlan, generator::Answered},
    process::Peer,
    subject::Subject,
};

/// What is committed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commits {
    /// How many wait for their commit at once.
    pub(crate) callers: usize,
    /// Whose webhooks they are, in turn.
    pub(crate) buckets: usize,
    /// Each webhook's outcome is stored beside the next webhook.
    pub(crate) outcomes: bool,
}

impl Commits {
    /// 64 callers, one bucket, webhooks only.
    pub(crate) const ORDINARY: Self = Self { callers: 64, buckets: 1, outcomes: false };

    pub(super) fn measure(
        self,
        context: &Context,
        subject: Subject,
        progress: &Progress<'_>,
    ) -> Outcome<Measured> {
        let folder = context.scratch()?;
        let engine = if subject == Subject::Store { "store" } else { "bare" };
        let place = folder.path().to_str().ok_or("the folder's name is not UTF-8")?;
        let mut peer =
            Peer::start_with(&context.exe, &["commit", engine, place], context.variables)?;
        let Self { callers, buckets, outcomes } = self;
        let plan = |lasts| CommitPlan { callers, buckets, outcomes, lasts, body_bytes: 1 << 10 };
        let mut run = |lasts| match peer.ask(&plan(lasts))? {
            Said::Done(answered) => Outcome::<Answered>::Ok(answered),
            Said::Progress(_) => Err("commits say nothing before the end".into()),
        };
        run(context.scale.warm_up)?;
        progress("committing");
        let answered = run(context.scale.load)?;
        let events = answered.acknowledged;
        let mut measured = Measured::default();
        measured.value("events/s", events as f64 / answered.took.as_secs_f64());
        measured.latency("ack", &answered.latency);
        let usage = peer.process.usage()?;
        measured.value("resident MiB, most", mib(peer.process.most_resident()?));
        // The warm-up is in both, which is as good.
        let all = events as f64 * (context.scale.load + context.scale.warm_up).as_secs_f64()
            / context.scale.load.as_secs_f64();
        measured.value("CPU µs/event", micros_each(usage.cpu, all as u64));
        measured.value("written B/event", usage.written as f64 / all.max(1.0));
        Ok(measured)
    }
}
