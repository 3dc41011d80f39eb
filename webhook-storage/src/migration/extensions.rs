//! Fields that the interface does not know, and what they find out about webhooks.

/// The objects of extension fields are sealed together. What is found out about a webhook
/// is null where nothing was asked, and takes no place then.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE input ADD COLUMN extensions_sealed {bytes};
ALTER TABLE output ADD COLUMN extensions_sealed {bytes};
ALTER TABLE webhook ADD COLUMN verified {bool};
ALTER TABLE webhook ADD COLUMN event {text};
ALTER TABLE webhook ADD COLUMN duplicate_of {uuid};
ALTER TABLE webhook ADD COLUMN duplicates {int};
ALTER TABLE delivery ADD COLUMN reason {text};
"#;
