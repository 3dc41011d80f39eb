//! Deleted outputs for which deliveries wait.

pub(super) const SCHEMA: &str = r#"
CREATE TABLE deleted_output (
    output_id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    bucket_id {uuid} NOT NULL
) {narrow};
CREATE INDEX deleted_output_of_account ON deleted_output (account_id);
"#;
