//! One output.

mod auth;
mod health;
mod pausing;
pub(super) mod rules;
mod signing;

use axum::{
    Router,
    extract::Path,
    response::Response,
    routing::{get, post},
};
use serde_json::{Value, json};
use webhook_core::{
    Error,
    model::{Bucket, CircuitState, Function, Output, OutputSpec, OutputState},
};

use super::{
    bucket, done,
    edit::{Edit, Remove},
    functions,
    inputs::{crumbs, function_options},
};
use crate::{
    Dashboard, PATH,
    form::{Field, Form, Kind, Submitted, decode},
    page::{Frame, PartLink, Problem},
    session::Session,
    show,
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/buckets/{bucket}/outputs/new", get(new).post(create))
        .route("/buckets/{bucket}/outputs/{output}", get(show).post(save))
        .route("/buckets/{bucket}/outputs/{output}/switch", post(switch))
        .route("/buckets/{bucket}/outputs/{output}/pause", post(pause))
        .route("/buckets/{bucket}/outputs/{output}/delete", post(delete))
        .nest("/buckets/{bucket}/outputs/{output}", parts())
}

fn parts() -> Router<Dashboard> {
    Router::new()
        .route("/rules", get(rules::show).post(rules::submit))
        .route("/signing", get(signing::show).post(signing::save))
        .route("/signing/rotate", post(signing::rotate))
        .route("/signing/delete", post(signing::remove))
        .route("/auth", get(auth::show).post(auth::save))
        .route("/auth/delete", post(auth::remove))
        .route("/health", get(health::show).post(health::save))
        .route("/health/delete", post(health::remove))
        .route("/pausing", get(pausing::show).post(pausing::pause))
        .route("/pausing/resume", post(pausing::resume))
}

fn form(action: String, submit: &'static str, functions: &[Function]) -> Form {
    Form::new(action, submit)
        .section(
            "",
            vec![
                Field::new(Kind::Text, "name", "Name").required(),
                Field::new(Kind::Text, "destination", "Destination")
                    .help("An http or https URL. What follows the input's address is added."),
                Field::new(Kind::Area, "description", "Description").rows(2),
                Field::new(Kind::Select, "function_id", "Function")
                    .options(function_options(functions))
                    .help("It changes or filters this output's copy."),
                Field::new(Kind::Check, "internal", "For connected clients only"),
                Field::new(Kind::Check, "disabled", "Disabled"),
                Field::new(Kind::Select, "on_disabled", "What comes while it is disabled").options(
                    [("skip", "is not stored for it"), ("park", "waits until it is enabled")],
                ),
            ],
        )
        .section(
            "Request",
            vec![
                Field::new(Kind::Headers, "headers", "Headers")
                    .help("One in each line. They replace those of the webhook."),
                Field::new(Kind::Check, "lock_path", "Send to the destination's path only"),
                Field::new(Kind::Number, "timeout", "Timeout of an attempt, in seconds")
                    .help("0 to 180; 30 when it is empty."),
                Field::new(Kind::Check, "tls_verification", "Verify the certificate"),
                Field::new(Kind::Select, "response_function_id", "Function for the answer")
                    .options(function_options(functions)),
            ],
        )
        .section(
            "Retries",
            vec![
                Field::new(Kind::Number, "retries", "Attempts after the first three")
                    .help("-1 for a single attempt in all."),
                Field::new(Kind::Check, "durability.enabled", "Try for longer, by a schedule"),
                Field::new(Kind::Select, "durability.schedule", "Schedule").options([
                    ("seconds", "from 1 s to 5 min, over 25 minutes"),
                    ("medium", "from 10 s to 1 h, over 16 hours"),
                    ("long", "from 30 s to 24 h, over 30 days"),
                    ("custom", "the delays below"),
                ]),
                Field::new(Kind::Durations, "durability.custom_delays", "Delays")
                    .help("Such as 10s, 1m, 1h. The last one is repeated."),
                Field::new(Kind::Duration, "durability.deadline", "Give up after"),
                Field::new(
                    Kind::Duration,
                    "durability.handoff_after",
                    "A sender that waits for the answer is kept for",
                ),
            ],
        )
        .section(
            "Throttle",
            vec![
                Field::new(Kind::Check, "throttle.enabled", "Limit how fast webhooks leave"),
                Field::new(Kind::Select, "throttle.mode", "Limit").options([
                    ("rate", "so many per interval"),
                    ("concurrency", "so many at once"),
                ]),
                Field::new(Kind::Number, "throttle.rate", "Webhooks per interval"),
                Field::new(Kind::Select, "throttle.interval", "Interval").options([
                    ("second", "second"),
                    ("minute", "minute"),
                    ("hour", "hour"),
                ]),
                Field::new(Kind::Number, "throttle.max_concurrent", "Requests at once")
                    .help("1 is strictly in the order of receipt."),
                Field::new(Kind::Number, "throttle.max_queue_depth", "How many may wait")
                    .help("Over it the sender gets 429. Empty for any number."),
                Field::new(Kind::Duration, "throttle.deadline", "How long one may wait")
                    .help("24h when it is empty."),
            ],
        )
        .section(
            "What clients missed",
            vec![
                Field::new(
                    Kind::Check,
                    "replay_missing.enabled",
                    "Limit what connecting clients get of what they missed",
                )
                .help("For outputs that are for connected clients only."),
                Field::new(Kind::Duration, "replay_missing.lookback", "Received within the last")
                    .help("Empty for any time."),
                Field::new(Kind::Number, "replay_missing.limit", "At most so many")
                    .help("Empty for any number."),
            ],
        )
}

fn json_of(spec: &OutputSpec) -> Value {
    serde_json::to_value(spec).unwrap_or_default()
}

fn creating(session: &Session, bucket: &Bucket, functions: &[Function]) -> Edit {
    let action = format!("{PATH}/buckets/{}/outputs/new", bucket.id);
    let form = form(action, "Create", functions).filled(&json_of(&OutputSpec::default()));
    let frame = Frame::new(session, "Buckets", "New output");
    Edit { frame, crumbs: crumbs(bucket), lead: String::new(), form, remove: None }
}

fn editing(session: &Session, bucket: &Bucket, output: &Output, functions: &[Function]) -> Edit {
    let path = format!("{PATH}/buckets/{}/outputs/{}", bucket.id, output.id);
    let remove = Remove::new(
        "Delete the output",
        format!("{path}/delete"),
        "What waits for it is not sent any more.",
    );
    let mut frame = Frame::new(session, "Buckets", format!("Output {}", output.spec.name));
    frame.parts = vec![
        PartLink {
            name: "Rules",
            path: format!("{path}/rules"),
            state: rules::state(&output.spec),
        },
        PartLink {
            name: "Signing",
            path: format!("{path}/signing"),
            state: signing::state(&output.spec).to_owned(),
        },
        PartLink {
            name: "Authentication",
            path: format!("{path}/auth"),
            state: auth::state(&output.spec).to_owned(),
        },
        PartLink {
            name: "Health",
            path: format!("{path}/health"),
            state: health::state(&output.spec).to_owned(),
        },
        PartLink {
            name: "Pausing",
            path: format!("{path}/pausing"),
            state: "until when, and how fast it resumes".to_owned(),
        },
    ];
    Edit {
        frame,
        crumbs: crumbs(bucket),
        lead: String::new(),
        form: form(path, "Save", functions).filled(&json_of(&output.spec)),
        remove: Some(remove),
    }
}

/// The output of this bucket.
pub(super) fn find<'a>(bucket: &'a Bucket, id: &str) -> Result<&'a Output, Problem> {
    let found = bucket.outputs.iter().find(|output| output.id.to_string() == id);
    found.ok_or_else(|| Problem::no("output"))
}

/// Where the page of a part of an output is.
fn crumbs_of(bucket: &Bucket, output: &Output) -> Vec<(String, String)> {
    let mut crumbs = crumbs(bucket);
    crumbs.push((
        format!("Output {}", output.spec.name),
        format!("{PATH}/buckets/{}/outputs/{}", bucket.id, output.id),
    ));
    crumbs
}

/// Stores this as a part of the output; null takes the part away.
async fn put_part(
    session: &Session,
    bucket: &Bucket,
    output: &Output,
    name: &str,
    part: Value,
) -> Result<Output, Error> {
    let mut spec = json_of(&output.spec);
    spec[name] = part;
    let spec: OutputSpec = decode(spec)?;
    session.admin().update_output(&session.caller, bucket.id, output.id, spec).await
}

async fn new(session: Session, Path(id): Path<String>) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    Ok(creating(&session, &bucket, &functions(&session).await?).show())
}

async fn create(
    session: Session,
    Path(id): Path<String>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let page = creating(&session, &bucket, &functions(&session).await?);
    let made = match page.form.read::<OutputSpec>(json!({}), &submitted) {
        Ok(spec) => session.admin().create_output(&session.caller, bucket.id, spec).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(_) => Ok(done(&format!("/buckets/{id}"), "created")),
        Err(error) => page.refuse(&submitted, error),
    }
}

async fn show(
    session: Session,
    Path((id, output)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let state = session.admin().output_state(&session.caller, bucket.id, output.id).await?;
    let page = editing(&session, &bucket, output, &functions(&session).await?);
    Ok(Edit { lead: standing(&state), ..page }.show())
}

/// What waits for an output, and whether it is tried, in a sentence or two.
fn standing(state: &OutputState) -> String {
    let mut text = match (state.waiting, state.oldest_waiting_at) {
        (0, _) => "Nothing waits for it.".to_owned(),
        (waiting, None) => format!("{waiting} webhooks wait for it."),
        (1, Some(since)) => format!("1 webhook waits for it since {}.", show::moment(since)),
        (waiting, Some(since)) => {
            format!("{waiting} webhooks wait for it, the oldest since {}.", show::moment(since))
        }
    };
    match (state.circuit, state.circuit_tries_at) {
        (CircuitState::Open, Some(again)) => {
            let again = show::moment(again);
            text.push_str(&format!(" Most attempts fail: none is made before {again}."));
        }
        (CircuitState::Open | CircuitState::HalfOpen, _) => {
            text.push_str(" Most attempts failed: one at a time tries the destination.");
        }
        _ => {}
    }
    text
}

async fn save(
    session: Session,
    Path((id, output)): Path<(String, String)>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let page = editing(&session, &bucket, output, &functions(&session).await?);
    let saved = match page.form.read::<OutputSpec>(json_of(&output.spec), &submitted) {
        Ok(spec) => {
            session.admin().update_output(&session.caller, bucket.id, output.id, spec).await
        }
        Err(error) => Err(error),
    };
    match saved {
        Ok(_) => Ok(done(&format!("/buckets/{id}"), "saved")),
        Err(error) => page.refuse(&submitted, error),
    }
}

/// Disables an output, or enables it again.
async fn switch(
    session: Session,
    Path((id, output)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let mut spec = output.spec.clone();
    spec.disabled = !spec.disabled;
    session.admin().update_output(&session.caller, bucket.id, output.id, spec).await?;
    Ok(done(&format!("/buckets/{id}"), "saved"))
}

/// Pauses an output, or resumes it.
async fn pause(
    session: Session,
    Path((id, output)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let (admin, caller) = (session.admin(), &session.caller);
    match output.pauses.current(session.now()) {
        Some(_) => admin.resume_output(caller, bucket.id, output.id, Default::default()).await?,
        None => admin.pause_output(caller, bucket.id, output.id, Default::default()).await?,
    };
    Ok(done(&format!("/buckets/{id}"), "saved"))
}

async fn delete(
    session: Session,
    Path((id, output)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    session.admin().delete_output(&session.caller, bucket.id, output.id).await?;
    Ok(done(&format!("/buckets/{id}"), "deleted"))
}
