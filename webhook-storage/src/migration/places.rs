//! What listed every log of a bucket, whatever its status.

/// Each log is in exactly one of `delivery_ended`, `delivery_waiting`, `delivery_pending` and
/// `delivery_held`, which together list the same. An index of all costs a third of what a
/// webhook costs the database where there are many buckets.
pub(super) const SCHEMA: &str = r#"
DROP INDEX delivery_of_bucket;
"#;
