//! Buckets, and one of them drawn as the way that its webhooks take.

mod flow;
mod rates;
mod settings;
mod test_webhook;

use askama::Template;
use axum::{
    Router,
    routing::{get, post},
};
use webhook_core::{Error, model::Bucket};

use super::{Asked, heads, latest};
use crate::{
    Dashboard, PATH,
    page::{Frame, Reply, page},
    session::Session,
    show,
};

/// How many are on a page: the newest webhook of each is looked for.
const SHOWN: usize = 50;

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/buckets", get(list))
        .route("/buckets/new", get(settings::new).post(settings::create))
        .route("/buckets/{bucket}", get(flow::show))
        .route("/buckets/{bucket}/test", post(test_webhook::send))
        .route("/buckets/{bucket}/settings", get(settings::show).post(settings::save))
        .route("/buckets/{bucket}/delete", post(settings::delete))
}

#[derive(Template)]
#[template(path = "buckets.html")]
struct Buckets {
    frame: Frame,
    q: String,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    bucket: Bucket,
    /// When its newest webhook came.
    last: String,
}

/// When the newest webhook of a bucket came.
async fn last(session: &Session, bucket: &Bucket) -> Result<String, Error> {
    let heads = heads(session, &latest(bucket.id, 1)).await?;
    Ok(heads.first().map_or("none yet".to_owned(), |head| show::moment(head.created_at)))
}

async fn list(session: Session, asked: Asked) -> Reply {
    let mut buckets = session.admin().buckets(&session.caller).await?;
    let q = asked.text("q").to_owned();
    let sought = q.to_lowercase();
    buckets.retain(|bucket| bucket.spec.name.to_lowercase().contains(&sought));
    let from = asked.get("from").and_then(|text| text.parse().ok()).unwrap_or(0);
    let beyond = usize::saturating_add(from, SHOWN);
    let next = (buckets.len() > beyond)
        .then(|| format!("{PATH}/buckets?{}", asked.with(&[("from", &beyond.to_string())])));
    let mut rows = Vec::new();
    for bucket in buckets.into_iter().skip(from).take(SHOWN) {
        let last = last(&session, &bucket).await?;
        rows.push(Row { bucket, last });
    }
    let frame = Frame::new(&session, "Buckets", "Buckets").noticing(asked.get("done"));
    Ok(page(&Buckets { frame, q, rows, next }))
}
