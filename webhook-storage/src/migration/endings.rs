//! What came to an end, listed at less cost.

/// `delivery_ended` as before, said so that SQLite compares: for a list of more
/// than two values it fills a temporary table each time, twice for an outcome.
pub(super) const SCHEMA: &str = r#"
DROP INDEX delivery_ended;
CREATE INDEX delivery_ended ON delivery (account_id, bucket_id, status, created_at, id)
    WHERE due_at IS NULL AND status NOT IN (0, 4);
"#;
