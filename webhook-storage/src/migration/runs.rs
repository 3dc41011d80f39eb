//! What a run of a function was given and what it left, without its JSON.

/// Null in rows that were written before, which have both as JSON.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE execution ADD COLUMN content {bytes};
"#;
