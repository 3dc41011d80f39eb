//! `/v1/checkout` and `/v1/checkout-setup`

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::{
    billing::CheckoutSession,
    model::{PlanChange, PlanItem},
};

use super::Answer;
use crate::api::{auth::Authenticated, extract::JsonObject};

/// A plan to subscribe to.
#[derive(Debug, ToSchema)]
#[schema(as = planChangeRequest)]
#[expect(dead_code, reason = "what is read is the library's; this is its description")]
pub(crate) struct PlanChangeRequest {
    /// The price of the plan, by the ID that the payment processor gave it.
    plan_id: String,
    /// What is subscribed to besides.
    #[schema(required = false)]
    optional_items: Vec<PlanItem>,
}

/// A checkout session that was started.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = planChangeResponse)]
pub(crate) struct PlanChangeResponse {
    /// Whether somebody has to go through the session: always.
    checkout_required: bool,
    /// What a browser shows the payment processor.
    publishable_key: String,
    /// The session.
    session_id: String,
}

impl From<CheckoutSession> for PlanChangeResponse {
    fn from(session: CheckoutSession) -> Self {
        // The processor's own program in the browser finds the page by the session.
        let CheckoutSession { publishable_key, session_id, url: _ } = session;
        Self { checkout_required: true, publishable_key, session_id }
    }
}

/// Start a checkout session for a new subscription.
///
/// The subscription that the account has ends when the new one begins.
#[utoipa::path(
    post,
    path = "/v1/checkout",
    request_body = PlanChangeRequest,
    responses(
        (status = 200, description = "The session", body = PlanChangeResponse),
        (status = 404, description = "There is no such price"),
        (status = 412, description = "The account is subscribed to it already, no payment \
            processor is configured, or it refuses"),
    ),
)]
pub(crate) async fn start_checkout(
    Authenticated(state, caller): Authenticated,
    JsonObject(change): JsonObject<PlanChange>,
) -> Answer<PlanChangeResponse> {
    Ok(Json(state.admin().start_checkout(&caller, change).await?.into()))
}

/// Start a checkout session that puts a means of payment on file.
///
/// The answer has the address of the payment processor's page. Nothing is paid there.
#[utoipa::path(
    post,
    path = "/v1/checkout-setup",
    responses((status = 200, description = "The session", body = PlanChangeResponse)),
)]
pub(crate) async fn start_checkout_setup(
    Authenticated(state, caller): Authenticated,
) -> Answer<PlanChangeResponse> {
    Ok(Json(state.admin().start_checkout_setup(&caller).await?.into()))
}
