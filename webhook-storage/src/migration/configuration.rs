//! Accounts, buckets, inputs, outputs, functions and what belongs to them.

/// Buckets and functions refer to no account: stores know accounts by their
/// identifiers only, and a store of accounts may be another one.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE meta (
    name {text} PRIMARY KEY NOT NULL,
    value {bytes} NOT NULL
) {table};

CREATE TABLE account (
    id {uuid} PRIMARY KEY NOT NULL,
    name {text} NOT NULL CONSTRAINT account_name UNIQUE,
    created_at {int} NOT NULL
) {table};

CREATE TABLE api_key (
    account_id {uuid} PRIMARY KEY NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    key_sealed {bytes} NOT NULL,
    key_hash {bytes} NOT NULL CONSTRAINT api_key_hash UNIQUE,
    enabled {bool} NOT NULL,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL
) {table};

CREATE TABLE bucket (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    suspended {bool} NOT NULL,
    cron_id {uuid},
    name {text} NOT NULL,
    description {text} NOT NULL,
    stream {bool} NOT NULL,
    ephemeral {bool} NOT NULL,
    large_webhooks {bool} NOT NULL,
    static_ip {bool} NOT NULL,
    auth_type {text} NOT NULL,
    auth_username {text} NOT NULL,
    auth_password_sealed {bytes},
    auth_token_sealed {bytes},
    CONSTRAINT bucket_name UNIQUE (account_id, name)
) {table};
CREATE INDEX bucket_of_account ON bucket (account_id, id);

CREATE TABLE input (
    id {uuid} PRIMARY KEY NOT NULL,
    bucket_id {uuid} NOT NULL REFERENCES bucket (id) ON DELETE CASCADE,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    created_by {text} NOT NULL,
    name {text} NOT NULL,
    description {text} NOT NULL,
    function_id {uuid},
    status_code {int} NOT NULL,
    headers {bytes} NOT NULL,
    body {bytes} NOT NULL,
    response_from_output {text} NOT NULL,
    custom_domain {text} NOT NULL,
    path_prefix {text} NOT NULL,
    strip_path_prefix {bool} NOT NULL,
    tls_version {text} NOT NULL,
    legacy_tls {bool} NOT NULL
) {table};
CREATE INDEX input_of_bucket ON input (bucket_id, id);

CREATE TABLE output (
    id {uuid} PRIMARY KEY NOT NULL,
    bucket_id {uuid} NOT NULL REFERENCES bucket (id) ON DELETE CASCADE,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    created_by {text} NOT NULL,
    cron_id {uuid},
    name {text} NOT NULL,
    description {text} NOT NULL,
    destination {text} NOT NULL,
    function_id {uuid},
    response_function_id {uuid},
    headers_sealed {bytes},
    rules_sealed {bytes},
    internal {bool} NOT NULL,
    disabled {bool} NOT NULL,
    lock_path {bool} NOT NULL,
    retries {int} NOT NULL,
    timeout_secs {int} NOT NULL,
    tls_verification {bool} NOT NULL,
    throttle {text} NOT NULL,
    durability {text} NOT NULL
) {table};
CREATE UNIQUE INDEX output_name ON output (bucket_id, name) WHERE name <> '';
CREATE INDEX output_of_bucket ON output (bucket_id, id);

CREATE TABLE function (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    payload_size {int} NOT NULL,
    created {int} NOT NULL,
    updated {int} NOT NULL,
    name {text} NOT NULL,
    driver {text} NOT NULL,
    payload {bytes} NOT NULL,
    metadata {text} NOT NULL
) {table};
CREATE INDEX function_of_account ON function (account_id, id);

CREATE TABLE variable (
    function_id {uuid} NOT NULL REFERENCES function (id) ON DELETE CASCADE,
    key {text} NOT NULL,
    value_sealed {bytes},
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    PRIMARY KEY (function_id, key)
) {table};

CREATE TABLE execution (
    id {uuid} PRIMARY KEY NOT NULL,
    function_id {uuid} NOT NULL REFERENCES function (id) ON DELETE CASCADE,
    account_id {uuid} NOT NULL,
    created {int} NOT NULL,
    updated {int} NOT NULL,
    duration_ns {int} NOT NULL,
    status {text} NOT NULL,
    request {text} NOT NULL,
    response {text} NOT NULL
) {table};
CREATE INDEX execution_of_function ON execution (function_id, id);
"#;
