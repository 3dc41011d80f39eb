//! Webhooks, their deliveries, and who holds them.

/// What keeps storing fast:
///
/// * No foreign keys: webhooks and deliveries outlive buckets, and a delivery
///   is only ever written in the transaction of its webhook.
/// * The indexes of claims hold free deliveries only. One that its node holds
///   from the start, which is the rule, never enters them. `held_by` is in one
///   so that SQLite counts backlogs without looking into the table.
/// * `delivery_waiting` holds what waits for connected clients: not due, and
///   none of `sent`, `failed`, `rejected`.
/// * A delivery repeats what logs are filtered by, so that listing them reads
///   no webhook that it does not show.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE webhook (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    bucket_id {uuid} NOT NULL,
    input_id {uuid} NOT NULL,
    method {text} NOT NULL,
    extra_path {bytes} NOT NULL,
    raw_query {bytes} NOT NULL,
    headers {bytes} NOT NULL,
    remote_addr {text},
    secure {bool} NOT NULL,
    ephemeral {bool} NOT NULL,
    input_execution_id {uuid},
    received_at {int} NOT NULL,
    body {bytes} NOT NULL
) {table};

CREATE TABLE delivery (
    id {uuid} PRIMARY KEY NOT NULL,
    webhook_id {uuid} NOT NULL,
    account_id {uuid} NOT NULL,
    bucket_id {uuid} NOT NULL,
    output_id {uuid},
    internal {bool} NOT NULL,
    ephemeral {bool} NOT NULL,
    status {int} NOT NULL,
    due_at {int},
    held_by {uuid},
    attempts {int} NOT NULL DEFAULT 0,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    output_execution_id {uuid},
    status_code {int},
    duration_ns {int},
    error {text},
    response_headers {bytes},
    response_body {bytes},
    processed {bytes}
) {table};
CREATE INDEX delivery_of_webhook ON delivery (webhook_id);
CREATE INDEX delivery_of_bucket ON delivery (bucket_id, id);
CREATE INDEX delivery_free_by_due ON delivery (output_id, due_at, id, held_by)
    WHERE due_at IS NOT NULL AND held_by IS NULL;
CREATE INDEX delivery_free_by_receipt ON delivery (output_id, id)
    WHERE due_at IS NOT NULL AND held_by IS NULL;
CREATE INDEX delivery_waiting ON delivery (output_id, id)
    WHERE due_at IS NULL AND status NOT IN (1, 2, 5);
CREATE INDEX delivery_held ON delivery (held_by) WHERE held_by IS NOT NULL;

CREATE TABLE node_lease (
    node_id {uuid} PRIMARY KEY NOT NULL,
    until {int} NOT NULL
) {table};
"#;
