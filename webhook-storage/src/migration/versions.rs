//! What functions and outputs had before.

/// A row for each version of a function's source and of an output's rules, once they changed
/// for the first time, and each source and each tree of rules once. Of those that changed
/// before there were versions, nobody knows what they had: what they have now is the first
/// version, since then, and its hash is not known yet.
///
/// The hash of rules has a key, because rules may have secrets in them.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE function_version (
    function_id {uuid} NOT NULL REFERENCES function (id) ON DELETE CASCADE,
    number {int} NOT NULL,
    created {int} NOT NULL,
    hash {bytes},
    PRIMARY KEY (function_id, number)
) {narrow};
CREATE TABLE function_source (
    function_id {uuid} NOT NULL REFERENCES function (id) ON DELETE CASCADE,
    hash {bytes} NOT NULL,
    driver {text} NOT NULL,
    payload_size {int} NOT NULL,
    payload {bytes} NOT NULL,
    PRIMARY KEY (function_id, hash)
) {table};
CREATE TABLE output_version (
    output_id {uuid} NOT NULL REFERENCES output (id) ON DELETE CASCADE,
    number {int} NOT NULL,
    created {int} NOT NULL,
    hash {bytes},
    PRIMARY KEY (output_id, number)
) {narrow};
CREATE TABLE output_rules (
    output_id {uuid} NOT NULL REFERENCES output (id) ON DELETE CASCADE,
    hash {bytes} NOT NULL,
    rules_sealed {bytes} NOT NULL,
    PRIMARY KEY (output_id, hash)
) {table};
INSERT INTO function_version (function_id, number, created)
    SELECT id, 1, updated FROM function WHERE updated > created;
INSERT INTO output_version (output_id, number, created)
    SELECT id, 1, updated_at FROM output WHERE updated_at > created_at;
"#;
