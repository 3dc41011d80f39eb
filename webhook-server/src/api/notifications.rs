//! `/v1/notifications`

use axum::{Json, http::StatusCode};
use webhook_core::{
    NotificationId,
    model::{Notification, NotificationSpec},
};

use super::{Answer, CreatedAnswer, Response, Tagged, TaggedAnswer, created};
use crate::api::{
    auth::Authenticated,
    error::ApiError,
    extract::{Ids, JsonObject, PageOf},
    query::PageRequest,
};

/// List the account's notifications, oldest first.
///
/// A notification puts webhooks about failures of other buckets into a bucket of the account.
#[utoipa::path(
    get,
    path = "/v1/notifications",
    params(PageRequest),
    responses(
        (status = 200, description = "The notifications", body = Vec<Notification>),
        (status = 400, description = "The query is wrong, and the text names the field"),
    ),
)]
pub(crate) async fn list_notifications(
    Authenticated(state, caller): Authenticated,
    PageOf(page): PageOf,
) -> Answer<Vec<Notification>> {
    Ok(Json(state.admin().list(&caller, page).await?))
}

/// Make a notification: from now on what it is about puts webhooks into a bucket.
///
/// From there they are forwarded, filtered and logged as any other webhook.
#[utoipa::path(
    post,
    path = "/v1/notifications",
    request_body = Notification,
    responses(
        (status = 201, description = "The notification", body = Notification),
        (status = 400, description = "The body is wrong, or the account has all of its \
            notifications; the text names the field"),
    ),
)]
pub(crate) async fn create_notification(
    Authenticated(state, caller): Authenticated,
    JsonObject(spec): JsonObject<NotificationSpec>,
) -> CreatedAnswer<Notification> {
    Ok(created(state.admin().create_notification(&caller, spec).await?))
}

/// Get a notification.
///
/// The header `ETag` has its version, which an update can name in `If-Match`.
#[utoipa::path(
    get,
    path = "/v1/notifications/{id}",
    responses((status = 200, description = "The notification", body = Notification)),
)]
pub(crate) async fn get_notification(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<NotificationId>,
) -> TaggedAnswer<Notification> {
    Ok(Tagged(state.admin().notification(&caller, id).await?))
}

/// Replace a notification.
///
/// What happened while it was disabled, and is still so when it is enabled again, is told then.
#[utoipa::path(
    put,
    path = "/v1/notifications/{id}",
    request_body = Notification,
    responses((status = 200, description = "The notification", body = Notification)),
)]
pub(crate) async fn update_notification(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<NotificationId>,
    JsonObject(spec): JsonObject<NotificationSpec>,
) -> TaggedAnswer<Notification> {
    Ok(Tagged(state.admin().update_notification(&caller, id, spec).await?))
}

/// Delete a notification, and what it has still to tell.
///
/// Webhooks that it has put into its bucket stay there.
#[utoipa::path(
    delete,
    path = "/v1/notifications/{id}",
    responses((status = 204, description = "Deleted")),
)]
pub(crate) async fn delete_notification(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<NotificationId>,
) -> Result<StatusCode, ApiError> {
    state.admin().delete_notification(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Try a notification: put a webhook of the type `notification.test` into its bucket.
///
/// A notification that is disabled can be tried as well. The answer has the webhook's ID, which is
/// the event's.
#[utoipa::path(
    post,
    path = "/v1/notifications/{id}/test",
    responses(
        (status = 200, description = "It is in the bucket", body = Response),
        (status = 412, description = "The bucket is suspended"),
    ),
)]
pub(crate) async fn test_notification(
    Authenticated(state, caller): Authenticated,
    Ids(id): Ids<NotificationId>,
) -> Answer<Response> {
    let webhook = state.admin().test_notification(&caller, id).await?;
    Ok(Response::of(webhook, "sent"))
}
