//! Notifications.

use std::time::Duration;

use crate::{admin::AdminOptions, error::Error, model::NotificationSpec};

const LEAST: Duration = Duration::from_secs(1);
const MOST: Duration = Duration::from_secs(24 * 3600);
const DEEPEST: u32 = 1_000_000;

/// What can be said without a look at the store. Events get an order, and are there once.
pub(in crate::admin) fn notification(
    spec: &mut NotificationSpec,
    options: &AdminOptions,
) -> Result<(), Error> {
    let NotificationSpec { events, buckets, to_bucket, disabled: _, min_interval, queue_deep_at } =
        spec;
    events.sort_unstable();
    events.dedup();
    if events.is_empty() {
        return Err(Error::invalid("events", "must have at least one"));
    }
    if to_bucket.is_empty() {
        return Err(Error::invalid("to_bucket", "must not be empty"));
    }
    let limit = options.max_notified_buckets;
    if buckets.len() > limit {
        return Err(Error::invalid("buckets", format_args!("must be at most {limit}")));
    }
    if !(LEAST..=MOST).contains(min_interval) {
        let (least, most) = (LEAST.as_nanos(), MOST.as_nanos());
        let reason = format!("must be from {least} to {most} nanoseconds");
        return Err(Error::invalid("min_interval", reason));
    }
    if !(1..=DEEPEST).contains(queue_deep_at) {
        let reason = format!("must be from 1 to {DEEPEST}");
        return Err(Error::invalid("queue_deep_at", reason));
    }
    Ok(())
}
