//! A run of a cron between those of its schedule.

use axum::{
    extract::Extension,
    http::{HeaderName, HeaderValue, header::CONTENT_TYPE},
};
use webhook_core::{
    admin::BucketCron,
    model::{Cron, Request},
    relay::ClientAddr,
};

use super::settings;
use crate::{
    page::{Problem, Reply, page_with},
    screen::{On, done, edit::refusal, functions, webhook::send},
};

/// Names the cron in the headers of its webhooks, as runs of the schedule do.
const CRON_ID: HeaderName = HeaderName::from_static("x-webhook-cron-id");

/// Sends to the cron's input what a run sends. It is the way that a run takes, so it shows
/// whether the next one will arrive; the schedule stays as it is, and a paused cron paused.
pub(super) async fn now(
    On(session, found): On<BucketCron>,
    client: Option<Extension<ClientAddr>>,
) -> Reply {
    let bucket = found.bucket.as_ref().ok_or_else(|| Problem::no("bucket"))?;
    let client = client.map(|Extension(client)| client);
    let request = request(&found.cron);
    match send::send(&session, bucket, found.cron.input_id, request, client).await {
        Ok(()) => Ok(done(&format!("/crons/{}", found.cron.id), "sent")),
        Err(error) => {
            let (status, error) = refusal(error)?;
            let functions = functions(&session).await?;
            let mut edit = settings::editing(&session, &found.cron, &functions);
            edit.form.error = Some(error.to_string());
            Ok(page_with(status, &super::cron_page(&session, &found, edit).await?))
        }
    }
}

fn request(cron: &Cron) -> Request {
    let spec = &cron.spec;
    let mut headers = spec.headers.0.clone();
    if !spec.payload.is_empty() && !headers.contains_key(CONTENT_TYPE) {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&spec.payload).is_ok();
        let kind = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    if let Ok(id) = HeaderValue::try_from(cron.id.to_string()) {
        headers.insert(CRON_ID, id);
    }
    Request {
        method: spec.method.clone(),
        extra_path: String::new(),
        raw_query: String::new(),
        headers,
        body: spec.payload.clone().into(),
    }
}
