//! The variables that a function reads; what they hold is not shown again.

use axum::{extract::Path, response::Response};
use webhook_core::model::Secret;

use super::{editor, find};
use crate::{form::Submitted, page::Problem, screen::done, session::Session};

pub(super) async fn put(
    session: Session,
    Path(id): Path<String>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let function = find(&session, &id).await?;
    let (key, value) = (submitted.text("key").trim(), submitted.text("value"));
    let put = session.admin().put_variable(
        &session.caller,
        function.id,
        key.to_owned(),
        Secret::new(value),
    );
    match put.await {
        Ok(_) => Ok(done(&format!("/functions/{id}"), "saved")),
        Err(error) => editor::refuse_with(&session, &function, error).await,
    }
}

pub(super) async fn delete(
    session: Session,
    Path(id): Path<String>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let function = find(&session, &id).await?;
    let key = submitted.text("key");
    match session.admin().delete_variable(&session.caller, function.id, key).await {
        Ok(()) => Ok(done(&format!("/functions/{id}"), "deleted")),
        Err(error) => editor::refuse_with(&session, &function, error).await,
    }
}
