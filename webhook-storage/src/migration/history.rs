//! What is remembered of the attempts of a delivery.

/// Null until the first attempt: what came before has none, and takes no place.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE delivery ADD COLUMN history {bytes};
"#;
