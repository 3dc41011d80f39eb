//! One node purges at a time.

/// Until when the turn of a node lasts: one row, which the node changes that takes it.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE purge_turn (
    id {int} PRIMARY KEY NOT NULL,
    until {int} NOT NULL
) {table};
INSERT INTO purge_turn (id, until) VALUES (1, 0);
"#;
