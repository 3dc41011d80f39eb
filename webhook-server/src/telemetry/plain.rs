//! The text format 0.0.4 of Prometheus, for readers that do not ask for OpenMetrics.

use std::collections::BTreeSet;

pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// OpenMetrics text in the older format: a counter is named as its samples are, with `_total`, and
/// there are no units and no end.
pub(crate) fn plain(open_metrics: &str) -> String {
    let types = open_metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let counters: BTreeSet<_> = types.filter_map(|line| line.strip_suffix(" counter")).collect();
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("EOF" | "UNIT"), ..) => continue,
            (Some("#"), Some(kind), Some(name), Some(rest)) if counters.contains(name) => {
                text.extend(["# ", kind, " ", name, "_total ", rest]);
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_named_as_their_samples_are() {
        let open = "# HELP webhook_received Webhooks.\n# TYPE webhook_received counter\n\
            webhook_received_total{status=\"Success\"} 1\n\
            # HELP webhook_wait_seconds A time.\n# TYPE webhook_wait_seconds gauge\n\
            # UNIT webhook_wait_seconds seconds\nwebhook_wait_seconds 0.5\n# EOF\n";
        let expected = "# HELP webhook_received_total Webhooks.\n\
            # TYPE webhook_received_total counter\n\
            webhook_received_total{status=\"Success\"} 1\n\
            # HELP webhook_wait_seconds A time.\n# TYPE webhook_wait_seconds gauge\n\
            webhook_wait_seconds 0.5\n";
        assert_eq!(plain(open), expected);
    }
}
