//! The tables of the former shards: a step adds them, a later step drops them.

pub(super) const SCHEMA: &str = r#"
CREATE TABLE shard (
    number {int} PRIMARY KEY NOT NULL,
    database_id {uuid} NOT NULL UNIQUE
) {table};
CREATE TABLE slot (
    number {int} NOT NULL,
    shard {int} NOT NULL,
    is_current {bool} NOT NULL,
    moved_at {int} NOT NULL,
    PRIMARY KEY (number, shard)
) {narrow};
"#;

pub(super) const DROP: &str = "DROP TABLE slot; DROP TABLE shard;";
