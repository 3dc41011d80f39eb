//! Crons.

/// `wakes_at` is `next_run`, or the end of the hold while `held_by` has it.
/// Those that do not run are in none of the two small indexes.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE cron (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    next_run {int},
    wakes_at {int},
    held_by {uuid},
    bucket_id {uuid} NOT NULL REFERENCES bucket (id) ON DELETE CASCADE,
    input_id {uuid} NOT NULL,
    output_id {uuid} NOT NULL,
    name {text} NOT NULL,
    enabled {bool} NOT NULL,
    recurring {bool} NOT NULL,
    schedule {text} NOT NULL,
    timezone {text} NOT NULL,
    method {text} NOT NULL,
    destination {text} NOT NULL,
    payload {bytes} NOT NULL,
    headers_sealed {bytes},
    function_id {uuid},
    starts_at {int},
    ends_at {int}
) {table};
CREATE INDEX cron_of_account ON cron (account_id, id);
CREATE INDEX cron_of_bucket ON cron (bucket_id);
CREATE INDEX cron_awake ON cron (wakes_at) WHERE wakes_at IS NOT NULL;
CREATE INDEX cron_held ON cron (held_by) WHERE held_by IS NOT NULL;
"#;
