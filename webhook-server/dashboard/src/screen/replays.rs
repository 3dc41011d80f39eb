//! Replays: the list, and one with how far it has come.

mod new;

pub(super) use self::new::{filter_fields, further_filter_fields, with_filter};

use askama::Template;
use axum::{
    Router,
    routing::{get, post},
};
use webhook_core::{
    Error,
    admin::Admin,
    model::{Choice, Described, RateInterval, Replay, ReplayChange, ReplayStatus},
};

use super::{Asked, On, done, edit::refusal, rows::Names};
use crate::{
    Dashboard, PATH,
    form::{Field, Form, Submitted},
    page::{Frame, Problem, Reply, page, page_with},
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
    replay: Replay,
    started: String,
    mark: Mark,
    what: String,
    rate: String,
}

impl Row {
    fn of(replay: &Replay, names: &Names) -> Self {
        Self {
            replay: replay.clone(),
            started: show::moment(replay.created_at),
            mark: mark(replay.status),
            what: what(replay, names),
            rate: rate(replay),
        }
    }
}

pub(super) fn mark(status: ReplayStatus) -> Mark {
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
    let filter = &replay.spec.filter;
    let said = filter.fields().into_iter().filter_map(|(field, value)| {
        let text = value.text();
        let named = match field.name {
            _ if text.is_empty() => return None,
            "ids" => return Some(format!("{} that were chosen", filter.ids.len())),
            "bucket" => text.parse().ok().map(|id| names.bucket(id)),
            "output" => text.parse().ok().map(|id| names.output(Some(id))),
            _ => None,
        };
        Some(format!("{} {}", field.name.replace('_', " "), named.unwrap_or(&text)))
    });
    let said = said.collect::<Vec<_>>().join(", ");
    if said.is_empty() { "everything".to_owned() } else { said }
}

fn rate(replay: &Replay) -> String {
    format!("{} per {}", replay.spec.rate, replay.spec.interval.name())
}

/// What the buckets and outputs that filters name are called.
async fn names(session: &Session) -> Result<Names, Error> {
    Ok(Names::of(&session.admin().buckets(&session.caller).await?))
}

async fn list(session: Session, asked: Asked) -> Reply {
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
    row: Row,
    running: bool,
    over: bool,
    form: Form,
}

fn frame(session: &Session, title: &str) -> Frame {
    Frame::new(session, "Replays", title).below("Replays", "/replays")
}

fn pace() -> Vec<Field> {
    vec![
        Field::number("rate", "Webhooks").help("1 to 10 000"),
        Field::select("interval", "In each").options(RateInterval::NAMES.iter().copied()),
    ]
}

/// How fast it goes.
fn rate_form(replay: &Replay) -> Form {
    let form = Form::new(format!("{PATH}/replays/{}", replay.id), "Save").fields(pace());
    form.filled(&replay.spec)
}

fn about(session: &Session, replay: &Replay, names: &Names, notice: Option<&str>) -> ReplayPage {
    ReplayPage {
        frame: frame(session, "Replay").noticing(notice),
        row: Row::of(replay, names),
        running: replay.status == ReplayStatus::Running,
        over: replay.status.is_over(),
        form: rate_form(replay),
    }
}

async fn one(On(session, replay): On<Replay>, asked: Asked) -> Reply {
    let names = names(&session).await?;
    Ok(page(&about(&session, &replay, &names, asked.get("done"))))
}

async fn change(
    session: &Session,
    replay: &Replay,
    change: Result<ReplayChange, Error>,
    submitted: &Submitted,
) -> Reply {
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
async fn save(On(session, replay): On<Replay>, submitted: Submitted) -> Reply {
    let form = rate_form(&replay);
    let mut spec = replay.spec.clone();
    let read = form.read(&mut spec, &submitted).map(|()| {
        let mut change = ReplayChange::default();
        (change.rate, change.interval) = (Some(spec.rate), Some(spec.interval));
        change
    });
    change(&session, &replay, read, &submitted).await
}

/// Pauses, resumes or cancels it.
async fn change_status(On(session, replay): On<Replay>, submitted: Submitted) -> Reply {
    let status = ReplayStatus::of_name(submitted.text("status"));
    let read = status.map_err(|reason| Error::invalid("status", reason)).map(|status| {
        let mut change = ReplayChange::default();
        change.status = Some(status);
        change
    });
    change(&session, &replay, read, &submitted).await
}
