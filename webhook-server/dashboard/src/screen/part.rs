//! Pages of what an input or an output has beside its own fields: a signature, credentials.
//!
//! What is to be filled in depends on a choice, which is a step of its own: the address
//! says what was chosen.

use std::time::Duration;

use askama::Template;
use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use serde_json::{Value, json};
use webhook_core::{Error, Timestamp};

use super::{
    Asked, done,
    edit::{Remove, refusal},
    of_bucket::{At, OfBucket},
};
use crate::{
    Dashboard,
    form::{self, Field, Form, Submitted},
    page::{Frame, Problem, Reply, page, page_with},
    show::Mark,
};

/// A part of an input or an output that has a page of its own.
pub(super) trait PartOf: 'static {
    type Of: OfBucket;
    /// Its field, and the end of the address of its page.
    const NAME: &'static str;
    /// The missing choice, for the error of a page without a form.
    const CHOICE: &'static str = "page";

    /// The page, and what is stored of the part or what a new one begins with.
    fn page(at: &At<Self::Of>, asked: &Asked) -> (Part, Value);

    /// What it says of stored webhooks.
    fn test(
        _: &At<Self::Of>,
        _: &Asked,
    ) -> impl Future<Output = Result<Option<Test>, Problem>> + Send {
        std::future::ready(Ok(None))
    }
}

/// The pages of a part.
pub(super) fn router<P: PartOf>() -> Router<Dashboard> {
    Router::new()
        .route(&format!("/{}", P::NAME), get(show::<P>).post(save::<P>))
        .route(&format!("/{}/rotate", P::NAME), post(rotate::<P>))
        .route(&format!("/{}/delete", P::NAME), post(remove::<P>))
}

async fn show<P: PartOf>(at: At<P::Of>, asked: Asked) -> Reply {
    let (mut page, _) = P::page(&at, &asked);
    page.frame = page.frame.noticing(asked.get("done"));
    page.test = P::test(&at, &asked).await?;
    Ok(page.show())
}

/// Stores what was made of the submitted fields, if it could be made.
async fn put<P: PartOf>(
    at: &At<P::Of>,
    made: Result<Value, Error>,
    what: &str,
) -> Result<Response, Error> {
    at.put_part(P::NAME, made?).await?;
    Ok(done(&format!("{}/{}", at.place(), P::NAME), what))
}

async fn save<P: PartOf>(at: At<P::Of>, asked: Asked, submitted: Submitted) -> Reply {
    let (page, part) = P::page(&at, &asked);
    let form = page.form.as_ref().ok_or_else(|| Problem::no(P::CHOICE))?;
    let saved = put::<P>(&at, read(form, P::NAME, &part, &submitted), "saved").await;
    saved.or_else(|error| page.refuse(&submitted, error))
}

/// Puts a new secret next to the stored ones.
async fn rotate<P: PartOf>(at: At<P::Of>, submitted: Submitted) -> Reply {
    let (page, part) = P::page(&at, &Asked::default());
    let form = page.rotation.as_ref().ok_or_else(|| Problem::no("secret"))?;
    let rotated = rotated(&part, form, &submitted, at.session.now());
    let saved = put::<P>(&at, rotated, "replaced").await;
    saved.or_else(|error| page.refuse_rotation(&submitted, error, P::NAME))
}

async fn remove<P: PartOf>(at: At<P::Of>) -> Reply {
    Ok(put::<P>(&at, Ok(Value::Null), "saved").await?)
}

#[derive(Template)]
#[template(path = "part.html")]
pub(super) struct Part {
    pub(super) frame: Frame,
    pub(super) lead: &'static str,
    pub(super) chooser: Option<Chooser>,
    pub(super) notes: Vec<String>,
    /// What to read about it, and where.
    pub(super) docs: Option<(&'static str, String)>,
    /// None until something is chosen.
    pub(super) form: Option<Form>,
    pub(super) rotation: Option<Form>,
    pub(super) test: Option<Test>,
    pub(super) remove: Option<Remove>,
}

/// What the fields depend on.
pub(super) struct Chooser {
    pub(super) action: String,
    pub(super) label: &'static str,
    pub(super) name: &'static str,
    pub(super) options: Vec<(String, String)>,
    pub(super) chosen: String,
}

/// Stored webhooks to test with, and what came of one.
pub(super) struct Test {
    pub(super) action: String,
    pub(super) logs: Vec<(String, String, bool)>,
    pub(super) verdict: Option<Verdict>,
    pub(super) error: Option<String>,
}

/// What is said of one signature.
pub(super) struct Verdict {
    pub(super) mark: Mark,
    pub(super) said: String,
    pub(super) signed: String,
}

impl Part {
    pub(super) fn new(frame: Frame, lead: &'static str) -> Self {
        Self {
            frame,
            lead,
            chooser: None,
            notes: Vec::new(),
            docs: None,
            form: None,
            rotation: None,
            test: None,
            remove: None,
        }
    }

    fn show(&self) -> Response {
        page(self)
    }

    /// The page again, with what is wrong at its field.
    fn refuse(mut self, submitted: &Submitted, error: Error) -> Reply {
        let (status, error) = refusal(error)?;
        self.form = self.form.map(|form| form.refused(submitted, &error));
        Ok(page_with(status, &self))
    }

    /// The page again, with what is wrong with a new secret for `field`.
    fn refuse_rotation(mut self, submitted: &Submitted, error: Error, field: &str) -> Reply {
        let (status, error) = refusal(error)?;
        let text = error.to_string();
        let at_new = text.strip_prefix(&format!("{field}.secrets[0].secret: "));
        let error = match at_new {
            Some(reason) => Error::invalid("new_secret", reason),
            None => error,
        };
        self.rotation = self.rotation.map(|form| form.refused(submitted, &error));
        Ok(page_with(status, &self))
    }
}

/// Rows for the secrets that are stored, as many as `stored`, and one more up to `most`.
pub(super) fn secrets(part: &str, title: &'static str, stored: usize, most: usize) -> Vec<Field> {
    let rows = (0..(stored + 1).min(most)).flat_map(|at| {
        let secret = format!("{part}.secrets.{at}.secret");
        let ends = format!("{part}.secrets.{at}.expires_at");
        let (label, ending) = match at {
            0 => (title, "Ends"),
            1 => ("A second secret", "Ends (the second)"),
            2 => ("A third secret", "Ends (the third)"),
            3 => ("A fourth secret", "Ends (the fourth)"),
            _ => ("A fifth secret", "Ends (the fifth)"),
        };
        [
            Field::secret(secret, label).help(match at < stored {
                true => "What is stored is shown by its end only; leave that to keep it.",
                false => "",
            }),
            Field::moment(ends, ending)
                .help("A day or a moment like 2026-01-31T12:00:00Z; empty for never."),
        ]
    });
    rows.collect()
}

/// How many secrets there are.
pub(super) fn count(part: &Value) -> usize {
    part["secrets"].as_array().map_or(0, Vec::len)
}

/// The form with the fields of this part, filled from what is stored.
pub(super) fn filled(form: Form, name: &str, part: &Value) -> Form {
    let mut part = part.clone();
    form::numbered(&mut part, "secrets");
    form.filled(&json!({ name: part }))
}

/// What was submitted of this part, in place of what `part` has of it.
///
/// # Errors
///
/// With the field whose text cannot be on the wire.
fn read(form: &Form, name: &str, part: &Value, submitted: &Submitted) -> Result<Value, Error> {
    let mut part = part.clone();
    if let Value::Object(fields) = &mut part {
        // The rows say all of them.
        fields.shift_remove("secrets");
    }
    let mut object = form.object(json!({ name: part }), submitted)?;
    form::listed(&mut object[name], "secrets", "secret");
    Ok(object[name].take())
}

/// The form that puts a new secret beside the present ones.
pub(super) fn rotation(action: String, now: Timestamp) -> Form {
    let until = now + Duration::from_secs(86_400);
    let until = jiff::Timestamp::from_second(until.as_secs())
        .map_or_else(|_| String::new(), |moment| moment.to_string());
    Form::new(action, "Replace").fields([
        Field::password("new_secret", "New secret").required(),
        Field::moment("until", "The present one ends")
            .help("A day or a moment like 2026-01-31T12:00:00Z.")
            .value(until),
    ])
}

/// The part with the new secret before those that have not ended, which end by then.
///
/// # Errors
///
/// With the field that cannot be read.
fn rotated(
    part: &Value,
    form: &Form,
    submitted: &Submitted,
    now: Timestamp,
) -> Result<Value, Error> {
    let typed = form.object(json!({}), submitted)?;
    let (secret, until) = (&typed["new_secret"], typed["until"].as_i64().unwrap_or_default());
    if secret.as_str().is_none_or(str::is_empty) {
        return Err(Error::invalid("new_secret", "must not be empty"));
    }
    if until <= now.as_secs() {
        return Err(Error::invalid("until", "must be later than now"));
    }
    let present = part["secrets"].as_array().cloned().unwrap_or_default().into_iter();
    let present = present.filter_map(|mut secret| {
        let ends = secret["expires_at"].as_i64().unwrap_or_default();
        secret["expires_at"] = json!(if ends == 0 { until } else { ends.min(until) });
        (ends == 0 || ends > now.as_secs()).then_some(secret)
    });
    let new = json!({"secret": secret, "expires_at": 0});
    let mut part = part.clone();
    part["secrets"] = std::iter::once(new).chain(present).collect();
    Ok(part)
}
