//! Configured things become documents.
//!
//! The step renames the tables of the version before, `bucket` to `old_bucket` and so on, and
//! makes the new ones. A [pass](pass) in code moves the rows, because each secret is sealed
//! for its table, column and row. The old tables stay for one version; the next version drops
//! them. No program reads them after the pass.

mod old;
mod pass;
#[cfg(all(test, feature = "sqlite"))]
mod tests;

use sea_orm::DbBackend;

pub(crate) use self::pass::{expect_known, has_old_tables, run};

/// The name of the step.
pub(super) const STEP: &str = "m0040_documents";

/// A document has its columns for what is searched, and all else in `json`. `sealed` is the text
/// of a JSON object. `parent_id` is the bucket with which it goes, and of a bucket itself.
const SCHEMA: &str = r#"
CREATE TABLE document (
    kind {text} NOT NULL,
    id {uuid} NOT NULL,
    account_id {uuid} NOT NULL,
    parent_id {uuid},
    name {text} NOT NULL,
    route {text} NOT NULL,
    watched {bool} NOT NULL,
    version {int} NOT NULL,
    schema {int} NOT NULL,
    json {text} NOT NULL,
    sealed {bytes},
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    deleted_at {int},
    PRIMARY KEY (kind, id)
) {table};
CREATE INDEX document_of_account ON document (account_id, kind, id);
CREATE INDEX document_of_parent ON document (parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX document_bucket_name ON document (account_id, name)
    WHERE kind = 'bucket' AND deleted_at IS NULL;
CREATE UNIQUE INDEX document_output_name ON document (parent_id, name)
    WHERE kind = 'output' AND name <> '' AND deleted_at IS NULL;
CREATE UNIQUE INDEX document_domain_name ON document (name)
    WHERE kind = 'domain' AND deleted_at IS NULL;
CREATE UNIQUE INDEX document_route ON document (route) WHERE route <> '' AND deleted_at IS NULL;
CREATE INDEX document_watched ON document (kind, id) WHERE watched;
CREATE INDEX document_schema ON document (schema);
CREATE TABLE document_version (
    kind {text} NOT NULL,
    id {uuid} NOT NULL,
    version {int} NOT NULL,
    schema {int} NOT NULL,
    json {text} NOT NULL,
    sealed {bytes},
    updated_at {int} NOT NULL,
    PRIMARY KEY (kind, id, version)
) {table};
CREATE TABLE document_use (
    user_kind {text} NOT NULL,
    user_id {uuid} NOT NULL,
    used_kind {text} NOT NULL,
    used_id {uuid} NOT NULL,
    PRIMARY KEY (user_kind, user_id, used_kind, used_id)
) {narrow};
CREATE INDEX document_used ON document_use (used_kind, used_id);
CREATE TABLE output_pause (
    output_id {uuid} NOT NULL,
    paused_by {text} NOT NULL,
    paused_at {int} NOT NULL,
    paused_until {int},
    reason {text} NOT NULL,
    PRIMARY KEY (output_id, paused_by)
) {table};
CREATE TABLE output_health (
    output_id {uuid} PRIMARY KEY NOT NULL,
    failing_since {int},
    pauses {text} NOT NULL
) {table};
CREATE TABLE cron_state (
    cron_id {uuid} PRIMARY KEY NOT NULL,
    next_run {int},
    last_run {int},
    is_over {bool} NOT NULL,
    wakes_at {int},
    held_by {uuid}
) {table};
CREATE INDEX cron_state_awake ON cron_state (wakes_at) WHERE wakes_at IS NOT NULL;
CREATE INDEX cron_state_held ON cron_state (held_by) WHERE held_by IS NOT NULL;
CREATE TABLE notification_state (
    notification_id {uuid} PRIMARY KEY NOT NULL,
    last_sent_at {int} NOT NULL
) {table};
CREATE TABLE child_count (
    parent_id {uuid} NOT NULL,
    kind {text} NOT NULL,
    count {int} NOT NULL,
    PRIMARY KEY (parent_id, kind)
) {narrow};
INSERT INTO child_count (parent_id, kind, count)
    SELECT account_id, 'token', COUNT(*) FROM access_token GROUP BY account_id;
"#;

/// What belongs to documents refers to no table: a document is one of several kinds.
const POSTGRES: &str = r#"
ALTER TABLE variable DROP CONSTRAINT variable_function_id_fkey;
ALTER TABLE execution DROP CONSTRAINT execution_function_id_fkey;
ALTER TABLE function_key DROP CONSTRAINT function_key_function_id_fkey;
ALTER TABLE notice DROP CONSTRAINT notice_notification_id_fkey;
ALTER TABLE notice DROP CONSTRAINT notice_bucket_id_fkey;
"#;

/// SQLite cannot drop a reference: the step makes the tables again.
const SQLITE: &str = r#"
ALTER TABLE variable RENAME TO gone_variable;
CREATE TABLE variable (
    function_id {uuid} NOT NULL,
    key {text} NOT NULL,
    value_sealed {bytes},
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    PRIMARY KEY (function_id, key)
) {table};
INSERT INTO variable SELECT function_id, key, value_sealed, created_at, updated_at FROM gone_variable;
DROP TABLE gone_variable;
ALTER TABLE execution RENAME TO gone_execution;
CREATE TABLE execution (
    id {uuid} PRIMARY KEY NOT NULL,
    function_id {uuid} NOT NULL,
    account_id {uuid} NOT NULL,
    created {int} NOT NULL,
    updated {int} NOT NULL,
    duration_ns {int} NOT NULL,
    status {text} NOT NULL,
    request {text} NOT NULL,
    response {text} NOT NULL,
    content {bytes}
) {table};
INSERT INTO execution SELECT id, function_id, account_id, created, updated, duration_ns, status,
    request, response, content FROM gone_execution;
DROP TABLE gone_execution;
CREATE INDEX execution_of_function ON execution (function_id, id);
ALTER TABLE function_key RENAME TO gone_function_key;
CREATE TABLE function_key (
    function_id {uuid} NOT NULL,
    key {text} NOT NULL,
    value {bytes},
    number {int},
    expires_at {int},
    PRIMARY KEY (function_id, key)
) {narrow};
INSERT INTO function_key SELECT function_id, key, value, number, expires_at FROM gone_function_key;
DROP TABLE gone_function_key;
CREATE INDEX function_key_expires ON function_key (expires_at) WHERE expires_at IS NOT NULL;
ALTER TABLE notice RENAME TO gone_notice;
CREATE TABLE notice (
    notification_id {uuid} NOT NULL,
    event {text} NOT NULL,
    subject {uuid} NOT NULL,
    bucket_id {uuid},
    moment {int} NOT NULL,
    first_at {int} NOT NULL,
    last_at {int} NOT NULL,
    count {int} NOT NULL,
    detail {text} NOT NULL,
    sent_at {int},
    due_at {int},
    PRIMARY KEY (notification_id, event, subject)
) {table};
INSERT INTO notice SELECT notification_id, event, subject, bucket_id, moment, first_at, last_at,
    count, detail, sent_at, due_at FROM gone_notice;
DROP TABLE gone_notice;
CREATE INDEX notice_of_bucket ON notice (bucket_id);
CREATE INDEX notice_due ON notice (due_at) WHERE due_at IS NOT NULL;
"#;

/// The tables of the version before, each before those that it refers to.
const OLD: [&str; 11] = [
    "function_version",
    "function_source",
    "output_version",
    "output_rules",
    "notification",
    "cron",
    "input",
    "output",
    "domain",
    "function",
    "bucket",
];

pub(super) fn sql(backend: DbBackend) -> String {
    let belongings = match backend {
        DbBackend::Sqlite => SQLITE,
        _ => POSTGRES,
    };
    let renamed = OLD.map(|table| format!("ALTER TABLE {table} RENAME TO old_{table};\n"));
    [belongings, &renamed.concat(), SCHEMA].concat()
}
