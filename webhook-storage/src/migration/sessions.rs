//! Browsers that are signed in.

pub(super) const SCHEMA: &str = r#"
CREATE TABLE session (
    id_hash {bytes} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    credential {text} NOT NULL,
    created_at {int} NOT NULL,
    seen_at {int} NOT NULL,
    ends_at {int} NOT NULL,
    address {text} NOT NULL,
    agent {text} NOT NULL
) {table};
CREATE INDEX session_of_account ON session (account_id, seen_at);
CREATE INDEX session_seen ON session (seen_at);
"#;
