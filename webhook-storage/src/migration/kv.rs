//! What functions remember between their calls.

/// A value is bytes or a number, of which the other is null. Numbers are columns of their
/// own, so that a node can count on what another one counts at the same moment.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE function_key (
    function_id {uuid} NOT NULL REFERENCES function (id) ON DELETE CASCADE,
    key {text} NOT NULL,
    value {bytes},
    number {int},
    expires_at {int},
    PRIMARY KEY (function_id, key)
) {narrow};
CREATE INDEX function_key_expires ON function_key (expires_at) WHERE expires_at IS NOT NULL;
"#;
