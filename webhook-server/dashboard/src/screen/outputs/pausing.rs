//! How an output is paused, and how fast what waited leaves when it is resumed.

use axum::{extract::Path, response::Response};
use serde_json::json;
use webhook_core::model::{Bucket, Output, Pause};

use super::{crumbs_of, find};
use crate::{
    PATH,
    form::{Field, Form, Kind, Submitted},
    page::{Frame, Problem},
    screen::{Asked, bucket, done, edit::Edit},
    session::Session,
    show,
};

fn path(bucket: &Bucket, output: &Output) -> String {
    format!("{PATH}/buckets/{}/outputs/{}/pausing", bucket.id, output.id)
}

fn page(session: &Session, bucket: &Bucket, output: &Output) -> Edit {
    let pause = output.pauses.current(session.now());
    Edit {
        frame: Frame::new(session, "Buckets", format!("Pausing {}", output.spec.name)),
        crumbs: crumbs_of(bucket, output),
        lead: lead(pause),
        form: match pause {
            None => pausing(path(bucket, output)),
            Some(_) => resuming(format!("{}/resume", path(bucket, output))),
        },
        remove: None,
    }
}

fn lead(pause: Option<&Pause>) -> String {
    let Some(pause) = pause else {
        return "While an output is paused, what comes for it waits, and no deadline comes nearer."
            .to_owned();
    };
    let until = match pause.until {
        Some(until) => format!(", until {}", show::moment(until)),
        None => String::new(),
    };
    let reason = if pause.reason.is_empty() { "" } else { ": " };
    format!("Paused since {}{until}{reason}{}", show::moment(pause.at), pause.reason)
}

fn pausing(action: String) -> Form {
    Form::new(action, "Pause").section(
        "",
        vec![
            Field::new(Kind::Text, "reason", "Reason").help("For people."),
            Field::new(Kind::Moment, "until", "Until")
                .help("A day or a moment like 2026-01-31T12:00:00Z; empty until it is resumed."),
        ],
    )
}

fn resuming(action: String) -> Form {
    Form::new(action, "Resume").section(
        "",
        vec![
            Field::new(Kind::Number, "rate", "What waited leaves at most so fast: webhooks").help(
                "Empty for 10 a second, and twice as fast each ten seconds. The throttle holds, \
                 too.",
            ),
            Field::new(Kind::Select, "interval", "In each").options([
                ("second", "second"),
                ("minute", "minute"),
                ("hour", "hour"),
            ]),
            Field::new(Kind::Moment, "discard_before", "Do not send what came before").help(
                "A day or a moment like 2026-01-31T12:00:00Z; it is rejected then. Empty to                  send everything.",
            ),
        ],
    )
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

/// Pauses it, or changes the end and the reason of the pause that it is in.
pub(super) async fn pause(
    session: Session,
    Path((id, output)): Path<(String, String)>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let form = pausing(path(&bucket, output));
    let paused = match form.read(json!({}), &submitted) {
        Ok(request) => {
            session.admin().pause_output(&session.caller, bucket.id, output.id, request).await
        }
        Err(error) => Err(error),
    };
    match paused {
        Ok(_) => Ok(done(&format!("/buckets/{id}/outputs/{}/pausing", output.id), "saved")),
        Err(error) => {
            let page = page(&session, &bucket, output);
            Edit { form, ..page }.refuse(&submitted, error)
        }
    }
}

/// Resumes it at a rate.
pub(super) async fn resume(
    session: Session,
    Path((id, output)): Path<(String, String)>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let form = resuming(format!("{}/resume", path(&bucket, output)));
    let resumed = match form.read(json!({}), &submitted) {
        Ok(request) => {
            session.admin().resume_output(&session.caller, bucket.id, output.id, request).await
        }
        Err(error) => Err(error),
    };
    match resumed {
        Ok(_) => Ok(done(&format!("/buckets/{id}/outputs/{}/pausing", output.id), "saved")),
        Err(error) => {
            let page = page(&session, &bucket, output);
            Edit { form, ..page }.refuse(&submitted, error)
        }
    }
}
