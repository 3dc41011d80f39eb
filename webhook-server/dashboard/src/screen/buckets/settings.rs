//! What a caller may write of a bucket.

use axum::response::Response;
use serde_json::{Map, Value, json};
use webhook_core::{
    Error,
    model::{Bucket, BucketSpec},
};

use crate::{
    PATH,
    form::{Field, Form, Kind, Submitted, decode},
    page::{Frame, Problem},
    screen::{
        On, done,
        edit::{Edit, Remove},
    },
    session::Session,
};

fn form(action: String, submit: &'static str) -> Form {
    Form::new(action, submit)
        .section(
            "",
            vec![
                Field::new(Kind::Text, "name", "Name").required(),
                Field::new(Kind::Area, "description", "Description").rows(2),
                Field::new(Kind::Check, "stream", "Clients may subscribe to it and pull from it"),
                Field::new(
                    Kind::Check,
                    "ephemeral",
                    "Forget body, query and headers after the final outcome",
                ),
                Field::new(Kind::Check, "large_webhooks", "Take bodies over 3 MB"),
            ],
        )
        .section(
            "Logs",
            vec![
                Field::new(Kind::Duration, "retention.logs", "Keep logs for")
                    .help("Such as 12h or 7d; empty for as long as the account's."),
                Field::new(Kind::Duration, "retention.failed", "Keep those that failed for")
                    .help("Empty for as long as the others."),
            ],
        )
        .section(
            "What senders must show",
            vec![
                Field::new(Kind::Select, "auth.type", "Credentials").options([
                    ("none", "none"),
                    ("basic", "user name and password (HTTP Basic)"),
                    ("token", "a token (Bearer)"),
                ]),
                Field::new(Kind::Text, "auth.username", "User name"),
                Field::new(Kind::Password, "auth.password", "Password")
                    .help("Empty keeps the one that is set."),
                Field::new(Kind::Password, "auth.token", "Token")
                    .help("Empty keeps the one that is set."),
            ],
        )
}

/// What was submitted, where a retention of which both fields are empty is none.
fn read(mut object: Value) -> Result<BucketSpec, Error> {
    let retention = object.get_mut("retention");
    if let Some(retention) = retention.filter(|it| it.as_object().is_some_and(Map::is_empty)) {
        *retention = Value::Null;
    }
    decode(object)
}

fn creating(session: &Session) -> Edit {
    let spec = serde_json::to_value(BucketSpec::default()).unwrap_or_default();
    Edit {
        frame: Frame::new(session, "Buckets", "New bucket"),
        crumbs: vec![("Buckets".to_owned(), format!("{PATH}/buckets"))],
        lead: "It begins with one input, whose address senders use.".to_owned(),
        form: form(format!("{PATH}/buckets/new"), "Create").filled(&spec),
        remove: None,
    }
}

pub(crate) async fn new(session: Session) -> Response {
    creating(&session).show()
}

pub(crate) async fn create(session: Session, submitted: Submitted) -> Result<Response, Problem> {
    let page = creating(&session);
    let then = async |object| {
        let bucket = session.admin().create_bucket(&session.caller, read(object)?).await?;
        Ok(done(&format!("/buckets/{}", bucket.id), "created"))
    };
    page.submit(json!({}), &submitted, then).await
}

fn editing(session: &Session, bucket: &Bucket) -> Edit {
    let mut spec = serde_json::to_value(&bucket.spec).unwrap_or_default();
    // What is set is not shown again.
    spec["auth"]["password"] = json!("");
    spec["auth"]["token"] = json!("");
    let path = format!("{PATH}/buckets/{}", bucket.id);
    Edit {
        frame: Frame::new(session, "Buckets", format!("Settings of {}", bucket.spec.name)),
        crumbs: vec![
            ("Buckets".to_owned(), format!("{PATH}/buckets")),
            (bucket.spec.name.clone(), path.clone()),
        ],
        lead: String::new(),
        form: form(format!("{path}/settings"), "Save").filled(&spec),
        remove: Some(
            Remove::new(
                "Delete the bucket",
                format!("{path}/delete"),
                "Its inputs stop to answer, and its outputs get nothing more. The logs stay \
                 until they are too old.",
            )
            .unless_empty("also with the inputs and outputs that it has"),
        ),
    }
}

pub(crate) async fn show(On(session, bucket): On<Bucket>) -> Result<Response, Problem> {
    Ok(editing(&session, &bucket).show())
}

pub(crate) async fn save(
    On(session, bucket): On<Bucket>,
    mut submitted: Submitted,
) -> Result<Response, Problem> {
    let page = editing(&session, &bucket);
    let spec = serde_json::to_value(&bucket.spec).unwrap_or_default();
    for secret in ["auth.password", "auth.token"] {
        submitted.forget_if_empty(secret);
    }
    let then = async |object| {
        session.admin().update_bucket(&session.caller, bucket.id, read(object)?).await?;
        Ok(done(&format!("/buckets/{}", bucket.id), "saved"))
    };
    page.submit(spec, &submitted, then).await
}

pub(crate) async fn delete(
    On(session, bucket): On<Bucket>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let force = submitted.has("force");
    match session.admin().delete_bucket(&session.caller, bucket.id, force).await {
        Ok(_) => Ok(done("/buckets", "deleted")),
        Err(error) => editing(&session, &bucket).refuse_with(error),
    }
}
