//! The list of webhooks.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use webhook_core::{
    ErrorKind,
    admin::{LogQuery, LogsPage},
};

use super::{
    Asked, live, log_filter,
    rows::{Names, Rows},
};
use crate::{
    Dashboard, PATH,
    page::{Frame, Problem, page_with},
    session::Session,
};

/// Statuses to choose from.
const STATUSES: [(&str, &str); 6] = [
    ("", "all"),
    ("received", "waiting"),
    ("sent", "sent"),
    ("failed", "failed"),
    ("rejected", "rejected"),
    ("stalled", "stalled"),
];

#[derive(Template)]
#[template(path = "webhooks.html")]
struct Webhooks {
    frame: Frame,
    buckets: Vec<(String, String, bool)>,
    statuses: Vec<(&'static str, &'static str, bool)>,
    from: String,
    to: String,
    error: Option<String>,
    total: u64,
    rows: Rows,
    next: Option<String>,
    can_live: bool,
    live: String,
    still: String,
    start: String,
}

pub(crate) fn router() -> Router<Dashboard> {
    Router::new().route("/webhooks", get(list)).route("/webhooks/live", get(live::follow))
}

async fn list(
    State(dashboard): State<Dashboard>,
    session: Session,
    asked: Asked,
) -> Result<Response, Problem> {
    let all = dashboard.admin().buckets(&session.caller).await?;
    let scoped = session.caller.is_scoped();
    let query = log_filter::read(&asked, &all, scoped);
    let found = match &query {
        Ok(query) => dashboard.admin().logs(&session.caller, query).await,
        Err(error) => Err(webhook_core::Error::new(error.kind(), error.to_string())),
    };
    let (found, error) = match found {
        Ok(found) => (found, None),
        Err(error) if error.kind() == ErrorKind::Internal => return Err(error.into()),
        Err(error) => (nothing(), Some(error)),
    };
    let status = error.as_ref().map_or(axum::http::StatusCode::OK, |it| it.kind().status());
    let chosen = asked.text("bucket");
    let mut buckets = Vec::with_capacity(all.len() + 1);
    if !scoped {
        buckets.push((String::new(), "all".to_owned(), chosen.is_empty()));
    }
    buckets.extend(all.iter().map(|bucket| {
        let id = bucket.id.to_string();
        let is_chosen = id == chosen || bucket.spec.name == chosen;
        (id, bucket.spec.name.clone(), is_chosen)
    }));
    // An older page, or one with an end, gets nothing new.
    let can_live = error.is_none() && asked.get("cursor").is_none() && asked.get("to").is_none();
    let is_live = can_live && asked.get("live") != Some("off");
    let mut frame = Frame::new(&session, "Webhooks", "Webhooks");
    frame.live = is_live;
    let path = |changes: &[(&str, &str)]| format!("{PATH}/webhooks?{}", asked.with(changes));
    let next = found.next.map(|next| path(&[("cursor", &next.to_string())]));
    let page = Webhooks {
        frame,
        buckets,
        statuses: STATUSES.map(|(value, name)| (value, name, value == asked.text("status"))).into(),
        from: asked.text("from").to_owned(),
        to: asked.text("to").to_owned(),
        error: error.map(|error| error.to_string()),
        total: found.total,
        rows: Rows::of(&found.logs, &Names::of(&all)).saying("No webhook matches."),
        next,
        can_live,
        live: format!("{PATH}/webhooks/live?{}", asked.with(&[])),
        still: path(&[("live", "off")]),
        start: path(&[("live", "")]),
    };
    Ok(page_with(status, &page))
}

fn nothing() -> LogsPage {
    let limit = LogQuery::default().limit;
    LogsPage { logs: Vec::new(), total: 0, limit, offset: 0, next: None }
}
