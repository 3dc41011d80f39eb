//! Nodes take turns.

/// When the next turn is to look for what nobody attempts: one row, which the node changes
/// that takes the turn.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE sweep_turn (
    id {int} PRIMARY KEY NOT NULL,
    next_at {int} NOT NULL
) {table};
INSERT INTO sweep_turn (id, next_at) VALUES (1, 0);
"#;
