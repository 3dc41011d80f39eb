//! Large bodies in object storage.

/// With a length the body is an object, and `body` is its SHA-256. The column comes after
/// `body`, and where it is null no database reads past the body for it.
pub(super) const SCHEMA: &str = "ALTER TABLE webhook ADD COLUMN object_bytes {int}";
