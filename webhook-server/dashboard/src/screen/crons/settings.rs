//! What a caller may write of a cron.

use axum::response::Response;
use serde_json::{Value, json};
use webhook_core::{
    admin::BucketCron,
    model::{Cron, CronSpec, Function},
};

use super::refused;
use crate::{
    PATH,
    form::{Field, Form, Kind, Submitted},
    page::{Frame, Problem},
    screen::{
        On, done,
        edit::{Edit, Remove, refusal},
        functions,
        inputs::function_options,
    },
    session::Session,
};

fn form(action: String, submit: &'static str, functions: &[Function]) -> Form {
    Form::new(action, submit)
        .section(
            "",
            vec![
                Field::new(Kind::Text, "name", "Name"),
                Field::new(Kind::Text, "schedule", "Schedule").required().help(
                    "Minute, hour, day, month, weekday, as in 30 2 * * *; or @daily, @every 1h30m",
                ),
                Field::new(Kind::Text, "timezone", "Time zone")
                    .help("Such as Europe/Berlin; UTC when it is empty."),
                Field::new(Kind::Text, "destination", "Destination").required(),
                Field::new(Kind::Area, "payload", "Body"),
                Field::new(Kind::Check, "enabled", "It runs"),
            ],
        )
        .section(
            "Request and limits",
            vec![
                Field::new(Kind::Text, "method", "Method"),
                Field::new(Kind::Headers, "headers", "Headers")
                    .help("One in each line, such as Content-Type: application/json"),
                Field::new(Kind::Select, "function_id", "Function")
                    .options(function_options(functions)),
                Field::new(Kind::Check, "recurring", "Again and again; otherwise once"),
                Field::new(Kind::Text, "starts_at", "Not before")
                    .help("Such as 2026-03-29T02:30:00Z"),
                Field::new(Kind::Text, "ends_at", "Not after"),
            ],
        )
}

fn json_of(spec: &CronSpec) -> Value {
    serde_json::to_value(spec).unwrap_or_default()
}

fn crumbs() -> Vec<(String, String)> {
    vec![("Crons".to_owned(), format!("{PATH}/crons"))]
}

fn creating(session: &Session, functions: &[Function]) -> Edit {
    let action = format!("{PATH}/crons/new");
    Edit {
        frame: Frame::new(session, "Crons", "New cron"),
        crumbs: crumbs(),
        lead: "Each run is a webhook in a bucket of its own, with retries and a log like any \
               other."
            .to_owned(),
        form: form(action, "Create", functions).filled(&json_of(&CronSpec::default())),
        remove: None,
    }
}

pub(super) fn editing(session: &Session, cron: &Cron, functions: &[Function]) -> Edit {
    let path = format!("{PATH}/crons/{}", cron.id);
    Edit {
        frame: Frame::new(session, "Crons", format!("Cron {}", cron.spec.name)),
        crumbs: crumbs(),
        lead: String::new(),
        form: form(path, "Save", functions).filled(&json_of(&cron.spec)),
        remove: None,
    }
}

pub(super) fn remove(cron: &Cron) -> Remove {
    Remove::new(
        "Delete the cron",
        format!("{PATH}/crons/{}/delete", cron.id),
        "Its bucket goes with it. What still waits for an output is not attempted any more.",
    )
}

pub(super) async fn new(session: Session) -> Result<Response, Problem> {
    session.caller.require_account()?;
    Ok(creating(&session, &functions(&session).await?).show())
}

pub(super) async fn create(session: Session, submitted: Submitted) -> Result<Response, Problem> {
    let page = creating(&session, &functions(&session).await?);
    let then = async |spec: CronSpec| {
        let made = session.admin().create_cron(&session.caller, spec).await?;
        Ok(done(&format!("/crons/{}", made.cron.id), "created"))
    };
    page.submit(json!({}), &submitted, then).await
}

pub(super) async fn save(
    On(session, found): On<BucketCron>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let mut page = editing(&session, &found.cron, &functions(&session).await?);
    let saved = match page.form.read::<CronSpec>(json_of(&found.cron.spec), &submitted) {
        Ok(spec) => session.admin().update_cron(&session.caller, found.cron.id, spec).await,
        Err(error) => Err(error),
    };
    match saved {
        Ok(_) => Ok(done(&format!("/crons/{}", found.cron.id), "saved")),
        Err(error) => {
            let (status, error) = refusal(error)?;
            page.form = page.form.refused(&submitted, &error);
            refused(&session, &found, status, page).await
        }
    }
}

/// Lets it run again, or not.
pub(super) async fn pause(
    On(session, BucketCron { cron, .. }): On<BucketCron>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let mut spec = cron.spec;
    spec.enabled = submitted.text("enabled") == "true";
    session.admin().update_cron(&session.caller, cron.id, spec).await?;
    Ok(done(&format!("/crons/{}", cron.id), "saved"))
}

pub(super) async fn delete(
    On(session, BucketCron { cron, .. }): On<BucketCron>,
) -> Result<Response, Problem> {
    session.admin().delete_cron(&session.caller, cron.id).await?;
    Ok(done("/crons", "deleted"))
}
