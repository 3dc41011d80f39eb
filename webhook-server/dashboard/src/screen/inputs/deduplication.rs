//! Which webhooks of an input are duplicates.

use axum::{extract::Path, response::Response};
use serde_json::Value;
use webhook_core::model::{Bucket, Deduplication, Input, InputSpec};

use super::{find, json_of, put_part};
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

const LEAD: &str = "Providers send a webhook again when an answer was late. A duplicate is answered \
    and kept in the log, and not forwarded.";

/// What is stored, or what a new one begins with.
fn stored(input: &Input) -> (Value, bool) {
    let stored = &json_of(&input.spec)["deduplication"];
    match stored.is_object() {
        true => (stored.clone(), true),
        false => (serde_json::to_value(Deduplication::default()).unwrap_or_default(), false),
    }
}

fn form(action: String) -> Form {
    Form::new(action, "Save").section(
        "",
        vec![
            Field::new(Kind::Check, "deduplication.enabled", "Look for duplicates"),
            Field::new(Kind::Duration, "deduplication.window", "For how long after the first")
                .help("1s to 30d; 24h when it is empty."),
            Field::new(Kind::Parts, "deduplication.key", "What is the same in duplicates").help(
                "One in each line: header X-Id, query id or payload data.id. Empty for the \
                 provider's delivery ID, or the whole content where there is none.",
            ),
            Field::new(
                Kind::Check,
                "deduplication.content",
                "The method, the path, the query and the body, too",
            ),
            Field::new(Kind::Lines, "deduplication.exclude", "What of the content may differ")
                .rows(2)
                .help("One in each line, such as payload.sent_at or query.nonce."),
            Field::new(Kind::Word, "deduplication.answer", "Senders of duplicates get")
                .help("same, as the first got, or a status from 200 to 599."),
        ],
    )
}

fn page(session: &Session, bucket: &Bucket, input: &Input) -> Part {
    let path = format!("{PATH}/buckets/{}/inputs/{}", bucket.id, input.id);
    let mut crumbs = super::crumbs(bucket);
    crumbs.push((format!("Input {}", input.spec.name), path.clone()));
    let (part, is_stored) = stored(input);
    let mut page = Part::new(Frame::new(session, "Buckets", "Duplicates"), crumbs, LEAD);
    page.form = Some(part::filled(form(format!("{path}/deduplication")), "deduplication", &part));
    page.remove = is_stored.then(|| {
        let action = format!("{path}/deduplication/delete");
        Remove::new(
            "Forward duplicates",
            action,
            "Every webhook is forwarded, however often it comes.",
        )
    });
    page
}

pub(super) async fn show(
    session: Session,
    Path((id, input)): Path<(String, String)>,
    asked: Asked,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let mut page = page(&session, &bucket, find(&bucket, &input)?);
    page.frame = page.frame.noticing(asked.get("done"));
    Ok(page.show())
}

pub(super) async fn save(
    session: Session,
    Path((id, input)): Path<(String, String)>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let input = find(&bucket, &input)?;
    let page = page(&session, &bucket, input);
    let Some(form) = &page.form else { return Err(Problem::no("page")) };
    let saved = match part::read(form, "deduplication", &stored(input).0, &submitted) {
        Ok(part) => put_part(&session, &bucket, input, "deduplication", part).await,
        Err(error) => Err(error),
    };
    match saved {
        Ok(_) => Ok(done(&format!("/buckets/{id}/inputs/{}/deduplication", input.id), "saved")),
        Err(error) => page.refuse(&submitted, error),
    }
}

pub(super) async fn remove(
    session: Session,
    Path((id, input)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let input = find(&bucket, &input)?;
    put_part(&session, &bucket, input, "deduplication", Value::Null).await?;
    Ok(done(&format!("/buckets/{id}/inputs/{}/deduplication", input.id), "saved"))
}

/// How it stands, in a few words.
pub(super) fn state(spec: &InputSpec) -> &'static str {
    match spec.deduplication.set() {
        Some(it) if it.enabled => "are not forwarded",
        _ => "are forwarded",
    }
}
