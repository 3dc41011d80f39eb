//! How what an output sends is signed.

use axum::{extract::Path, response::Response};
use serde_json::Value;
use webhook_core::{
    Error,
    model::{Bucket, Output, OutputSpec, credentials::SigningSpec},
};

use super::{crumbs_of, find, json_of, put_part};
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

const LEAD: &str = "Receivers verify by the signature that a webhook came from here, as it is.";
const MAX_SECRETS: usize = 2;

/// What is stored, or what a new one begins with.
fn stored(output: &Output) -> (Value, bool) {
    let stored = &json_of(&output.spec)["signing"];
    match stored.is_object() {
        true => (stored.clone(), true),
        false => (serde_json::to_value(SigningSpec::default()).unwrap_or_default(), false),
    }
}

fn form(action: String, stored: &Value) -> Form {
    let mut fields = vec![
        Field::new(Kind::Check, "signing.enabled", "Sign what is sent"),
        Field::new(Kind::Select, "signing.format", "Format").options([
            ("standard_webhooks", "Standard Webhooks: v1, and base64"),
            ("hmac_body", "HMAC-SHA-256 of the body: sha256= and hex, as GitHub"),
            ("hmac_timestamp_body", "HMAC-SHA-256 of time and body: t=…,v1=…, as Stripe"),
            ("ed25519", "Standard Webhooks by Ed25519: v1a, and base64"),
        ]),
        Field::new(Kind::Text, "signing.prefix", "Headers begin with")
            .help("webhook- when it is empty. Secrets of Standard Webhooks are whsec_ and base64 \
                   of 24 to 64 bytes, those of Ed25519 whsk_ and base64 of the seed, others any text."),
    ];
    fields.extend(part::secrets("signing", "Secret", part::count(stored), MAX_SECRETS));
    part::filled(Form::new(action, "Save").section("", fields), "signing", stored)
}

fn page(session: &Session, bucket: &Bucket, output: &Output) -> Part {
    let path = format!("{PATH}/buckets/{}/outputs/{}/signing", bucket.id, output.id);
    let (part, is_stored) = stored(output);
    let frame = Frame::new(session, "Buckets", "Signing");
    let mut page = Part::new(frame, crumbs_of(bucket, output), LEAD);
    page.form = Some(form(path.clone(), &part));
    if is_stored {
        page.remove = Some(Remove::new(
            "Sign nothing",
            format!("{path}/delete"),
            "The secrets are forgotten. Receivers that verify refuse what comes then.",
        ));
        page.rotation = Some(part::rotation(format!("{path}/rotate"), session.now()));
    }
    page
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

fn saved(bucket: &Bucket, output: &Output, what: &str) -> Response {
    done(&format!("/buckets/{}/outputs/{}/signing", bucket.id, output.id), what)
}

pub(super) async fn save(
    session: Session,
    Path((id, output)): Path<(String, String)>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let page = page(&session, &bucket, output);
    let Some(form) = &page.form else { return Err(Problem::no("page")) };
    let put = match part::read(form, "signing", &stored(output).0, &submitted) {
        Ok(part) => put_part(&session, &bucket, output, "signing", part).await,
        Err(error) => Err(error),
    };
    match put {
        Ok(_) => Ok(saved(&bucket, output, "saved")),
        Err(error) => page.refuse(&submitted, error),
    }
}

pub(super) async fn rotate(
    session: Session,
    Path((id, output)): Path<(String, String)>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    let page = page(&session, &bucket, output);
    let Some(form) = &page.rotation else { return Err(Problem::no("secret")) };
    let put: Result<Output, Error> =
        match part::rotated(&stored(output).0, form, &submitted, session.now()) {
            Ok(part) => put_part(&session, &bucket, output, "signing", part).await,
            Err(error) => Err(error),
        };
    match put {
        Ok(_) => Ok(saved(&bucket, output, "replaced")),
        Err(error) => page.refuse_rotation(&submitted, error, "signing"),
    }
}

pub(super) async fn remove(
    session: Session,
    Path((id, output)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let bucket = bucket(&session, &id).await?;
    let output = find(&bucket, &output)?;
    put_part(&session, &bucket, output, "signing", Value::Null).await?;
    Ok(saved(&bucket, output, "saved"))
}

/// How it stands, in a few words.
pub(super) fn state(spec: &OutputSpec) -> &'static str {
    match spec.signing.set() {
        None => "not signed",
        Some(signing) if signing.enabled => "signed",
        Some(_) => "switched off",
    }
}
