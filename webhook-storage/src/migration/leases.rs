//! Which logs consumers have for a time, and until when.

/// A log that is leased stays among those that wait, so that what it costs to store a webhook
/// stays as it is. `delivery_leased` counts what an account has leased; it has nothing of others.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE delivery ADD COLUMN leased_until {int};
CREATE INDEX delivery_leased ON delivery (account_id, leased_until)
    WHERE leased_until IS NOT NULL;
"#;
