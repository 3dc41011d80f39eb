//! What becomes of an output when its destination fails.

use axum::{extract::Path, response::Response};
use serde_json::Value;
use webhook_core::model::{Bucket, Health, Output, OutputSpec};

use super::{crumbs_of, find, json_of, put_part};
use crate::{
    PATH,
    form::{Field, Form, Kind, Submitted},
    page::{Frame, Problem},
    screen::{
        Asked, bucket, done,
        edit::Remove,
        part::{self, Part},
    },
    session::Session,
};

const LEAD: &str = "A destination that fails is tried less often and then not at all, and no \
    webhook uses up its attempts meanwhile. What comes waits, and leaves when the destination \
    is back.";

/// What is stored, or what a new one begins with.
fn stored(output: &Output) -> (Value, bool) {
    let stored = &json_of(&output.spec)["health"];
    match stored.is_object() {
        true => (stored.clone(), true),
        false => (serde_json::to_value(Health::default()).unwrap_or_default(), false),
    }
}

fn form(action: String) -> Form {
    Form::new(action, "Save")
        .section(
            "",
            vec![
                Field::new(Kind::Check, "health.enabled", "Look after the destination"),
                Field::new(Kind::Limit, "health.notify_after", "Tell that it fails after")
                    .help("1m to 30d, or never; 1h when it is empty. Notifications are told."),
                Field::new(Kind::Limit, "health.pause_after", "Pause the output after").help(
                    "12h to 90d, or never; 5d when it is empty. The oldest webhook is tried once \
                     an hour, and the pause ends when that is sent.",
                ),
                Field::new(
                    Kind::Check,
                    "health.pause_on_gone",
                    "Pause it when the destination answers 410 (Gone), until somebody resumes it",
                ),
            ],
        )
        .section(
            "When most attempts fail",
            vec![
                Field::new(Kind::Check, "health.circuit.enabled", "Try with one webhook at a time"),
                Field::new(Kind::Number, "health.circuit.failures", "After so many failures")
                    .help("1 to 1000; 20 when it is empty."),
                Field::new(Kind::Decimal, "health.circuit.ratio", "Which are this part of all")
                    .help("Over 0, at most 1; 0.7 when it is empty."),
                Field::new(Kind::Duration, "health.circuit.window", "Within")
                    .help("1s to 1h; 1m when it is empty."),
                Field::new(Kind::Duration, "health.circuit.open_for", "Wait before the next try")
                    .help("1s to 1h; 30s when it is empty. Twice as long after each that fails."),
                Field::new(Kind::Duration, "health.circuit.max_open_for", "At most so long")
                    .help("Up to 1h; 5m when it is empty."),
            ],
        )
}

fn page(session: &Session, bucket: &Bucket, output: &Output) -> Part {
    let path = format!("{PATH}/buckets/{}/outputs/{}/health", bucket.id, output.id);
    let (part, is_stored) = stored(output);
    let frame = Frame::new(session, "Buckets", format!("Health of {}", output.spec.name));
    let mut page = Part::new(frame, crumbs_of(bucket, output), LEAD);
    page.form = Some(part::filled(form(path.clone()), "health", &part));
    page.remove = is_stored.then(|| {
        Remove::new(
            "Leave the destination alone",
            format!("{path}/delete"),
            "However long it fails, each webhook is tried by its own schedule.",
        )
    });
    page
}

pub(super) async fn show(
    session: Session,
    Path((id, output)): Path<(String, String)>,
    asked: Asked,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let mut page = page(&session, &bucket, find(&bucket, &output)?);
    page.frame = page.frame.noticing(asked.get("done"));
    Ok(page.show())
}

pub(super) async fn save(
    session: Session,
    Path((id, output)): Path<(String, String)>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let page = page(&session, &bucket, output);
    let Some(form) = &page.form else { return Err(Problem::no("page")) };
    let saved = match part::read(form, "health", &stored(output).0, &submitted) {
        Ok(part) => put_part(&session, &bucket, output, "health", part).await,
        Err(error) => Err(error),
    };
    match saved {
        Ok(_) => Ok(done(&format!("/buckets/{id}/outputs/{}/health", output.id), "saved")),
        Err(error) => page.refuse(&submitted, error),
    }
}

pub(super) async fn remove(
    session: Session,
    Path((id, output)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    put_part(&session, &bucket, output, "health", Value::Null).await?;
    Ok(done(&format!("/buckets/{id}/outputs/{}/health", output.id), "saved"))
}

/// How it stands, in a few words.
pub(super) fn state(spec: &OutputSpec) -> &'static str {
    match spec.health.set() {
        Some(it) if it.enabled => "it is looked after",
        _ => "nobody looks after the destination",
    }
}
