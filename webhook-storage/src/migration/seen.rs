//! What inputs that deduplicate have seen.

/// The index over what ends first is what the purge goes by.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE seen (
    key {bytes} NOT NULL,
    input_id {uuid} NOT NULL,
    webhook_id {uuid} NOT NULL,
    log_id {uuid} NOT NULL,
    until {int} NOT NULL,
    duplicates {int} NOT NULL,
    PRIMARY KEY (key, input_id)
) {narrow};
CREATE INDEX seen_until ON seen (until);
"#;
