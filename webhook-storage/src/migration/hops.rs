//! How many relays a webhook has passed.

/// Null for none, as nearly always: where it is null no database reads past the body for it.
pub(super) const SCHEMA: &str = "ALTER TABLE webhook ADD COLUMN hops {int}";
