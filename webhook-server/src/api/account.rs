//! `/v1/account/api-key`

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use webhook_core::{
    AccountId, Timestamp,
    model::{ApiKey, Secret},
};

use super::Answer;
use crate::api::{auth::Authenticated, extract::JsonObject};

/// The API key of the account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountAPIKey {
    /// The account that the key acts for.
    #[schema(value_type = String, format = Uuid)]
    account_id: AccountId,
    /// The key itself, to be sent as `Authorization: Bearer <key>`.
    #[schema(value_type = String)]
    api_key: Secret,
    /// A disabled key is refused everywhere.
    enabled: bool,
    /// When this key was made, in unix seconds.
    #[schema(value_type = i64)]
    created_at: Timestamp,
    /// When it was last enabled or disabled, in unix seconds.
    #[schema(value_type = i64)]
    updated_at: Timestamp,
}

impl From<ApiKey> for AccountAPIKey {
    fn from(key: ApiKey) -> Self {
        let ApiKey { account_id, key: api_key, enabled, created_at, updated_at } = key;
        Self { account_id, api_key, enabled, created_at, updated_at }
    }
}

/// Whether the API key is to be accepted.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct UpdateAPIKeyStatusRequest {
    /// `false` refuses the key everywhere, this operation included: then only
    /// an access token or the operator can enable it again.
    enabled: bool,
}

/// Whether the API key is accepted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UpdateAPIKeyStatusResponse {
    /// Whether it is.
    enabled: bool,
}

/// Read the account's API key.
///
/// One is made when there is none; it stays the same until it is regenerated.
#[utoipa::path(
    get,
    path = "/v1/account/api-key",
    responses((status = 200, description = "The key", body = AccountAPIKey)),
)]
pub(crate) async fn get_api_key(
    Authenticated(state, caller): Authenticated,
) -> Answer<AccountAPIKey> {
    Ok(Json(state.admin().api_key(&caller).await?.into()))
}

/// Enable or disable the account's API key without replacing it.
///
/// While it is disabled, requests with it get 401. It is the same key when it is enabled again.
#[utoipa::path(
    put,
    path = "/v1/account/api-key",
    request_body = UpdateAPIKeyStatusRequest,
    responses((status = 200, description = "Done", body = UpdateAPIKeyStatusResponse)),
)]
pub(crate) async fn update_api_key_status(
    Authenticated(state, caller): Authenticated,
    JsonObject(request): JsonObject<UpdateAPIKeyStatusRequest>,
) -> Answer<UpdateAPIKeyStatusResponse> {
    let key = state.admin().set_api_key_enabled(&caller, request.enabled).await?;
    Ok(Json(UpdateAPIKeyStatusResponse { enabled: key.enabled }))
}

/// Replace the account's API key.
///
/// The old one is refused from then on.
#[utoipa::path(
    post,
    path = "/v1/account/api-key",
    responses((status = 200, description = "The new key", body = AccountAPIKey)),
)]
pub(crate) async fn regenerate_api_key(
    Authenticated(state, caller): Authenticated,
) -> Answer<AccountAPIKey> {
    Ok(Json(state.admin().regenerate_api_key(&caller).await?.into()))
}
