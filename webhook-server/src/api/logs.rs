//! `/v1/logs`, `/v1/logs-stats`, and the logs of one bucket.

use std::collections::BTreeMap;

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::{
    BucketId, DeliveryId, Timestamp,
    admin::LogsPage,
    model::{Log, LogAction, LogReport},
    store::{DayCount, ErasedWebhook, LogsFound, MinuteCount},
};

use super::{
    Answer, Response,
    log_queries::{DayRequest, FilterRequest, LogRequest, MinuteRequest},
    time,
};
use crate::api::{
    auth::{Authenticated, Consumer},
    extract::{Ids, JsonObject, QueryOf, Report},
};

/// A page of logs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogList {
    /// The logs, newest first.
    data: Vec<Log>,
    /// How many match in all; of a search, how many are on the page.
    total: u64,
    /// How many were asked for. A page is shorter when its logs are large.
    limit: usize,
    /// How many were skipped.
    offset: u64,
    /// The `cursor` of the next page; empty after the last.
    next_cursor: String,
    /// Only of a search: whether there is nothing older to look at. Otherwise go on with
    /// `next_cursor`, also when the page is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// Only of a search: when the last log that it looked at was stored, in unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    scanned_until: Option<Timestamp>,
}

/// Counts of one day.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DayStats {
    /// The day (UTC), as `YYYY-MM-DD`.
    #[schema(format = Date)]
    day: String,
    /// All logs.
    received: u64,
    /// Those that were sent.
    success: u64,
    /// Those that failed.
    failures: u64,
    /// Those that were attempted more than once.
    retried: u64,
    /// Attempts beyond the first, of all together.
    retry_count: u64,
    /// Attempts beyond the first, of the log that has most.
    max_retries: u64,
}

/// Counts per minute.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Histogram {
    /// What one entry counts: `1m`.
    resolution: &'static str,
    /// The minutes that have logs, oldest first.
    buckets: Vec<MinuteStats>,
}

/// Counts of one minute.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MinuteStats {
    /// The minute's first moment, in unix seconds.
    #[schema(value_type = i64)]
    minute: Timestamp,
    /// Logs by status; what is `preparing` counts as `received`.
    counts: BTreeMap<&'static str, u64>,
    /// All logs.
    total: u64,
    /// The average duration of attempts that were answered, in milliseconds.
    latency_ms_avg: f64,
    /// Logs that were attempted more than once.
    retried: u64,
    /// Attempts beyond the first, of all together.
    retry_count: u64,
    /// Attempts beyond the first, of the log that has most.
    max_retries: u64,
}

/// List logs, newest first.
///
/// An access token that reaches several buckets has to name one. With a parameter of a search it
/// looks at logs one by one, within bounds of bytes and time: ask again with `next_cursor` until
/// `complete` is true.
#[utoipa::path(
    get,
    path = "/v1/logs",
    params(LogRequest, FilterRequest),
    responses(
        (status = 200, description = "A page of logs", body = LogList),
        (status = 403, description = "The bucket is not in the access token's scope"),
        (status = 404, description = "The account has no such bucket"),
        (status = 429, description = "The account has two searches running"),
    ),
)]
pub(crate) async fn list_logs(
    Authenticated(state, caller): Authenticated,
    QueryOf(request): QueryOf<LogRequest>,
) -> Answer<LogList> {
    let (query, filter) = request.read()?;
    if !filter.is_empty() {
        let limit = query.limit;
        let found = state.admin().search_logs(&caller, &query, filter).await?;
        return Ok(Json(LogList::found(found, limit)));
    }
    let page = state.admin().logs(&caller, &query).await?;
    let LogsPage { logs, total, limit, offset, next } = page;
    let next_cursor = next.map(|cursor| cursor.to_string()).unwrap_or_default();
    let list = LogList {
        data: logs,
        total,
        limit,
        offset,
        next_cursor,
        complete: None,
        scanned_until: None,
    };
    Ok(Json(list))
}

/// Read a log.
///
/// A log is one webhook at one output. It has the request, the answer of the destination and the
/// history of the attempts.
#[utoipa::path(
    get,
    path = "/v1/logs/{id}",
    responses((status = 200, description = "The log", body = Log)),
)]
pub(crate) async fn get_log(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<DeliveryId>,
) -> Answer<Log> {
    Ok(Json(state.admin().log(&caller, id).await?))
}

/// Read a log of a bucket.
///
/// The answer is the same as without the bucket in the path. A log of another bucket is 404.
#[utoipa::path(
    get,
    path = "/v1/buckets/{id}/logs/{log_id}",
    responses(
        (status = 200, description = "The log", body = Log),
        (status = 403, description = "The bucket is not in the access token's scope"),
        (status = 404, description = "The account has no such log in this bucket"),
    ),
)]
pub(crate) async fn get_bucket_log(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, DeliveryId)>,
) -> Answer<Log> {
    Ok(Json(state.admin().bucket_log(&caller, bucket, id).await?))
}

/// Report what a client did with a webhook.
///
/// It completes the answer of a sender that waits for it. A second final report is ignored. Access
/// tokens without API access may report.
#[utoipa::path(
    put,
    path = "/v1/logs/{id}",
    request_body = LogReport,
    responses((status = 200, description = "The log after the report", body = Log)),
)]
pub(crate) async fn report_log(
    Consumer(state, caller): Consumer,
    Ids(id): Ids<DeliveryId>,
    Report(report): Report<LogReport>,
) -> Answer<Log> {
    Ok(Json(state.admin().report(&caller, id, report).await?))
}

/// Send the webhook of a log again, as a log of its own.
///
/// Without `output` it goes to the same output, or to all enabled outputs of the bucket when the
/// log is of none.
#[utoipa::path(
    post,
    path = "/v1/logs/{id}/action",
    request_body = LogAction,
    responses(
        (status = 200, description = "It is on its way", body = Response),
        (status = 404, description = "The account has no such log, or its bucket no such output"),
        (status = 412, description = "The content is erased, or the output is disabled"),
    ),
)]
pub(crate) async fn act_on_log(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<DeliveryId>,
    JsonObject(action): JsonObject<LogAction>,
) -> Answer<Response> {
    state.admin().resend(&caller, action.resend(id)?).await?;
    Ok(Response::of(id, "resent"))
}

/// The webhook that was erased.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErasedLog {
    /// The log that was asked for.
    #[schema(format = Uuid)]
    id: String,
    /// `erased`
    status: &'static str,
    /// All logs of its webhook, which are gone.
    #[schema(value_type = Vec<String>)]
    logs: Vec<DeliveryId>,
    /// How many of them were still waiting for an output or a client.
    withdrawn: u64,
}

/// Erase the webhook of a log, for all of its outputs.
///
/// Its logs, the runs of functions on it and its content are removed. Its waiting deliveries are
/// withdrawn. Statistics stay as they are.
#[utoipa::path(
    delete,
    path = "/v1/logs/{id}",
    responses(
        (status = 200, description = "What was erased", body = ErasedLog),
        (status = 412, description = "An attempt of the webhook is in flight, or a consumer has \
            leased it; nothing is changed"),
    ),
)]
pub(crate) async fn erase_log(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<DeliveryId>,
) -> Answer<ErasedLog> {
    let ErasedWebhook { logs, withdrawn, .. } = state.admin().erase_log(&caller, id).await?;
    Ok(Json(ErasedLog { id: id.to_string(), status: "erased", logs, withdrawn }))
}

/// Count logs per day (UTC), oldest first; days without logs are left out.
///
/// Removed logs are not counted. Without a bucket the counts are of the whole account.
#[utoipa::path(
    get,
    path = "/v1/logs-stats",
    params(DayRequest),
    responses(
        (status = 200, description = "The days", body = Vec<DayStats>),
        (status = 403, description = "The bucket is not in the access token's scope"),
        (status = 404, description = "The account has no such bucket"),
    ),
)]
pub(crate) async fn log_stats(
    Authenticated(state, caller): Authenticated,
    QueryOf(request): QueryOf<DayRequest>,
) -> Answer<Vec<DayStats>> {
    let days = state.admin().days(&caller, &request.read()?).await?;
    Ok(Json(days.into_iter().map(DayStats::from).collect()))
}

/// Count logs per minute, oldest first; minutes without logs are left out.
///
/// Removed logs are not counted.
#[utoipa::path(
    get,
    path = "/v1/logs/histogram",
    params(MinuteRequest),
    responses(
        (status = 200, description = "The minutes", body = Histogram),
        (status = 403, description = "The bucket is not in the access token's scope"),
        (status = 404, description = "The account has no such bucket"),
    ),
)]
pub(crate) async fn log_histogram(
    Authenticated(state, caller): Authenticated,
    QueryOf(request): QueryOf<MinuteRequest>,
) -> Answer<Histogram> {
    let minutes = state.admin().minutes(&caller, &request.read()?).await?;
    let buckets = minutes.into_iter().map(MinuteStats::from).collect();
    Ok(Json(Histogram { resolution: "1m", buckets }))
}

impl LogList {
    fn found(found: LogsFound, limit: usize) -> Self {
        let LogsFound { logs, scanned_until, complete, .. } = found;
        let next = scanned_until.filter(|_| !complete);
        Self {
            total: logs.len() as u64,
            data: logs,
            limit,
            offset: 0,
            next_cursor: next.map(|cursor| cursor.to_string()).unwrap_or_default(),
            complete: Some(complete),
            scanned_until: scanned_until.map(|cursor| cursor.created_at),
        }
    }
}

impl From<DayCount> for DayStats {
    fn from(count: DayCount) -> Self {
        let DayCount {
            day, received, success, failures, retried, retry_count, max_retries, ..
        } = count;
        // The day is what comes before the time.
        let day = time::rfc3339(day).chars().take(10).collect();
        Self { day, received, success, failures, retried, retry_count, max_retries }
    }
}

impl From<MinuteCount> for MinuteStats {
    fn from(count: MinuteCount) -> Self {
        let MinuteCount {
            minute, counts, latency_ms_avg, retried, retry_count, max_retries, ..
        } = count;
        Self {
            minute,
            total: counts.values().sum(),
            counts,
            latency_ms_avg,
            retried,
            retry_count,
            max_retries,
        }
    }
}
