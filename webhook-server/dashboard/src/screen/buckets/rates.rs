//! How much comes in at each input and goes to each output.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use webhook_core::{
    InputId, Timestamp,
    model::{LogHead, Reason},
    store::MinuteCount,
};

use crate::bars::Sums;

const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3_600);

/// What the latest deliveries of a bucket say of its inputs. Logs are counted by output, so
/// for inputs those that a page of the log has are looked at, of the last day.
pub(super) struct Latest {
    inputs: HashMap<InputId, Came>,
    webhooks: u64,
    /// The time that they are of.
    window: Duration,
}

/// What came in at one input.
#[derive(Clone, Copy, Default)]
struct Came {
    webhooks: u64,
    /// Those that were not routed: not verified, or duplicates, or its function failed.
    refused: u64,
}

/// What an input's node says of it.
pub(super) struct InputRate {
    pub(super) rate: String,
    /// How many of the latest webhooks of the bucket they are.
    pub(super) webhooks: u64,
    pub(super) of: u64,
    pub(super) refused: u64,
    /// How many of a hundred were routed; none when none came.
    pub(super) passed: Option<u64>,
}

impl Latest {
    /// `more`: whether there are further ones before these.
    pub(super) fn of(heads: &[LogHead], more: bool, now: Timestamp) -> Self {
        let window = match heads.last() {
            Some(oldest) if more => now.since(oldest.created_at).min(DAY),
            _ => DAY,
        };
        let mut latest = Self { inputs: HashMap::new(), webhooks: 0, window };
        let mut seen = HashSet::new();
        for head in heads {
            // What came before is in the log because it was sent again. Each counts once, though
            // it has a log for each output.
            if now.since(head.received_at) > window || !seen.insert(head.webhook_id) {
                continue;
            }
            let came = latest.inputs.entry(head.input_id).or_default();
            came.webhooks += 1;
            came.refused += u64::from(was_refused(head));
            latest.webhooks += 1;
        }
        latest
    }

    pub(super) fn at(&self, input: InputId) -> InputRate {
        let Came { webhooks, refused } = self.inputs.get(&input).copied().unwrap_or_default();
        InputRate {
            rate: rate(webhooks, self.window),
            webhooks,
            of: self.webhooks,
            refused,
            passed: (webhooks > 0).then(|| (webhooks - refused) * 100 / webhooks),
        }
    }
}

fn was_refused(head: &LogHead) -> bool {
    let reason = head.reason;
    head.output_id.is_none()
        && matches!(reason, Some(Reason::Signature | Reason::Duplicate | Reason::Function))
}

/// How many of these there were in the last hour, as a rate.
pub(super) fn of_last_hour(minutes: &[MinuteCount], now: Timestamp) -> String {
    let recent = minutes.iter().filter(|minute| now.since(minute.minute) < HOUR);
    rate(Sums::of(recent).total(), HOUR)
}

/// So many in so long, in the unit that suits; empty for none.
fn rate(count: u64, window: Duration) -> String {
    if count == 0 {
        return String::new();
    }
    let each_second = count as f64 / window.as_secs_f64().max(1.0);
    let units = [("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("day", 86_400.0)];
    let suits = units.iter().find(|(_, seconds)| each_second * seconds >= 1.0);
    let (unit, seconds) = suits.unwrap_or(&units[3]);
    let number = each_second * seconds;
    let text = if number < 10.0 { format!("{number:.1}") } else { format!("{number:.0}") };
    format!("{}/{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use webhook_core::{BucketId, DeliveryId, WebhookId, model::DeliveryStatus};

    use super::*;

    #[test]
    fn rates_are_in_the_unit_that_suits() {
        for (count, window, expected) in [
            (0, HOUR, ""),
            (1, DAY, "1/day"),
            (36, DAY, "1.5/h"),
            (90, HOUR, "1.5/min"),
            (3_600, HOUR, "1/s"),
            (100, Duration::from_millis(10), "100/s"),
            (43_200, HOUR, "12/s"),
        ] {
            assert_eq!(rate(count, window), expected, "{count} in {window:?}");
        }
    }

    fn head(input_id: InputId, received: i64, created: i64) -> LogHead {
        LogHead {
            id: DeliveryId::generate(),
            webhook_id: WebhookId::generate(),
            bucket_id: BucketId::generate(),
            input_id,
            output_id: None,
            status: DeliveryStatus::Received,
            reason: None,
            attempts: 0,
            status_code: 0,
            duration: Duration::ZERO,
            verified: None,
            duplicates: 0,
            method: Method::POST,
            path: String::new(),
            body_bytes: 0,
            received_at: Timestamp::from_secs(received),
            created_at: Timestamp::from_secs(created),
        }
    }

    #[test]
    fn what_is_sent_again_did_not_come_in_again() {
        let (now, input) = (Timestamp::from_secs(1_700_000_000), InputId::generate());
        let came = |ago: i64| head(input, now.as_secs() - ago, now.as_secs() - ago);
        let again = head(input, now.as_secs() - 5_000, now.as_secs() - 2);
        let mut copy = came(1);
        let heads = [came(1), again, came(10)];
        copy.webhook_id = heads[0].webhook_id;
        let with_copy: Vec<_> = heads.iter().cloned().chain([copy]).collect();
        // A page that is full says how long it took to fill.
        let at = Latest::of(&heads, true, now).at(input);
        assert_eq!((at.webhooks, at.of, &*at.rate), (2, 2, "12/min"));
        // One that is not is all there was in a day, also of those that were sent again.
        let at = Latest::of(&with_copy, false, now).at(input);
        assert_eq!((at.webhooks, at.of, &*at.rate, at.passed), (3, 3, "3/day", Some(100)));
        let at = Latest::of(&heads, true, now).at(InputId::generate());
        assert_eq!((at.webhooks, at.of, &*at.rate, at.passed), (0, 2, "", None));
    }
}
