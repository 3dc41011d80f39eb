//! How an output is paused, and how fast what waited leaves when it is resumed.

use axum::response::Response;
use webhook_core::{
    Error,
    model::{Output, Pause, PauseRequest, ResumeRequest},
};

use crate::{
    form::{Form, Submitted},
    page::Reply,
    screen::{Asked, done, edit::Edit, of_bucket::At},
    show,
};

fn path(at: &At<Output>) -> String {
    format!("{}/pausing", at.path())
}

fn page(at: &At<Output>) -> Edit {
    let pause = at.it.pauses.current(at.session.now());
    let form = match pause {
        None => pausing(path(at)),
        Some(_) => resuming(format!("{}/resume", path(at))),
    };
    Edit::new(at.frame(format!("Pausing {}", at.it.spec.name)), form).lead(lead(pause))
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
    Form::new(action, "Pause").of(&PauseRequest::default())
}

fn resuming(action: String) -> Form {
    Form::new(action, "Resume").of(&ResumeRequest::default())
}

pub(super) async fn show(at: At<Output>, asked: Asked) -> Reply {
    let mut page = page(&at);
    page.frame = page.frame.noticing(asked.get("done"));
    Ok(page.show())
}

fn saved(at: &At<Output>) -> Result<Response, Error> {
    Ok(done(&format!("{}/pausing", at.place()), "saved"))
}

/// Pauses it, or changes the end and the reason of the pause that it is in.
pub(super) async fn pause(at: At<Output>, submitted: Submitted) -> Reply {
    let page = Edit { form: pausing(path(&at)), ..page(&at) };
    let pause = async |request| {
        let (admin, caller) = (at.session.admin(), &at.session.caller);
        admin.pause_output(caller, at.bucket.id, at.it.id, request).await?;
        saved(&at)
    };
    page.submit(PauseRequest::default(), &submitted, pause).await
}

/// Resumes it at a rate.
pub(super) async fn resume(at: At<Output>, submitted: Submitted) -> Reply {
    let page = Edit { form: resuming(format!("{}/resume", path(&at))), ..page(&at) };
    let resume = async |request| {
        let (admin, caller) = (at.session.admin(), &at.session.caller);
        admin.resume_output(caller, at.bucket.id, at.it.id, request).await?;
        saved(&at)
    };
    page.submit(ResumeRequest::default(), &submitted, resume).await
}
