//! One input.

mod deduplication;
pub(super) mod signature;

use axum::{
    Router,
    extract::Path,
    response::Response,
    routing::{get, post},
};
use serde_json::{Value, json};
use webhook_core::{
    Error,
    model::{Bucket, Function, Input, InputSpec},
};

use super::{
    bucket, done,
    edit::{Edit, Remove},
    functions,
};
use crate::{
    Dashboard, PATH,
    form::{Field, Form, Kind, Submitted, decode},
    page::{Frame, PartLink, Problem},
    session::Session,
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/buckets/{bucket}/inputs/new", get(new).post(create))
        .route("/buckets/{bucket}/inputs/{input}", get(show).post(save))
        .route("/buckets/{bucket}/inputs/{input}/delete", post(delete))
        .nest("/buckets/{bucket}/inputs/{input}", parts())
}

fn parts() -> Router<Dashboard> {
    Router::new()
        .route("/signature", get(signature::show).post(signature::save))
        .route("/signature/rotate", post(signature::rotate))
        .route("/signature/delete", post(signature::remove))
        .route("/deduplication", get(deduplication::show).post(deduplication::save))
        .route("/deduplication/delete", post(deduplication::remove))
}

fn form(action: String, submit: &'static str, bucket: &Bucket, functions: &[Function]) -> Form {
    let outputs = bucket.outputs.iter().map(|it| (it.id.to_string(), it.spec.name.clone()));
    let answers = [
        (String::new(), "the static answer".to_owned()),
        ("anyOutput".to_owned(), "the answer of the first output that has one".to_owned()),
    ];
    Form::new(action, submit)
        .section(
            "",
            vec![
                Field::new(Kind::Text, "name", "Name"),
                Field::new(Kind::Area, "description", "Description").rows(2),
                Field::new(Kind::Select, "function_id", "Function")
                    .options(function_options(functions))
                    .help("It sees each webhook before it is routed."),
            ],
        )
        .section(
            "Answer",
            vec![
                Field::new(Kind::Select, "response_from_output", "Senders get")
                    .options(answers.into_iter().chain(outputs)),
                Field::new(Kind::Number, "status_code", "Status").help("200 when it is empty."),
                Field::new(Kind::Headers, "headers", "Headers")
                    .help("One in each line, such as Content-Type: application/json"),
                Field::new(Kind::Area, "body", "Body"),
            ],
        )
        .section(
            "Custom domain",
            vec![
                Field::new(Kind::Text, "custom_domain", "Domain")
                    .help("One that the account has reserved."),
                Field::new(Kind::Text, "path_prefix", "Path prefix"),
                Field::new(Kind::Check, "strip_path_prefix", "Drop the prefix when forwarding"),
                Field::new(Kind::Select, "tls_version", "Oldest TLS").options([
                    ("", "1.2"),
                    ("1.2", "1.2 (said)"),
                    ("1.3", "1.3"),
                ]),
            ],
        )
}

/// No function, or one of these.
pub(super) fn function_options(functions: &[Function]) -> Vec<(String, String)> {
    let none = (String::new(), "none".to_owned());
    let known = functions.iter().map(|it| (it.id.to_string(), it.spec.name.clone()));
    std::iter::once(none).chain(known).collect()
}

pub(super) fn crumbs(bucket: &Bucket) -> Vec<(String, String)> {
    vec![
        ("Buckets".to_owned(), format!("{PATH}/buckets")),
        (bucket.spec.name.clone(), format!("{PATH}/buckets/{}", bucket.id)),
    ]
}

/// Stores this as a part of the input; null takes the part away.
async fn put_part(
    session: &Session,
    bucket: &Bucket,
    input: &Input,
    name: &str,
    part: Value,
) -> Result<Input, Error> {
    let mut spec = json_of(&input.spec);
    spec[name] = part;
    let spec: InputSpec = decode(spec)?;
    session.admin().update_input(&session.caller, bucket.id, input.id, spec).await
}

fn json_of(spec: &InputSpec) -> Value {
    serde_json::to_value(spec).unwrap_or_default()
}

fn creating(session: &Session, bucket: &Bucket, functions: &[Function]) -> Edit {
    let action = format!("{PATH}/buckets/{}/inputs/new", bucket.id);
    Edit {
        frame: Frame::new(session, "Buckets", "New input"),
        crumbs: crumbs(bucket),
        lead: String::new(),
        form: form(action, "Create", bucket, functions).filled(&json_of(&InputSpec::default())),
        remove: None,
    }
}

fn editing(session: &Session, bucket: &Bucket, input: &Input, functions: &[Function]) -> Edit {
    let path = format!("{PATH}/buckets/{}/inputs/{}", bucket.id, input.id);
    let remove = Remove::new(
        "Delete the input",
        format!("{path}/delete"),
        "Senders that use its address get 404 from then on.",
    );
    let mut frame = Frame::new(session, "Buckets", format!("Input {}", input.spec.name));
    frame.parts = vec![
        PartLink {
            name: "Signature",
            path: format!("{path}/signature"),
            state: signature::state(&input.spec),
        },
        PartLink {
            name: "Duplicates",
            path: format!("{path}/deduplication"),
            state: deduplication::state(&input.spec).to_owned(),
        },
    ];
    Edit {
        frame,
        crumbs: crumbs(bucket),
        lead: session.dashboard.input_url(input.id),
        form: form(path, "Save", bucket, functions).filled(&json_of(&input.spec)),
        remove: Some(remove),
    }
}

async fn new(session: Session, Path(id): Path<String>) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    Ok(creating(&session, &bucket, &functions(&session).await?).show())
}

async fn create(
    session: Session,
    Path(id): Path<String>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let page = creating(&session, &bucket, &functions(&session).await?);
    let made = match page.form.read::<InputSpec>(json!({}), &submitted) {
        Ok(spec) => session.admin().create_input(&session.caller, bucket.id, spec).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(_) => Ok(done(&format!("/buckets/{id}"), "created")),
        Err(error) => page.refuse(&submitted, error),
    }
}

/// The input of this bucket.
fn find<'a>(bucket: &'a Bucket, id: &str) -> Result<&'a Input, Problem> {
    let found = bucket.inputs.iter().find(|input| input.id.to_string() == id);
    found.ok_or_else(|| Problem::no("input"))
}

async fn show(
    session: Session,
    Path((id, input)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let input = find(&bucket, &input)?;
    let functions = functions(&session).await?;
    Ok(editing(&session, &bucket, input, &functions).show())
}

async fn save(
    session: Session,
    Path((id, input)): Path<(String, String)>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let input = find(&bucket, &input)?;
    let functions = functions(&session).await?;
    let page = editing(&session, &bucket, input, &functions);
    let saved = match page.form.read::<InputSpec>(json_of(&input.spec), &submitted) {
        Ok(spec) => session.admin().update_input(&session.caller, bucket.id, input.id, spec).await,
        Err(error) => Err(error),
    };
    match saved {
        Ok(_) => Ok(done(&format!("/buckets/{id}"), "saved")),
        Err(error) => page.refuse(&submitted, error),
    }
}

async fn delete(
    session: Session,
    Path((id, input)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let input = find(&bucket, &input)?;
    session.admin().delete_input(&session.caller, bucket.id, input.id).await?;
    Ok(done(&format!("/buckets/{id}"), "deleted"))
}
