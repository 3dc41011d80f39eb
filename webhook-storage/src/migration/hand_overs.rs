//! Which logs consumers took and have not reported on.

/// `handed_over` is what tells a log that a consumer drained from one that was
/// delivered: both are `sent`, and only of the first an outcome is still to come.
/// No entity has it, because nothing but draining and reporting asks for it.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE delivery ADD COLUMN handed_over {bool} NOT NULL DEFAULT FALSE;
"#;
