//! Replays: the list, and one with how far it has come.

mod new;

use askama::Template;
use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use serde_json::json;
use webhook_core::{
    Error, ReplayId,
    admin::Admin,
    model::{Replay, ReplayChange, ReplayStatus},
};

use super::{Asked, Named, On, done, edit::refusal, rows::Names};
use crate::{
    Dashboard, PATH,
    form::{Field, Form, Kind, Submitted, decode},
    page::{Frame, Problem, page, page_with},
    session::Session,
    show::{self, Mark},
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/replays", get(list))
        .route("/replays/new", get(new::show).post(new::submit))
        .route("/replays/{replay}", get(one).post(save))
        .route("/replays/{replay}/status", post(change_status))
}

#[derive(Template)]
#[template(path = "replays.html")]
struct Replays {
    frame: Frame,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    id: String,
    started: String,
    mark: Mark,
    what: String,
    rate: String,
    progress: Progress,
}

/// How far a replay has come.
struct Progress {
    /// Of what it was found to send; none when there was too much to count.
    total: Option<u64>,
    queued: u64,
    sent: u64,
    failed: u64,
    rejected: u64,
    skipped: u64,
}

impl Row {
    fn of(replay: &Replay, names: &Names) -> Self {
        let (totals, skipped) = (replay.totals, replay.skipped);
        Self {
            id: replay.id.to_string(),
            started: show::moment(replay.created_at),
            mark: mark(replay.status),
            what: what(replay, names),
            rate: rate(replay),
            progress: Progress {
                total: replay.total,
                queued: totals.queued,
                sent: totals.sent,
                failed: totals.failed,
                rejected: totals.rejected,
                skipped,
            },
        }
    }
}

fn mark(status: ReplayStatus) -> Mark {
    let (class, sign) = match status {
        ReplayStatus::Running => ("good", "▸"),
        ReplayStatus::Paused => ("warn", "‖"),
        ReplayStatus::Done => ("good", "✓"),
        ReplayStatus::Cancelled => ("quiet", "–"),
        _ => ("bad", "✕"),
    };
    Mark { class, sign, word: status.as_str() }
}

/// What it is about: what its maker wrote, or else its filter.
fn what(replay: &Replay, names: &Names) -> String {
    if !replay.spec.description.is_empty() {
        return replay.spec.description.clone();
    }
    let filter = serde_json::to_value(&replay.spec.filter).unwrap_or_default();
    let said = filter.as_object().into_iter().flatten().map(|(name, value)| {
        let text = value.as_str().unwrap_or_default();
        let named = match name.as_str() {
            "ids" => return format!("{} that were chosen", value.as_array().map_or(0, Vec::len)),
            "bucket" => text.parse().ok().map(|id| names.bucket(id)),
            "output" => text.parse().ok().map(|id| names.output(Some(id))),
            _ => None,
        };
        format!("{} {}", name.replace('_', " "), named.unwrap_or(text))
    });
    let said = said.collect::<Vec<_>>().join(", ");
    if said.is_empty() { "everything".to_owned() } else { said }
}

fn rate(replay: &Replay) -> String {
    let interval = serde_json::to_value(replay.spec.interval).unwrap_or_default();
    format!("{} per {}", replay.spec.rate, interval.as_str().unwrap_or("second"))
}

/// What the buckets and outputs that filters name are called.
async fn names(session: &Session) -> Result<Names, Error> {
    Ok(Names::of(&session.admin().buckets(&session.caller).await?))
}

async fn list(session: Session, asked: Asked) -> Result<Response, Problem> {
    let before = match asked.get("before") {
        Some(text) => Some(text.parse().map_err(|_| Problem::no("replay"))?),
        None => None,
    };
    let admin = session.admin();
    let found = admin.replays(&session.caller, before, Admin::MAX_REPLAYS).await?;
    let is_full = found.len() == Admin::MAX_REPLAYS;
    let next = found.last().filter(|_| is_full);
    let names = names(&session).await?;
    Ok(page(&Replays {
        frame: Frame::new(&session, "Replays", "Replays").noticing(asked.get("done")),
        next: next.map(|last| format!("{PATH}/replays?before={}", last.id)),
        rows: found.iter().map(|replay| Row::of(replay, &names)).collect(),
    }))
}

#[derive(Template)]
#[template(path = "replay.html")]
struct ReplayPage {
    frame: Frame,
    crumbs: Vec<(String, String)>,
    row: Row,
    error: String,
    running: bool,
    over: bool,
    form: Form,
}

fn crumbs() -> Vec<(String, String)> {
    vec![("Replays".to_owned(), format!("{PATH}/replays"))]
}

fn pace() -> Vec<Field> {
    vec![
        Field::new(Kind::Number, "rate", "Webhooks").help("1 to 10 000"),
        Field::new(Kind::Select, "interval", "In each").options([
            ("second", "second"),
            ("minute", "minute"),
            ("hour", "hour"),
        ]),
    ]
}

/// How fast it goes.
fn rate_form(replay: &Replay) -> Form {
    let spec = serde_json::to_value(&replay.spec).unwrap_or_default();
    let form = Form::new(format!("{PATH}/replays/{}", replay.id), "Save").section("", pace());
    form.filled(&spec)
}

fn about(session: &Session, replay: &Replay, names: &Names, notice: Option<&str>) -> ReplayPage {
    ReplayPage {
        frame: Frame::new(session, "Replays", "Replay").noticing(notice),
        crumbs: crumbs(),
        row: Row::of(replay, names),
        error: replay.error.clone(),
        running: replay.status == ReplayStatus::Running,
        over: replay.status.is_over(),
        form: rate_form(replay),
    }
}

impl Named for Replay {
    async fn find(session: &Session, id: &str) -> Result<Self, Problem> {
        let id: ReplayId = id.parse().map_err(|_| Problem::no("replay"))?;
        let found = session.admin().replay(&session.caller, id).await;
        found.map_err(Problem::looking_up)
    }
}

async fn one(On(session, replay): On<Replay>, asked: Asked) -> Result<Response, Problem> {
    let names = names(&session).await?;
    Ok(page(&about(&session, &replay, &names, asked.get("done"))))
}

async fn change(
    session: &Session,
    replay: &Replay,
    change: Result<ReplayChange, Error>,
    submitted: &Submitted,
) -> Result<Response, Problem> {
    let changed = match change {
        Ok(change) => session.admin().change_replay(&session.caller, replay.id, change).await,
        Err(error) => Err(error),
    };
    match changed {
        Ok(_) => Ok(done(&format!("/replays/{}", replay.id), "saved")),
        Err(error) => {
            let (status, error) = refusal(error)?;
            let mut page = about(session, replay, &names(session).await?, None);
            page.form = page.form.refused(submitted, &error);
            Ok(page_with(status, &page))
        }
    }
}

/// Another rate.
async fn save(On(session, replay): On<Replay>, submitted: Submitted) -> Result<Response, Problem> {
    let form = rate_form(&replay);
    let read = form.read(json!({}), &submitted);
    change(&session, &replay, read, &submitted).await
}

/// Pauses, resumes or cancels it.
async fn change_status(
    On(session, replay): On<Replay>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let read = decode(json!({ "status": submitted.text("status") }));
    change(&session, &replay, read, &submitted).await
}
