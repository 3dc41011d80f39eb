//! Which webhook a run of a function was on, and erasures of many webhooks.

/// Null for a run of no stored webhook, and in rows that were written before: a webhook and its
/// deliveries name the last run of each.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE execution ADD COLUMN webhook_id {uuid};
CREATE INDEX execution_of_webhook ON execution (webhook_id) WHERE webhook_id IS NOT NULL;
CREATE TABLE erasure (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    bucket_id {uuid},
    status {text} NOT NULL,
    error {text} NOT NULL,
    found {int} NOT NULL,
    erased {int} NOT NULL,
    withdrawn {int} NOT NULL,
    in_flight {text} NOT NULL,
    created_at {int} NOT NULL,
    finished_at {int},
    place {text} NOT NULL,
    spec {text} NOT NULL,
    held_by {uuid},
    wakes_at {int}
) {table};
CREATE INDEX erasure_of_account ON erasure (account_id, id);
CREATE INDEX erasure_awake ON erasure (wakes_at) WHERE wakes_at IS NOT NULL;
"#;
