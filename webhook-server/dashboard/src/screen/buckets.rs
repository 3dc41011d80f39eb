//! Buckets, and one of them drawn as the way that its webhooks take.

mod flow;
mod settings;

use askama::Template;
use axum::{
    Router,
    extract::State,
    response::Response,
    routing::{get, post},
};
use webhook_core::model::Bucket;

use super::Asked;
use crate::{
    Dashboard,
    page::{Frame, Problem, page},
    session::Session,
    show,
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/buckets", get(list))
        .route("/buckets/new", get(settings::new).post(settings::create))
        .route("/buckets/{bucket}", get(flow::show))
        .route("/buckets/{bucket}/test", post(flow::test))
        .route("/buckets/{bucket}/settings", get(settings::show).post(settings::save))
        .route("/buckets/{bucket}/delete", post(settings::delete))
}

#[derive(Template)]
#[template(path = "buckets.html")]
struct Buckets {
    frame: Frame,
    q: String,
    buckets: Vec<Bucket>,
}

async fn list(
    State(dashboard): State<Dashboard>,
    session: Session,
    asked: Asked,
) -> Result<Response, Problem> {
    let mut buckets = dashboard.admin().buckets(&session.caller).await?;
    let q = asked.text("q").to_owned();
    let sought = q.to_lowercase();
    buckets.retain(|bucket| bucket.spec.name.to_lowercase().contains(&sought));
    let frame = Frame::new(&session, "Buckets", "Buckets").noticing(asked.get("done"));
    Ok(page(&Buckets { frame, q, buckets }))
}
