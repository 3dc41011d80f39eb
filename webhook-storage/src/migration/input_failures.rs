//! Which webhooks were kept because their input's function failed.

/// What is stored of such a webhook is what came, not what the function made of it. Until
/// this step only the text of a log told it.
pub(super) const SCHEMA: &str = r#"
ALTER TABLE webhook ADD COLUMN input_failed {bool} NOT NULL DEFAULT FALSE;
UPDATE webhook SET input_failed = TRUE WHERE id IN
    (SELECT webhook_id FROM delivery WHERE error LIKE 'the input''s function failed%');
"#;
