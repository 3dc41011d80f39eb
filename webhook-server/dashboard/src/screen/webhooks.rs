//! The list of webhooks.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use webhook_core::{ErrorKind, model::Reason};

use super::{
    Asked, live,
    log_filter::{self, Found},
    rows::{Names, Rows},
};
use crate::{
    Dashboard, PATH,
    page::{Frame, Problem, page_with},
    session::Session,
    show,
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

/// What signatures came to, to choose from.
const SIGNATURES: [(&str, &str); 3] =
    [("", "all"), ("true", "verified"), ("false", "not verified")];

#[derive(Template)]
#[template(path = "webhooks.html")]
struct Webhooks {
    frame: Frame,
    buckets: Vec<(String, String, bool)>,
    statuses: Vec<(&'static str, &'static str, bool)>,
    reasons: Vec<(String, String, bool)>,
    signatures: Vec<(&'static str, &'static str, bool)>,
    search: String,
    from: String,
    to: String,
    error: Option<String>,
    /// How many there are in all; none of a search.
    total: Option<u64>,
    shown: usize,
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
    let wanted = log_filter::read(&asked, &all, scoped);
    let is_search = wanted.as_ref().is_ok_and(|wanted| !wanted.filter.is_empty());
    let found = match &wanted {
        Ok(wanted) => wanted.find(&dashboard, &session).await,
        Err(error) => Err(webhook_core::Error::new(error.kind(), error.to_string())),
    };
    let (found, error) = match found {
        Ok(found) => (found, None),
        Err(error) if error.kind() == ErrorKind::Internal => return Err(error.into()),
        Err(error) => (Found { logs: Vec::new(), total: None, next: None }, Some(error)),
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
    let has_end = asked.get("cursor").is_some() || asked.get("to").is_some();
    let can_live = error.is_none() && !has_end && !is_search;
    let is_live = can_live && asked.get("live") != Some("off");
    let mut frame = Frame::new(&session, "Webhooks", "Webhooks");
    frame.live = is_live;
    let path = |changes: &[(&str, &str)]| format!("{PATH}/webhooks?{}", asked.with(changes));
    let next = found.next.map(|next| path(&[("cursor", &next.to_string())]));
    let page = Webhooks {
        frame,
        buckets,
        statuses: STATUSES.map(|(value, name)| (value, name, value == asked.text("status"))).into(),
        reasons: reasons(asked.text("reason")),
        signatures: SIGNATURES
            .map(|(value, name)| (value, name, value == asked.text("verified")))
            .into(),
        search: asked.text("search").to_owned(),
        from: asked.text("from").to_owned(),
        to: asked.text("to").to_owned(),
        error: error.map(|error| error.to_string()),
        total: found.total,
        shown: found.logs.len(),
        rows: Rows::of(&found.logs, &Names::of(&all)).saying("No webhook matches."),
        next,
        can_live,
        live: format!("{PATH}/webhooks/live?{}", asked.with(&[])),
        still: path(&[("live", "off")]),
        start: path(&[("live", "")]),
    };
    Ok(page_with(status, &page))
}

/// Why webhooks were stopped, to choose from.
fn reasons(chosen: &str) -> Vec<(String, String, bool)> {
    let all = (String::new(), "all".to_owned(), chosen.is_empty());
    let each = Reason::ALL.map(|reason| {
        let value = reason.as_str();
        (value.to_owned(), show::reason(reason), value == chosen)
    });
    std::iter::once(all).chain(each).collect()
}
