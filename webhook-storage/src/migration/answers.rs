//! Logs by the class of their last answer.

/// A search for `5xx` reads the logs with such an answer only. A success is not in the index: it
/// writes nothing for it.
pub(super) const SCHEMA: &str = r#"
CREATE INDEX delivery_answered
    ON delivery (account_id, bucket_id, (status_code / 100), created_at, id)
    WHERE status_code >= 100 AND status_code / 100 <> 2;
"#;
