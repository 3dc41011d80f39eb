//! How long buckets keep their logs, and which queues are deep.

/// The first two are null where a bucket does not say, and the index has nothing of those.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE bucket ADD COLUMN retention_logs {int};
ALTER TABLE bucket ADD COLUMN retention_failed {int};
CREATE INDEX bucket_retention ON bucket (id) WHERE retention_logs IS NOT NULL;
ALTER TABLE notification ADD COLUMN queue_deep_at {int} NOT NULL DEFAULT 1000;
"#;
