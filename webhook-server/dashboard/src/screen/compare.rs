//! Two webhooks side by side.

use std::collections::BTreeMap;

use askama::Template;
use axum::{Router, routing::get};
use serde_json::Value;
use webhook_core::{
    content,
    model::{Log, LogHead, Request},
};

use super::{Asked, Named, heads, latest, webhook::below_webhook};
use crate::{
    Dashboard, PATH,
    diff::Diff,
    page::{Frame, Problem, Reply, page},
    session::Session,
    show::{self, Mark},
};

/// How many webhooks there are to choose from.
const CHOICE: usize = 25;

pub(crate) fn router() -> Router<Dashboard> {
    Router::new().route("/compare", get(compare))
}

#[derive(Template)]
#[template(path = "compare.html")]
struct Compare {
    frame: Frame,
    a: String,
    b: String,
    /// Webhooks of the same bucket: identifier and name.
    choice: Vec<(String, String)>,
    swapped: String,
    sides: Option<Sides>,
}

struct Sides {
    facts: [Facts; 2],
    /// A name, what each has, and whether that differs.
    headers: Vec<(String, [String; 2], bool)>,
    body: Diff,
}

struct Facts {
    path: String,
    mark: Mark,
    received: String,
    request: String,
    size: String,
}

/// What was sent, or what was received where nothing was changed.
fn shown(log: &Log) -> &Request {
    log.delivery.processed.as_ref().unwrap_or(&log.webhook.request)
}

fn facts(log: &Log) -> Facts {
    let request = shown(log);
    let query = if request.raw_query.is_empty() { "" } else { "?" };
    Facts {
        path: format!("{PATH}/webhooks/{}", log.delivery.id),
        mark: show::mark(log.delivery.status),
        received: show::moment(log.webhook.received_at),
        request: format!("{} {}{query}{}", request.method, request.extra_path, request.raw_query),
        size: show::size(request.body.len()),
    }
}

fn headers(a: &Request, b: &Request) -> Vec<(String, [String; 2], bool)> {
    let mut all: BTreeMap<String, [Vec<String>; 2]> = BTreeMap::new();
    for (side, request) in [a, b].into_iter().enumerate() {
        for (name, value) in show::headers(&request.headers) {
            all.entry(name).or_default()[side].push(value);
        }
    }
    let rows = all.into_iter().map(|(name, values)| {
        let differs = values[0] != values[1];
        (name, values.map(|values| values.join(", ")), differs)
    });
    rows.collect()
}

/// The body as lines, and the fields of JSON in the order of their names: two senders may
/// write them in another one.
fn body(request: &Request) -> String {
    let Request { headers, body, .. } = request;
    let content = show::content(headers, body);
    let json = content::json_in(headers, body).map_or(content.clone(), |it| it.into_bytes().into());
    let value = (json.len() <= show::SHOWN_BYTES).then(|| serde_json::from_slice(&json).ok());
    match value.flatten().map(sorted).and_then(|value| serde_json::to_vec(&value).ok()) {
        Some(sorted) => show::comparable(&sorted),
        None => show::comparable(&content),
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.into_iter().collect();
            fields.into_iter().map(|(name, value)| (name, sorted(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        value => value,
    }
}

fn sides(a: &Log, b: &Log) -> Sides {
    let (one, other) = (shown(a), shown(b));
    Sides {
        facts: [facts(a), facts(b)],
        headers: headers(one, other),
        body: Diff::between("What differs in the bodies", &body(one), &body(other)),
    }
}

/// The latest webhooks of the same bucket.
async fn choice(session: &Session, log: &Log) -> Result<Vec<(String, String)>, Problem> {
    let heads = heads(session, &latest(log.webhook.bucket_id, CHOICE)).await?;
    let name = |head: &LogHead| {
        let (at, mark) = (show::moment(head.created_at), show::mark(head.status));
        format!("{at}  {}  {}", mark.word, show::bytes(head.body_bytes))
    };
    Ok(heads.iter().map(|head| (head.id.to_string(), name(head))).collect())
}

async fn compare(session: Session, asked: Asked) -> Reply {
    let (a, b) = (asked.text("a"), asked.text("b"));
    let first = Log::find(&session, a).await?;
    let sides = match b {
        "" => None,
        b => Some(sides(&first, &Log::find(&session, b).await?)),
    };
    Ok(page(&Compare {
        frame: below_webhook(Frame::new(&session, "Webhooks", "Compare two webhooks"), &first),
        a: first.delivery.id.to_string(),
        b: b.to_owned(),
        choice: choice(&session, &first).await?,
        swapped: format!("{PATH}/compare?{}", asked.with(&[("a", b), ("b", a)])),
        sides,
    }))
}
