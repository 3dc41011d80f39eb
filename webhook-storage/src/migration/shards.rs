//! Which database has the rows of which buckets.

/// Empty unless there are several. The rows of a slot are written to its current shard; those
/// it had before may have some still.
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
