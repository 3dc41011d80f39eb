//! What a caller may write of a cron.

use webhook_core::{
    admin::BucketCron,
    model::{Cron, CronSpec, Function},
};

use super::cron_page;
use crate::{
    PATH,
    form::{Form, Submitted},
    page::{Frame, Reply, page_with},
    screen::{
        On, done,
        edit::{Edit, Remove, refusal},
        functions,
        inputs::function_options,
    },
    session::Session,
};

fn form(action: String, submit: &'static str, spec: &CronSpec, functions: &[Function]) -> Form {
    let options = function_options(functions);
    Form::new(action, submit).of(spec).with("function_id", |field| field.options(options))
}

fn creating(session: &Session, functions: &[Function]) -> Edit {
    let frame = Frame::new(session, "Crons", "New cron").below("Crons", "/crons");
    let spec = CronSpec::default();
    Edit::new(frame, form(format!("{PATH}/crons/new"), "Create", &spec, functions)).lead(
        "Each run is a webhook in a bucket of its own, with retries and a log like any other.",
    )
}

pub(super) fn editing(session: &Session, cron: &Cron, functions: &[Function]) -> Edit {
    let frame = Frame::new(session, "Crons", format!("Cron {}", cron.spec.name));
    let form = form(format!("{PATH}/crons/{}", cron.id), "Save", &cron.spec, functions);
    Edit::new(frame.below("Crons", "/crons"), form)
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
    page.submit(CronSpec::default(), &submitted, then).await
}

pub(super) async fn save(On(session, found): On<BucketCron>, submitted: Submitted) -> Reply {
    let mut page = editing(&session, &found.cron, &functions(&session).await?);
    let mut spec = found.cron.spec.clone();
    let saved = match page.form.read(&mut spec, &submitted) {
        Ok(()) => session.admin().update_cron(&session.caller, found.cron.id, spec).await,
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
