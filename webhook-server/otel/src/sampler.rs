//! Which traces are kept.

use crate::context::{Context, TraceId};

/// Decides which traces are kept, the same way for all spans of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sampler {
    /// Whether a trace of a sender's is kept when the sender keeps it.
    follows_senders: bool,
    /// The part of the other traces that is kept, from 0 to 1.
    ratio: f64,
}

impl Sampler {
    /// The sampler that `OTEL_TRACES_SAMPLER` and its argument name.
    pub(crate) fn named(name: &str, argument: Option<&str>) -> Result<Self, String> {
        let (follows_senders, root) = match name.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, name),
        };
        let ratio = match (root, argument) {
            ("always_on", _) => 1.0,
            ("always_off", _) => 0.0,
            ("traceidratio", None) => 1.0,
            ("traceidratio", Some(text)) => {
                let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
                ratio.ok_or_else(|| format!("{text} is no number from 0 to 1"))?
            }
            _ => return Err(format!("{name} is not known")),
        };
        Ok(Self { follows_senders, ratio })
    }

    /// Whether a trace is kept.
    pub(crate) fn keeps(self, trace: TraceId, sender: Option<Context>) -> bool {
        match sender {
            Some(sender) if self.follows_senders => sender.sampled,
            _ => self.chance(trace) < self.ratio,
        }
    }

    /// Whether spans of what failed are kept of all traces: where only a part is, those are
    /// what somebody will look for.
    pub(crate) fn keeps_failures(self) -> bool {
        self.ratio > 0.0 && self.ratio < 1.0
    }

    /// From 0 to 1, without 1.
    fn chance(self, trace: TraceId) -> f64 {
        // 53 bits, which a number has.
        (trace.scattered() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use webhook_core::WebhookId;

    use super::*;
    use crate::context::SpanId;

    fn kept(sampler: Sampler, sender: impl Fn(TraceId) -> Option<Context>) -> usize {
        let traces = (0..4_000).map(|_| TraceId::of(WebhookId::generate()));
        traces.filter(|trace| sampler.keeps(*trace, sender(*trace))).count()
    }

    #[test]
    fn a_ratio_of_traces_is_kept_and_every_failure() {
        let sampler = Sampler::named("traceidratio", Some("0.25")).expect("known");
        assert!((800..1_200).contains(&kept(sampler, |_| None)));
        assert!(sampler.keeps_failures());
        for (name, count) in [("always_on", 4_000), ("always_off", 0)] {
            let sampler = Sampler::named(name, None).expect("known");
            assert_eq!((kept(sampler, |_| None), sampler.keeps_failures()), (count, false));
        }
    }

    #[test]
    fn only_one_based_on_parents_does_what_the_sender_says() {
        let parent = SpanId::of_receiving(WebhookId::generate());
        let not_kept = |trace| Some(Context { trace, parent, sampled: false });
        let sampler = |name| Sampler::named(name, None).expect("known");
        assert_eq!(kept(sampler("parentbased_always_on"), not_kept), 0);
        assert_eq!(kept(sampler("always_on"), not_kept), 4_000);
    }

    #[test]
    fn what_is_no_sampler_is_refused() {
        for (name, argument) in [("often", None), ("traceidratio", Some("2"))] {
            assert!(Sampler::named(name, argument).is_err(), "{name} {argument:?}");
        }
    }
}
