//! The list of webhooks.

use askama::Template;
use axum::{
    Router,
    http::HeaderMap,
    routing::{get, post},
};
use webhook_core::{
    ErrorKind,
    model::{Bucket, Reason},
};

use super::{
    Asked,
    kept::{self, Kept},
    live,
    log_filter::{self, Found},
    rows::{Names, Rows},
};
use crate::{
    Dashboard, PATH,
    page::{Frame, Reply, page_with},
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

/// How many outputs there are to choose from; the address takes any.
const SHOWN_OUTPUTS: usize = 200;

/// Further filters: the name, what it is called, and an example.
const MORE: [(&str, &str, &str); 6] = [
    ("status_code", "Code", "404 or 5xx"),
    ("method", "Method", "POST"),
    ("path", "Path has", "/v2"),
    ("header", "Header", "X-Event: push"),
    ("payload", "In the body", "order.id: 17"),
    ("min_duration", "Took at least", "300ms"),
];

/// Filters that people begin with.
const READY: [(&str, &str); 4] = [
    ("failed", "status=failed"),
    ("waiting", "status=received"),
    ("stopped by rules", "reason=rules"),
    ("not verified", "verified=false"),
];

#[derive(Template)]
#[template(path = "webhooks.html")]
struct Webhooks {
    frame: Frame,
    buckets: Vec<(String, String, bool)>,
    statuses: Vec<(&'static str, &'static str, bool)>,
    reasons: Vec<(String, String, bool)>,
    signatures: Vec<(&'static str, &'static str, bool)>,
    search: String,
    /// Of the chosen bucket, or of all.
    outputs: Vec<(String, String, bool)>,
    more: Vec<(&'static str, &'static str, &'static str, String)>,
    /// Whether one of these is in force, and has to be seen.
    is_more: bool,
    /// The replay that made them; empty for any.
    of_replay: String,
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
    /// Filters to begin with, and those that this browser keeps.
    ready: Vec<(&'static str, String)>,
    kept: Vec<Kept>,
    /// What this list is filtered by; empty for a list of everything.
    filtered: String,
    /// Where all that match are sent again.
    replay: String,
    /// Where all that match are erased.
    erase: String,
}

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/webhooks", get(list))
        .route("/webhooks/live", get(live::follow))
        .route("/webhooks/filters", post(kept::keep))
        .route("/webhooks/filters/forget", post(kept::forget))
}

async fn list(session: Session, headers: HeaderMap, asked: Asked) -> Reply {
    let all = session.admin().buckets(&session.caller).await?;
    let scoped = session.caller.is_scoped();
    let wanted = log_filter::read(&asked, &all, scoped);
    let is_search = wanted.as_ref().is_ok_and(|wanted| !wanted.filter.is_empty());
    let found = match &wanted {
        Ok(wanted) => wanted.find(&session).await,
        Err(error) => Err(webhook_core::Error::new(error.kind(), error.to_string())),
    };
    let (found, error) = match found {
        Ok(found) => (found, None),
        Err(error) if error.kind() == ErrorKind::Internal => return Err(error.into()),
        Err(error) => (Found { heads: Vec::new(), total: None, next: None }, Some(error)),
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
    let mut frame = Frame::new(&session, "Webhooks", "Webhooks").noticing(asked.get("done"));
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
        outputs: outputs(&all, chosen, asked.text("output")),
        more: MORE
            .map(|(name, label, example)| (name, label, example, asked.text(name).to_owned()))
            .into(),
        is_more: asked.get("output").is_some() || MORE.iter().any(|it| asked.get(it.0).is_some()),
        of_replay: asked.text("replay").to_owned(),
        from: asked.text("from").to_owned(),
        to: asked.text("to").to_owned(),
        error: error.map(|error| error.to_string()),
        total: found.total,
        shown: found.heads.len(),
        rows: Rows::of(&found.heads, &Names::of(&all)).saying("No webhook matches.").with_choice(),
        next,
        can_live,
        live: format!("{PATH}/webhooks/live?{}", asked.with(&[("choose", "1")])),
        still: path(&[("live", "off")]),
        start: path(&[("live", "")]),
        ready: ready(all.first().filter(|_| scoped).map(|bucket| bucket.id.to_string())),
        kept: kept::read(&headers),
        filtered: asked.with(&[("cursor", ""), ("live", "")]),
        replay: format!("{PATH}/replays/new?{}", asked.with(&[])),
        erase: format!("{PATH}/erasures/new?{}", asked.with(&[])),
    };
    Ok(page_with(status, &page))
}

/// The outputs to choose from.
fn outputs(buckets: &[Bucket], bucket: &str, chosen: &str) -> Vec<(String, String, bool)> {
    let all = (String::new(), "all".to_owned(), chosen.is_empty());
    let meant =
        |it: &&Bucket| bucket.is_empty() || it.id.to_string() == bucket || it.spec.name == bucket;
    let each = buckets.iter().filter(meant).flat_map(|it| {
        it.outputs.iter().map(|output| {
            let id = output.id.to_string();
            let is_chosen = id == chosen;
            (id, format!("{} › {}", it.spec.name, output.spec.name), is_chosen)
        })
    });
    std::iter::once(all).chain(each.take(SHOWN_OUTPUTS)).collect()
}

/// Filters that people begin with. A token that reaches some buckets only has to name one.
fn ready(bucket: Option<String>) -> Vec<(&'static str, String)> {
    let each = READY.map(|(name, query)| match &bucket {
        Some(bucket) => (name, format!("{PATH}/webhooks?bucket={bucket}&{query}")),
        None => (name, format!("{PATH}/webhooks?{query}")),
    });
    each.into()
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
