//! What a caller may write of a bucket.

use axum::response::Response;
use serde_json::{Map, Value, json};
use webhook_core::{
    Error,
    model::{Bucket, BucketSpec},
};

use crate::{
    PATH,
    form::{Field, Form, Submitted, decode, json_of},
    page::{Frame, Reply},
    screen::{
        On, done,
        edit::{Edit, Remove},
        of_bucket::in_bucket,
    },
    session::Session,
};

fn form(action: String, submit: &'static str) -> Form {
    Form::new(action, submit)
        .fields([
            Field::text("name", "Name").required(),
            Field::area("description", "Description").rows(2),
            Field::check("stream", "Clients may subscribe to it and pull from it"),
            Field::check("ephemeral", "Forget body, query and headers after the final outcome"),
            Field::check("large_webhooks", "Take bodies over 3 MB"),
        ])
        .section("Logs")
        .fields([
            Field::duration("retention.logs", "Keep logs for")
                .help("Such as 12h or 7d; empty for as long as the account's."),
            Field::duration("retention.failed", "Keep those that failed for")
                .help("Empty for as long as the others."),
        ])
        .section("What senders must show")
        .fields([
            Field::select("auth.type", "Credentials").options([
                ("none", "none"),
                ("basic", "user name and password (HTTP Basic)"),
                ("token", "a token (Bearer)"),
            ]),
            Field::text("auth.username", "User name"),
            Field::password("auth.password", "Password").help("Empty keeps the one that is set."),
            Field::password("auth.token", "Token").help("Empty keeps the one that is set."),
        ])
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
    let frame = Frame::new(session, "Buckets", "New bucket").below("Buckets", "/buckets");
    let form = form(format!("{PATH}/buckets/new"), "Create").filled(&BucketSpec::default());
    Edit::new(frame, form).lead("It begins with one input, whose address senders use.")
}

pub(crate) async fn new(session: Session) -> Response {
    creating(&session).show()
}

pub(crate) async fn create(session: Session, submitted: Submitted) -> Reply {
    let page = creating(&session);
    let then = async |object| {
        let bucket = session.admin().create_bucket(&session.caller, read(object)?).await?;
        Ok(done(&format!("/buckets/{}", bucket.id), "created"))
    };
    page.submit(json!({}), &submitted, then).await
}

fn editing(session: &Session, bucket: &Bucket) -> Edit {
    let mut spec = json_of(&bucket.spec);
    // What is set is not shown again.
    spec["auth"]["password"] = json!("");
    spec["auth"]["token"] = json!("");
    let path = format!("{PATH}/buckets/{}", bucket.id);
    let frame = Frame::new(session, "Buckets", format!("Settings of {}", bucket.spec.name));
    let remove = Remove::new(
        "Delete the bucket",
        format!("{path}/delete"),
        "Its inputs stop to answer, and its outputs get nothing more. The logs stay until they \
         are too old.",
    );
    Edit::new(in_bucket(frame, bucket), form(format!("{path}/settings"), "Save").filled(&spec))
        .removed_by(remove.unless_empty("also with the inputs and outputs that it has"))
}

pub(crate) async fn show(On(session, bucket): On<Bucket>) -> Reply {
    Ok(editing(&session, &bucket).show())
}

pub(crate) async fn save(On(session, bucket): On<Bucket>, mut submitted: Submitted) -> Reply {
    let page = editing(&session, &bucket);
    for secret in ["auth.password", "auth.token"] {
        submitted.forget_if_empty(secret);
    }
    let then = async |object| {
        session.admin().update_bucket(&session.caller, bucket.id, read(object)?).await?;
        Ok(done(&format!("/buckets/{}", bucket.id), "saved"))
    };
    page.submit(&bucket.spec, &submitted, then).await
}

pub(crate) async fn delete(On(session, bucket): On<Bucket>, submitted: Submitted) -> Reply {
    let force = submitted.has("force");
    match session.admin().delete_bucket(&session.caller, bucket.id, force).await {
        Ok(_) => Ok(done("/buckets", "deleted")),
        Err(error) => editing(&session, &bucket).refuse_with(error),
    }
}
