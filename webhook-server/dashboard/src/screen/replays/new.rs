//! A new replay: which webhooks, how fast, and what it would do.

use std::collections::HashMap;

use askama::Template;
use axum::http::StatusCode;
use webhook_core::model::{Bucket, DeliveryStatus, Reason, ReplayPlan, ReplaySpec};

use super::{frame, pace};
use crate::{
    PATH,
    form::{Field, Form, Submitted},
    page::{Frame, Reply, page, page_with},
    screen::{Asked, done, edit::refusal},
    session::Session,
    show,
};

/// What the list of webhooks is filtered by, which a link hands over.
const FILTERS: [&str; 15] = [
    "bucket",
    "input",
    "output",
    "status",
    "status_code",
    "reason",
    "method",
    "path",
    "min_duration",
    "verified",
    "from",
    "to",
    "search",
    "header",
    "payload",
];

#[derive(Template)]
#[template(path = "replay_new.html")]
struct New {
    frame: Frame,
    plan: Option<Plan>,
    form: Form,
}

/// What it would do.
struct Plan {
    found: ReplayPlan,
    size: String,
    oldest: String,
    newest: String,
    outputs: Vec<(String, u64)>,
    paused: Vec<String>,
    lasts: String,
}

/// What webhooks are chosen by, first of all.
pub(crate) fn filter_fields(buckets: &[Bucket], up_to: &'static str) -> Vec<Field> {
    let any = || (String::new(), "any".to_owned());
    let all = buckets.iter().map(|bucket| (bucket.id.to_string(), bucket.spec.name.clone()));
    let statuses = [DeliveryStatus::Failed, DeliveryStatus::Rejected, DeliveryStatus::Sent];
    let statuses = statuses.map(|it| (it.as_str().to_owned(), show::mark(it).word.to_owned()));
    let reasons = Reason::ALL.map(|it| (it.as_str().to_owned(), show::reason(it)));
    vec![
        Field::select("filter.bucket", "Bucket").options(std::iter::once(any()).chain(all)),
        Field::select("filter.status", "Status").options(std::iter::once(any()).chain(statuses)),
        Field::select("filter.reason", "Reason").options(std::iter::once(any()).chain(reasons)),
        Field::text("filter.search", "Has in it"),
        Field::text("filter.from", "From")
            .help("A day like 2026-01-31, or a moment like 2026-01-31T12:00:00Z"),
        Field::text("filter.to", "To").help(up_to),
        Field::area("filter.ids", "Only these webhooks")
            .rows(2)
            .help("An identifier in each line, as on the page of each; all when it is empty."),
    ]
}

/// What else they are chosen by.
pub(crate) fn further_filter_fields() -> Vec<Field> {
    vec![
        Field::text("filter.input", "Input").help("Its identifier"),
        Field::text("filter.output", "Output").help("Its identifier"),
        Field::text("filter.method", "Method"),
        Field::text("filter.path", "Path has"),
        Field::text("filter.min_duration", "Took at least").help("300ms, 2s"),
        Field::text("filter.status_code", "Code").help("404, or 5xx"),
        Field::select("filter.verified", "Signature").options([
            ("", "any"),
            ("true", "verified"),
            ("false", "not verified"),
        ]),
        Field::text("filter.header", "Header").help("Name:text"),
        Field::text("filter.payload", "In the body").help("path:text"),
    ]
}

fn form(buckets: &[Bucket]) -> Form {
    let same = (String::new(), "the output of each".to_owned());
    Form::new(format!("{PATH}/replays/new"), "See what it would do")
        .also("start", "Start")
        .fields(filter_fields(buckets, "What comes later is never sent."))
        .fields([Field::select("to_output", "Sent to")
            .options(std::iter::once(same).chain(outputs(buckets)))])
        .open_section("How fast")
        .fields(pace())
        .section("More")
        .fields(further_filter_fields())
        .fields([
            Field::select("process_policy", "What is sent").options([
                ("skip", "what was sent before"),
                ("force", "what today's rules and functions make of it"),
            ]),
            Field::select("order", "First")
                .options([("receipt", "the oldest"), ("newest", "the newest")]),
            Field::number("max_waiting", "May wait for one output")
                .help("There it pauses, so that fresh webhooks do not wait behind it. 1 to 1 000"),
            Field::text("description", "Description"),
        ])
        .filled(&ReplaySpec::default())
}

/// Each output, as its bucket and its name.
fn outputs(buckets: &[Bucket]) -> impl Iterator<Item = (String, String)> {
    buckets.iter().flat_map(|bucket| {
        let name = &bucket.spec.name;
        let named = move |output: &webhook_core::model::Output| {
            (output.id.to_string(), format!("{name} › {}", output.spec.name))
        };
        bucket.outputs.iter().map(named)
    })
}

fn creating(session: &Session, buckets: &[Bucket]) -> New {
    New { frame: frame(session, "New replay"), plan: None, form: form(buckets) }
}

/// A form whose fields have the filter of the address that was asked for.
pub(crate) fn with_filter(form: Form, asked: &Asked) -> Form {
    FILTERS.iter().fold(form, |form, name| match asked.get(name) {
        Some(given) => form.with(&format!("filter.{name}"), |field| field.value(given)),
        None => form,
    })
}

pub(super) async fn show(session: Session, asked: Asked) -> Reply {
    let buckets = session.admin().buckets(&session.caller).await?;
    let mut page_ = creating(&session, &buckets);
    page_.form = with_filter(page_.form, &asked);
    let ids: Vec<&str> = asked.all("log").collect();
    page_.form = page_.form.with("filter.ids", |field| field.value(ids.join("\n")));
    Ok(page(&page_))
}

pub(super) async fn submit(session: Session, submitted: Submitted) -> Reply {
    let (admin, caller) = (session.admin(), &session.caller);
    let buckets = admin.buckets(caller).await?;
    let mut page_ = creating(&session, &buckets);
    let mut spec = ReplaySpec::default();
    let read = page_.form.read(&mut spec, &submitted).map(|()| spec);
    let error = match read {
        Ok(spec) if submitted.text("then") == "start" => {
            match admin.create_replay(caller, spec).await {
                Ok(made) => return Ok(done(&format!("/replays/{}", made.id), "created")),
                Err(error) => error,
            }
        }
        Ok(spec) => match admin.plan_replay(caller, spec).await {
            Ok(plan) => {
                page_.plan = Some(Plan::of(plan, &outputs(&buckets).collect()));
                page_.form = page_.form.retyped(&submitted, None);
                return Ok(page_with(StatusCode::OK, &page_));
            }
            Err(error) => error,
        },
        Err(error) => error,
    };
    let (status, error) = refusal(error)?;
    page_.form = page_.form.refused(&submitted, &error);
    Ok(page_with(status, &page_))
}

impl Plan {
    fn of(plan: ReplayPlan, names: &HashMap<String, String>) -> Self {
        let name = |id: &str| match (id, names.get(id)) {
            ("", _) => "connected clients".to_owned(),
            (_, Some(name)) => name.clone(),
            _ => id.to_owned(),
        };
        let seconds = plan.duration_at_rate.as_secs();
        Self {
            size: show::bytes(plan.bytes),
            oldest: plan.oldest.map(show::moment).unwrap_or_default(),
            newest: plan.newest.map(show::moment).unwrap_or_default(),
            outputs: plan.by_output.iter().map(|(id, count)| (name(id), *count)).collect(),
            paused: plan.paused_outputs.iter().map(|id| name(&id.to_string())).collect(),
            lasts: match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
                (0, 0, seconds) => format!("{seconds} s"),
                (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
                (hours, minutes, _) => format!("{hours} h {minutes} min"),
            },
            found: plan,
        }
    }
}
