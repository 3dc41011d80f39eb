//! What logs are listed, drained, counted and purged by.

use sea_orm::DbBackend;

/// What lists read, without a cost to what is stored and delivered that shows, as of this step:
///
/// * `delivery_of_bucket` lists everything, `delivery_ended` by status what has
///   come to an end or stalled. Only what a relay has to attempt is in neither
///   of `delivery_ended` and `delivery_waiting`, and what is held by a node is
///   only in `delivery_of_bucket`.
/// * `delivery_waiting` lists what waits for clients by its *source*: its
///   output, or its bucket when that has none.
/// * `delivery_pending` lists what no node holds yet: retries, and what nodes
///   left behind.
///
/// `tally` counts logs by what they are filtered by. Each is counted three
/// times: in the span 0 (ever), 1 (its day) and 2 (its minute). The output of
/// the logs of buckets without outputs is the nil UUID. A log that is open
/// counts as `received` (4), with status code, retries and duration 0.
const SCHEMA: &str = r#"
DROP INDEX delivery_of_bucket;
DROP INDEX delivery_waiting;
CREATE INDEX delivery_of_bucket ON delivery (account_id, bucket_id, created_at, id);
CREATE INDEX delivery_ended ON delivery (account_id, bucket_id, status, created_at, id)
    WHERE due_at IS NULL AND status IN (1, 2, 3, 5);
CREATE INDEX delivery_waiting
    ON delivery (account_id, bucket_id, COALESCE(output_id, bucket_id), created_at, id)
    WHERE due_at IS NULL AND status IN (0, 4);
CREATE INDEX delivery_pending ON delivery (account_id, bucket_id, created_at, id)
    WHERE due_at IS NOT NULL AND held_by IS NULL;

CREATE TABLE tally (
    span {int} NOT NULL,
    account_id {uuid} NOT NULL,
    bucket_id {uuid} NOT NULL,
    moment {int} NOT NULL,
    output_id {uuid} NOT NULL,
    status {int} NOT NULL,
    status_code {int} NOT NULL,
    retries {int} NOT NULL,
    logs {int} NOT NULL,
    micros {int} NOT NULL,
    PRIMARY KEY (span, account_id, bucket_id, moment, output_id, status, status_code, retries)
) {narrow};
CREATE INDEX tally_of_day ON tally (moment) WHERE span = 1;

CREATE TABLE access_token (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    secret_hash {bytes} NOT NULL,
    description {text} NOT NULL,
    scopes {text} NOT NULL,
    api_access {text} NOT NULL,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL
) {table};
CREATE INDEX access_token_of_account ON access_token (account_id, id);
"#;

/// Counts what is there already.
const COUNT: &str = "INSERT INTO tally (span, account_id, bucket_id, moment, output_id, status, \
    status_code, retries, logs, micros) \
    SELECT {span}, account_id, bucket_id, {moment}, COALESCE(output_id, {nil}), \
    CASE WHEN {open} THEN 4 ELSE status END, CASE WHEN {open} THEN 0 ELSE COALESCE(status_code, 0) END, \
    CASE WHEN {open} OR attempts = 0 THEN 0 ELSE attempts - 1 END, COUNT(*), \
    CAST(SUM(CASE WHEN {open} THEN 0 WHEN duration_ns > 3600000000000 THEN 3600000000 \
    ELSE COALESCE(duration_ns, 0) / 1000 END) AS {int}) \
    FROM delivery GROUP BY 1, 2, 3, 4, 5, 6, 7, 8";

pub(super) fn sql(backend: DbBackend) -> String {
    counts(backend).fold(SCHEMA.to_owned(), |sql, count| format!("{sql}{count};"))
}

/// A statement for each span.
pub(crate) fn counts(backend: DbBackend) -> impl Iterator<Item = String> {
    let nil = match backend {
        DbBackend::Sqlite => "zeroblob(16)",
        _ => "'00000000-0000-0000-0000-000000000000'::uuid",
    };
    let moments = ["0", "created_at - created_at % 86400000", "created_at - created_at % 60000"];
    moments.into_iter().enumerate().map(move |(span, moment)| {
        COUNT
            .replace("{span}", &span.to_string())
            .replace("{moment}", moment)
            .replace("{nil}", nil)
            .replace("{open}", "status IN (0, 4)")
    })
}
