//! Who pays, what accounts are subscribed to, and webhooks counted by month.

use sea_orm::DbBackend;

/// `details` is the JSON of the billing details, `prices` a JSON list. A row of
/// `billing` comes with the first that is known of an account.
const SCHEMA: &str = r#"
CREATE TABLE billing (
    account_id {uuid} PRIMARY KEY NOT NULL,
    customer_id {text} CONSTRAINT billing_customer UNIQUE,
    details {text},
    subscription_id {text},
    status {text},
    prices {text},
    subscribed_at {int},
    read_at {int}
) {table};

CREATE TABLE billing_event (
    id {text} PRIMARY KEY NOT NULL,
    recorded_at {int} NOT NULL
) {table};
CREATE INDEX billing_event_by_age ON billing_event (recorded_at);
"#;

/// The span 3 of `tally` counts webhooks, not logs: one row for each account
/// and month, with nil and zero in all other columns, that never goes down.
const COUNT: &str = "INSERT INTO tally (span, account_id, bucket_id, moment, output_id, status, \
    status_code, retries, logs, micros) \
    SELECT 3, account_id, {nil}, {month}, {nil}, 0, 0, 0, COUNT(*), 0 FROM webhook GROUP BY 2, 4";

const SQLITE_MONTH: &str = "CAST(strftime('%s', received_at / 1000, 'unixepoch', \
    'start of month') AS INTEGER) * 1000";

const POSTGRES_MONTH: &str = "CAST(EXTRACT(EPOCH FROM date_trunc('month', \
    to_timestamp(received_at / 1000) AT TIME ZONE 'UTC')) AS bigint) * 1000";

pub(super) fn sql(backend: DbBackend) -> String {
    let (nil, month) = match backend {
        DbBackend::Sqlite => ("zeroblob(16)", SQLITE_MONTH),
        _ => ("CAST('00000000-0000-0000-0000-000000000000' AS uuid)", POSTGRES_MONTH),
    };
    format!("{SCHEMA}{};", COUNT.replace("{nil}", nil).replace("{month}", month))
}
