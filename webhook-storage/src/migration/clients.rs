//! What clients of webhooks have come to be told.

/// When a token was last shown, and what internal outputs hand over of what was missed.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE access_token ADD COLUMN last_login {int};
ALTER TABLE output ADD COLUMN replay_missing {text} NOT NULL DEFAULT '{}';
"#;
