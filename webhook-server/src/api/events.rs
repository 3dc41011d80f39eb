//! `/v1/events`

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::{
    DeliveryId,
    admin::Handed,
    model::{Acknowledgement, Log},
};

use super::{Answer, log_queries::DrainRequest};
use crate::{
    auth::Consumer,
    extract::{JsonObject, QueryOf},
};

/// Webhooks for one consumer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Events {
    /// The webhooks, oldest first; nobody else gets them.
    logs: Vec<Log>,
    /// Whether more wait.
    has_more: bool,
    /// The place of the last webhook.
    next_cursor: String,
}

/// What a report on many webhooks did.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Acknowledged {
    /// The logs that it counted for. The others are not there, or were reported on before.
    #[schema(value_type = Vec<String>)]
    taken: Vec<DeliveryId>,
}

/// Take the oldest webhooks that wait for clients: those of internal outputs,
/// and of buckets without outputs. Each is handed to exactly one consumer, and
/// is `sent` before the answer is written. With `ack=manual` it is leased: it is this
/// consumer's for a time, which says what became of it, and comes again otherwise. Access
/// tokens without API access may take webhooks.
#[utoipa::path(
    get,
    path = "/v1/events",
    tag = "Logs",
    params(
        ("bucket" = Option<String>, Query, description = "The bucket's ID or name"),
        ("output" = Option<String>, Query, description = "The output's ID"),
        ("limit" = Option<u64>, Query, minimum = 1, maximum = 100,
            description = "How many; 100 when it is not said. Fewer come when they are large"),
        ("max_age" = Option<String>, Query,
            description = "How old they may be, such as `24h`, which it is when it is not said"),
        ("cursor" = Option<String>, Query,
            description = "The `next_cursor` of the answer before. It changes nothing: what was \
                handed out is never handed out again"),
        ("ack" = Option<String>, Query,
            description = "`manual` leases the webhooks; `auto`, which it is when it is not \
                said, hands them out for good"),
        ("lease" = Option<String>, Query,
            description = "With `ack=manual`: for how long, such as `5m` or in nanoseconds, 1 \
                second to 12 hours; `60s` when it is not said"),
    ),
    responses(
        (status = 200, description = "The webhooks", body = Events),
        (status = 400, description = "The query is wrong; the text names the field", body = String),
        (status = 403, description = "The bucket is not in the access token's scope, or its \
            `stream` is off", body = String),
        (status = 404, description = "The account has no such bucket", body = String),
        (status = 429, description = "Too many webhooks of the account are leased",
            body = String),
    ),
)]
pub(crate) async fn take_events(
    Consumer(state, caller): Consumer,
    QueryOf(request): QueryOf<DrainRequest>,
) -> Answer<Events> {
    let Handed { logs, has_more, next } = state.admin().drain(&caller, &request.read()?).await?;
    let next_cursor = next.map(|cursor| cursor.to_string()).unwrap_or_default();
    Ok(Json(Events { logs, has_more, next_cursor }))
}

/// Say what became of webhooks that were taken: without `status` they are `sent`. What was
/// leased is given back with `received`, and kept longer with `preparing` and `lease`. Access
/// tokens without API access may report.
#[utoipa::path(
    post,
    path = "/v1/events/ack",
    tag = "Logs",
    request_body = Acknowledgement,
    responses(
        (status = 200, description = "The logs that it counted for", body = Acknowledged),
        (status = 400, description = "The body is wrong; the text names the field", body = String),
        (status = 403, description = "A bucket is not in the access token's scope, and nothing \
            was reported", body = String),
    ),
)]
pub(crate) async fn acknowledge_events(
    Consumer(state, caller): Consumer,
    JsonObject(acknowledgement): JsonObject<Acknowledgement>,
) -> Answer<Acknowledged> {
    let taken = state.admin().acknowledge(&caller, acknowledgement).await?;
    Ok(Json(Acknowledged { taken }))
}
