//! The variables that a function reads; what they hold is not shown again.

use webhook_core::model::{Function, Secret};

use super::editor;
use crate::{
    form::Submitted,
    page::Reply,
    screen::{On, done},
};

pub(super) async fn put(On(session, function): On<Function>, submitted: Submitted) -> Reply {
    let (key, value) = (submitted.text("key").trim(), submitted.text("value"));
    let put = session.admin().put_variable(
        &session.caller,
        function.id,
        key.to_owned(),
        Secret::new(value),
    );
    match put.await {
        Ok(_) => Ok(done(&format!("/functions/{}", function.id), "saved")),
        Err(error) => editor::refuse_with(&session, &function, error).await,
    }
}

pub(super) async fn delete(On(session, function): On<Function>, submitted: Submitted) -> Reply {
    let key = submitted.text("key");
    match session.admin().delete_variable(&session.caller, function.id, key).await {
        Ok(()) => Ok(done(&format!("/functions/{}", function.id), "deleted")),
        Err(error) => editor::refuse_with(&session, &function, error).await,
    }
}
