//! A function that is written from a sample.

use webhook_core::{
    function::generate::{GenerateRequest, GeneratedFunction},
    model::{FunctionSpec, Log, Request},
};

use super::{editor::creating, frame};
use crate::{
    PATH,
    form::{Field, Form, Submitted},
    page::Reply,
    screen::{Asked, Named, edit::Edit},
    session::Session,
    show,
};

fn asking(session: &Session, sample: &str) -> Edit {
    let form = Form::new(format!("{PATH}/functions/generate"), "Write the function").fields([
        Field::area("input_payload", "A body as it comes").rows(10).value(sample),
        Field::area("output_payload", "The same body as it is wanted").rows(10),
        Field::select("additional_info", "Language")
            .options([("", "Lua"), ("in JavaScript", "JavaScript")]),
    ]);
    Edit::new(frame(session, "Write a function from a sample"), form).lead(
        "The server looks for the simplest program that makes one of the other. It is not saved \
         before you say so.",
    )
}

pub(super) async fn show(session: Session, asked: Asked) -> Reply {
    session.caller.require_account()?;
    let sample = match asked.get("log") {
        Some(log) => {
            let log = Log::find(&session, log).await?;
            let Request { headers, body, .. } = &log.webhook.request;
            let text = || show::text(&show::content(headers, body)).0;
            show::pretty(headers, body).unwrap_or_else(text)
        }
        None => String::new(),
    };
    Ok(asking(&session, &sample).show())
}

pub(super) async fn submit(session: Session, submitted: Submitted) -> Reply {
    let page = asking(&session, "");
    let then = async |request: GenerateRequest| {
        let written = session.admin().generate_function(&session.caller, request).await?;
        Ok(creating(&session, &spec(&written), said(&written)).show())
    };
    page.submit(GenerateRequest::default(), &submitted, then).await
}

fn spec(written: &GeneratedFunction) -> FunctionSpec {
    FunctionSpec::new("", written.driver, written.code.as_str())
}

fn said(written: &GeneratedFunction) -> String {
    match written.validation_ok {
        true => "It makes the sample's output of its input.".to_owned(),
        false => format!("It is not known to be right: {}", written.validation_err),
    }
}
