//! One webhook, as it was received and delivered.

mod edit_and_send;
mod page;
mod sample;
pub(super) mod send;
pub(super) mod siblings;
mod why;

use axum::{
    Router,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::{get, post},
};
use webhook_core::{
    Error,
    model::{Log, ProcessPolicy, Resend},
};

use super::{On, done};
use crate::{
    Dashboard,
    form::Submitted,
    page::{Frame, Problem, Reply},
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/webhooks/{log}", get(page::show))
        .route("/webhooks/{log}/body", get(download))
        .route("/webhooks/{log}/try", get(sample::lead))
        .route("/webhooks/{log}/resend", post(resend))
        .route("/webhooks/{log}/erase", post(erase))
        .route("/webhooks/{log}/edit", get(edit_and_send::show).post(edit_and_send::submit))
}

/// The frame of a page below that of a webhook.
pub(super) fn below_webhook(frame: Frame, log: &Log) -> Frame {
    let path = format!("/webhooks/{}", log.delivery.id);
    frame.below("Webhooks", "/webhooks").below("This webhook", &path)
}

/// The body as a file: its type is nobody's business but that of who opens it.
async fn download(On(_, log): On<Log>) -> Reply {
    let id = log.delivery.id;
    let request = log.delivery.processed.unwrap_or(log.webhook.request);
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"webhook-{id}.bin\"")),
    ];
    Ok((StatusCode::OK, headers, request.body).into_response())
}

/// Erases the webhook, if the box is ticked.
async fn erase(On(session, log): On<Log>, submitted: Submitted) -> Reply {
    if !submitted.has("sure") {
        let reason = "must be ticked: what is erased does not come back";
        return Err(Error::invalid("sure", reason).into());
    }
    session.admin().erase_log(&session.caller, log.delivery.id).await?;
    Ok(done("/webhooks", "erased"))
}

async fn resend(On(session, log): On<Log>, submitted: Submitted) -> Reply {
    let output = match submitted.text("output") {
        "" => None,
        text => Some(text.parse().map_err(|_| Problem::no("output"))?),
    };
    let policy = match submitted.has("force") {
        true => ProcessPolicy::Force,
        false => ProcessPolicy::Skip,
    };
    let resend = Resend { log: log.delivery.id, output, policy };
    session.admin().resend(&session.caller, resend).await?;
    Ok(done(&format!("/webhooks/{}", log.delivery.id), "resent"))
}
