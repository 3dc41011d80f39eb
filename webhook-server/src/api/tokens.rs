//! `/v1/tokens`

use axum::{Json, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::{
    Timestamp, TokenId,
    model::{AccessToken, ApiAccess, TokenSpec},
};

use super::{Answer, Response, rfc3339};
use crate::api::{
    auth::Authenticated,
    error::ApiError,
    extract::{Ids, JsonObject, PageOf},
    query::PageRequest,
};

/// A credential with a narrower reach than the API key. An absent scope is no
/// bound: the token reaches every bucket.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Token {
    /// Identifies it.
    #[schema(read_only, format = Uuid)]
    id: String,
    /// The key that goes with the secret: its ID.
    #[schema(read_only, format = Uuid)]
    key: String,
    /// The account it acts for.
    #[schema(read_only, format = Uuid)]
    account_id: String,
    /// When it was made, in unix seconds.
    #[schema(read_only, value_type = i64)]
    created_at: Timestamp,
    /// When it was last changed, in unix seconds.
    #[schema(read_only, value_type = i64)]
    updated_at: Timestamp,
    /// Whether it is accepted: as long as it is there.
    #[schema(read_only)]
    active: bool,
    /// When a client last used it, as RFC 3339, a minute late at most; absent while no client
    /// has used it. It is text, unlike the other times, because the published clients decode text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(read_only, format = DateTime)]
    last_login: Option<String>,
    #[serde(flatten)]
    spec: TokenSpec,
}

/// The credential of a new access token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenCredential {
    /// The token's ID.
    #[schema(format = Uuid)]
    key: String,
    /// The secret, which is never shown again.
    secret: String,
}

/// List the account's access tokens, oldest first.
///
/// Their secrets are not part of the answer.
#[utoipa::path(
    get,
    path = "/v1/tokens",
    params(PageRequest),
    responses(
        (status = 200, description = "The tokens", body = Vec<Token>),
        (status = 400, description = "The query is wrong, and the text names the field"),
    ),
)]
pub(crate) async fn list_tokens(
    Authenticated(state, caller): Authenticated,
    PageOf(page): PageOf,
) -> Answer<Vec<Token>> {
    let tokens = state.admin().tokens_page(&caller, page).await?;
    Ok(Json(tokens.into_iter().map(Token::from).collect()))
}

/// Make an access token.
///
/// Its secret is shown in this answer and never again.
#[utoipa::path(
    post,
    path = "/v1/tokens",
    request_body = Token,
    responses(
        (status = 201, description = "The credential", body = TokenCredential),
        (status = 412, description = "The account has all of its tokens"),
    ),
)]
pub(crate) async fn create_token(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<TokenSpec>,
) -> Result<(StatusCode, Json<TokenCredential>), ApiError> {
    let new = state.admin().create_token(&caller, spec).await?;
    let secret = new.secret.expose().to_owned();
    let credential = TokenCredential { key: new.token.id.to_string(), secret };
    Ok((StatusCode::CREATED, Json(credential)))
}

/// Replace an access token's description, scopes and API access; its secret stays.
///
/// When its scopes change, what subscribes with it is disconnected.
#[utoipa::path(
    put,
    path = "/v1/tokens/{id}",
    request_body = Token,
    responses((status = 200, description = "The token", body = Token)),
)]
pub(crate) async fn update_token(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<TokenId>,
    JsonObject(spec): JsonObject<TokenSpec>,
) -> Answer<Token> {
    Ok(Json(state.admin().update_token(&caller, id, spec).await?.into()))
}

/// Delete an access token.
///
/// It is refused from then on, and what subscribes with it is disconnected.
#[utoipa::path(
    delete,
    path = "/v1/tokens/{id}",
    responses((status = 200, description = "Deleted", body = Response)),
)]
pub(crate) async fn delete_token(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<TokenId>,
) -> Answer<Response> {
    state.admin().delete_token(&caller, id).await?;
    Ok(Response::deleted(id))
}

impl From<AccessToken> for Token {
    fn from(token: AccessToken) -> Self {
        let AccessToken {
            id,
            account_id,
            secret_hash: _,
            mut spec,
            created_at,
            updated_at,
            last_login,
        } = token;
        if spec.api_access == ApiAccess::None {
            // As versions before stored it that did not say `enabled`.
            spec.api_access = ApiAccess::Enabled;
        }
        Self {
            id: id.to_string(),
            key: id.to_string(),
            account_id: account_id.to_string(),
            created_at,
            updated_at,
            active: true,
            last_login: last_login.map(rfc3339),
            spec,
        }
    }
}
