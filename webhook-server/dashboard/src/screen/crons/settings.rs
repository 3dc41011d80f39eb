//! What a caller may write of a cron.

use serde_json::json;
use webhook_core::{
    admin::BucketCron,
    model::{Cron, CronSpec, Function},
};

use super::cron_page;
use crate::{
    PATH,
    form::{Field, Form, Submitted},
    page::{Frame, Reply, page_with},
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
        .fields([
            Field::text("name", "Name"),
            Field::text("schedule", "Schedule").required().help(
                "Minute, hour, day, month, weekday, as in 30 2 * * *; or @daily, @every 1h30m",
            ),
            Field::text("timezone", "Time zone")
                .help("Such as Europe/Berlin; UTC when it is empty."),
            Field::text("destination", "Destination").required(),
            Field::area("payload", "Body"),
            Field::check("enabled", "It runs"),
        ])
        .section("Request and limits")
        .fields([
            Field::text("method", "Method"),
            Field::headers("headers", "Headers")
                .help("One in each line, such as Content-Type: application/json"),
            Field::select("function_id", "Function").options(function_options(functions)),
            Field::check("recurring", "Again and again; otherwise once"),
            Field::text("starts_at", "Not before").help("Such as 2026-03-29T02:30:00Z"),
            Field::text("ends_at", "Not after"),
        ])
}

fn creating(session: &Session, functions: &[Function]) -> Edit {
    let frame = Frame::new(session, "Crons", "New cron").below("Crons", "/crons");
    let form = form(format!("{PATH}/crons/new"), "Create", functions);
    Edit::new(frame, form.filled(&CronSpec::default())).lead(
        "Each run is a webhook in a bucket of its own, with retries and a log like any other.",
    )
}

pub(super) fn editing(session: &Session, cron: &Cron, functions: &[Function]) -> Edit {
    let frame = Frame::new(session, "Crons", format!("Cron {}", cron.spec.name));
    let form = form(format!("{PATH}/crons/{}", cron.id), "Save", functions);
    Edit::new(frame.below("Crons", "/crons"), form.filled(&cron.spec))
}

pub(super) fn remove(cron: &Cron) -> Remove {
    Remove::new(
        "Delete the cron",
        format!("{PATH}/crons/{}/delete", cron.id),
        "Its bucket goes with it. What still waits for an output is not attempted any more.",
    )
}

pub(super) async fn new(session: Session) -> Reply {
    session.caller.require_account()?;
    Ok(creating(&session, &functions(&session).await?).show())
}

pub(super) async fn create(session: Session, submitted: Submitted) -> Reply {
    let page = creating(&session, &functions(&session).await?);
    let then = async |spec: CronSpec| {
        let made = session.admin().create_cron(&session.caller, spec).await?;
        Ok(done(&format!("/crons/{}", made.cron.id), "created"))
    };
    page.submit(json!({}), &submitted, then).await
}

pub(super) async fn save(On(session, found): On<BucketCron>, submitted: Submitted) -> Reply {
    let mut page = editing(&session, &found.cron, &functions(&session).await?);
    let saved = match page.form.read::<CronSpec>(&found.cron.spec, &submitted) {
        Ok(spec) => session.admin().update_cron(&session.caller, found.cron.id, spec).await,
        Err(error) => Err(error),
    };
    match saved {
        Ok(_) => Ok(done(&format!("/crons/{}", found.cron.id), "saved")),
        Err(error) => {
            let (status, error) = refusal(error)?;
            page.form = page.form.refused(&submitted, &error);
            Ok(page_with(status, &cron_page(&session, &found, page).await?))
        }
    }
}

/// Lets it run again, or not.
pub(super) async fn pause(
    On(session, BucketCron { cron, .. }): On<BucketCron>,
    submitted: Submitted,
) -> Reply {
    let mut spec = cron.spec;
    spec.enabled = submitted.text("enabled") == "true";
    session.admin().update_cron(&session.caller, cron.id, spec).await?;
    Ok(done(&format!("/crons/{}", cron.id), "saved"))
}

pub(super) async fn delete(On(session, BucketCron { cron, .. }): On<BucketCron>) -> Reply {
    session.admin().delete_cron(&session.caller, cron.id).await?;
    Ok(done("/crons", "deleted"))
}
