//! `/v1/billing-details`

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::model::BillingDetailsSpec;

use super::Answer;
use crate::api::{auth::Authenticated, extract::JsonObject};

/// Who the account's bills are made out to.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BillingDetails {
    /// What the payment processor calls the account; empty when it does not know it.
    #[schema(read_only)]
    customer_id: String,
    #[serde(flatten)]
    spec: BillingDetailsSpec,
}

impl From<(BillingDetailsSpec, Option<String>)> for BillingDetails {
    fn from((spec, customer_id): (BillingDetailsSpec, Option<String>)) -> Self {
        Self { customer_id: customer_id.unwrap_or_default(), spec }
    }
}

/// Read who the account's bills are made out to.
///
/// A detail that is not known is empty.
#[utoipa::path(
    get,
    path = "/v1/billing-details",
    responses(
        (status = 200, description = "The details", body = BillingDetails),
        (status = 404, description = "Nothing was said yet"),
    ),
)]
pub(crate) async fn get_billing_details(
    Authenticated(state, caller): Authenticated,
) -> Answer<BillingDetails> {
    Ok(Json(state.admin().billing_details(&caller).await?.into()))
}

/// Say who the account's bills are made out to, here and to the payment processor.
///
/// When it refuses them, nothing is changed.
#[utoipa::path(
    put,
    path = "/v1/billing-details",
    request_body = BillingDetails,
    responses(
        (status = 200, description = "The details", body = BillingDetails),
        (status = 404, description = "There is no such account"),
        (status = 412, description = "The payment processor refuses the details"),
    ),
)]
pub(crate) async fn put_billing_details(
    Authenticated(state, caller): Authenticated,
    JsonObject(details): JsonObject<BillingDetailsSpec>,
) -> Answer<BillingDetails> {
    Ok(Json(state.admin().put_billing_details(&caller, details).await?.into()))
}
