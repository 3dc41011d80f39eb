//! Reserved domains, and the inputs that use them.

/// A name is reserved once, by whichever account. Inputs do not refer to the
/// row: most have no domain, and one that is left behind routes nothing.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE domain (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    name {text} NOT NULL CONSTRAINT domain_name UNIQUE,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL
) {table};
CREATE INDEX domain_of_account ON domain (account_id, id);
CREATE INDEX input_of_domain ON input (custom_domain, id) WHERE custom_domain <> '';
"#;
