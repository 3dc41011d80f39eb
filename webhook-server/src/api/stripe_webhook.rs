//! `/v1/stripe/webhook`

use axum::{Json, extract::State, http::HeaderMap};
use serde::Serialize;
use utoipa::ToSchema;

use super::Answer;
use crate::{api::extract::Raw, state::AppState};

/// That an event has been taken.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Received {
    /// Always.
    received: bool,
}

/// Take an event of the payment processor, which has signed it.
///
/// The state of the subscription in the event becomes the account's plan. An event without a valid
/// signature is 400, and changes nothing.
#[utoipa::path(
    post,
    path = "/v1/stripe/webhook",
    security(()),
    request_body(content = Object, description = "The event, as Stripe sends it"),
    params(("Stripe-Signature" = String, Header, description = "The time and the signatures")),
    responses(
        (status = 200, description = "Taken", body = Received),
        (status = 400, description = "The event cannot be read"),
        (status = 404, description = "No payment processor is configured"),
    ),
)]
pub(crate) async fn take_stripe_event(
    State(state): State<AppState>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Answer<Received> {
    state.admin().take_billing_event(&headers, &body).await?;
    Ok(Json(Received { received: true }))
}
