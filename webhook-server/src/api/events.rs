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
use crate::api::{
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

/// Take the oldest webhooks that wait for clients.
///
/// Webhooks of internal outputs, and of buckets without outputs, wait for clients. Each is handed
/// to exactly one consumer, and is `sent` before the answer is written. With `ack=manual` it is
/// leased: it is this consumer's for a time, which says what became of it, and comes again
/// otherwise. Access tokens without API access may take webhooks.
#[utoipa::path(
    get,
    path = "/v1/events",
    params(DrainRequest),
    responses(
        (status = 200, description = "The webhooks", body = Events),
        (status = 403, description = "The bucket is not in the access token's scope, or its \
            `stream` is off"),
        (status = 404, description = "The account has no such bucket"),
        (status = 429, description = "Too many webhooks of the account are leased"),
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

/// Say what became of webhooks that were taken: without `status` they are `sent`.
///
/// `received` gives a leased webhook back, `preparing` with `lease` keeps it for longer.
/// Access tokens without API access may report.
#[utoipa::path(
    post,
    path = "/v1/events/ack",
    request_body = Acknowledgement,
    responses(
        (status = 200, description = "The logs that it counted for", body = Acknowledged),
        (status = 403, description = "A bucket is not in the access token's scope, and nothing was \
            reported"),
    ),
)]
pub(crate) async fn acknowledge_events(
    Consumer(state, caller): Consumer,
    JsonObject(acknowledgement): JsonObject<Acknowledgement>,
) -> Answer<Acknowledged> {
    let taken = state.admin().acknowledge(&caller, acknowledgement).await?;
    Ok(Json(Acknowledged { taken }))
}
