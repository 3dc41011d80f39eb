//! What accounts want to be told of, and what has still to be told.

/// `due_at` is there while a notice is to be told: those that rest are in no small index.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE notification (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    last_sent_at {int},
    to_bucket {uuid} NOT NULL REFERENCES bucket (id) ON DELETE CASCADE,
    events {text} NOT NULL,
    buckets {text} NOT NULL,
    disabled {bool} NOT NULL,
    min_interval {int} NOT NULL
) {table};
CREATE INDEX notification_of_account ON notification (account_id, id);
CREATE INDEX notification_to_bucket ON notification (to_bucket);
CREATE TABLE notice (
    notification_id {uuid} NOT NULL REFERENCES notification (id) ON DELETE CASCADE,
    event {text} NOT NULL,
    subject {uuid} NOT NULL,
    bucket_id {uuid} REFERENCES bucket (id) ON DELETE CASCADE,
    moment {int} NOT NULL,
    first_at {int} NOT NULL,
    last_at {int} NOT NULL,
    count {int} NOT NULL,
    detail {text} NOT NULL,
    sent_at {int},
    due_at {int},
    PRIMARY KEY (notification_id, event, subject)
) {table};
CREATE INDEX notice_of_bucket ON notice (bucket_id);
CREATE INDEX notice_due ON notice (due_at) WHERE due_at IS NOT NULL;
"#;
