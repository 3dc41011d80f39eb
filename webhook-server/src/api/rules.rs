//! `/v1/buckets/{id}/outputs/{detailed}/rules`

use axum::Json;
use webhook_core::{BucketId, OutputId, Rules, model::Output};

use super::Answer;
use crate::{
    auth::Authenticated,
    extract::{Ids, JsonObject},
};

/// Replace the filtering rules of an output, and nothing else of it. `{}` lets
/// every webhook pass.
#[utoipa::path(
    put,
    path = "/v1/buckets/{id}/outputs/{detailed}/rules",
    tag = "Outputs",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("detailed" = String, Path, description = "The output's ID", format = Uuid),
    ),
    request_body(content = ref("#/components/schemas/Rules"),
        description = "`{}`, or one of `and`, `or`, `not`, `match`"),
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 400, description = "The rules are wrong; the text says where", body = String),
        (status = 404, description = "The account has no such bucket or output", body = String),
    ),
)]
pub(crate) async fn put_rules(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
    JsonObject(rules): JsonObject<Rules>,
) -> Answer<Output> {
    Ok(Json(state.admin().put_rules(&caller, bucket, id, rules).await?))
}

/// Remove the filtering rules of an output: it gets every webhook from then on.
#[utoipa::path(
    delete,
    path = "/v1/buckets/{id}/outputs/{detailed}/rules",
    tag = "Outputs",
    params(
        ("id" = String, Path, description = "The bucket's ID", format = Uuid),
        ("detailed" = String, Path, description = "The output's ID", format = Uuid),
    ),
    responses(
        (status = 200, description = "The output", body = Output),
        (status = 400, description = "The request is wrong", body = String),
        (status = 404, description = "The account has no such bucket or output", body = String),
    ),
)]
pub(crate) async fn delete_rules(
    Authenticated(state, caller): Authenticated,
    Ids((bucket, id)): Ids<(BucketId, OutputId)>,
) -> Answer<Output> {
    Ok(Json(state.admin().delete_rules(&caller, bucket, id).await?))
}
