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
use webhook_core::{
    Error, Timestamp,
    model::{Described, Secret, described},
};

use super::{
    Asked, done,
    edit::{Remove, refusal},
    of_bucket::{At, OfBucket},
};
use crate::{
    Dashboard,
    form::{Field, Form, Kind, Submitted},
    page::{Frame, Problem, Reply, page, page_with},
    show::Mark,
};

/// A part of an input or an output that has a page of its own: the object in one of its fields.
pub(super) trait PartOf: 'static {
    type Of: OfBucket;
    /// Its field, and the end of the address of its page.
    const NAME: &'static str;
    /// The missing choice, for the error of a page without a form.
    const CHOICE: &'static str = "page";

    /// The page, and the specification with what is stored of the part, or with what a new one
    /// begins with.
    fn page(at: &At<Self::Of>, asked: &Asked) -> (Part, SpecOf<Self>);

    /// The address of the page.
    fn path(at: &At<Self::Of>) -> String {
        format!("{}/{}", at.path(), Self::NAME)
    }

    /// Takes the part away.
    fn reset(spec: &mut SpecOf<Self>);

    /// Puts a new secret before the present ones, which end at `until`.
    fn rotate(_: &mut SpecOf<Self>, _new: Secret, _until: Timestamp, _now: Timestamp) {}

    /// What it says of stored webhooks.
    fn test(
        _: &At<Self::Of>,
        _: &Asked,
    ) -> impl Future<Output = Result<Option<Test>, Problem>> + Send {
        std::future::ready(Ok(None))
    }
}

/// The specification that has a part.
pub(super) type SpecOf<P> = <<P as PartOf>::Of as OfBucket>::Spec;

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

/// Stores the specification with its part.
async fn put<P: PartOf>(at: &At<P::Of>, spec: SpecOf<P>, what: &str) -> Result<Response, Error> {
    P::Of::update(at, spec).await?;
    Ok(done(&format!("{}/{}", at.place(), P::NAME), what))
}

async fn save<P: PartOf>(at: At<P::Of>, asked: Asked, submitted: Submitted) -> Reply {
    let (page, mut spec) = P::page(&at, &asked);
    let form = page.form.as_ref().ok_or_else(|| Problem::no(P::CHOICE))?;
    let saved = match form.read(&mut spec, &submitted) {
        Ok(()) => put::<P>(&at, spec, "saved").await,
        Err(error) => Err(error),
    };
    saved.or_else(|error| page.refuse(&submitted, error))
}

/// Puts a new secret next to the stored ones.
async fn rotate<P: PartOf>(at: At<P::Of>, submitted: Submitted) -> Reply {
    let (page, mut spec) = P::page(&at, &Asked::default());
    let form = page.rotation.as_ref().ok_or_else(|| Problem::no("secret"))?;
    let now = at.session.now();
    let mut rotation = Rotation::default();
    let saved = match form.read(&mut rotation, &submitted).and_then(|()| rotation.check(now)) {
        Ok(()) => {
            P::rotate(&mut spec, rotation.new_secret, rotation.until, now);
            put::<P>(&at, spec, "replaced").await
        }
        Err(error) => Err(error),
    };
    saved.or_else(|error| page.refuse_rotation(&submitted, error, P::NAME))
}

async fn remove<P: PartOf>(at: At<P::Of>) -> Reply {
    let mut spec = at.it.spec().clone();
    P::reset(&mut spec);
    Ok(put::<P>(&at, spec, "saved").await?)
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

    /// A page with the form of the part, and the specification that it edits.
    pub(super) fn with_form<P: PartOf>(
        at: &At<P::Of>,
        title: impl Into<String>,
        lead: &'static str,
    ) -> (Self, SpecOf<P>) {
        let spec = at.it.spec().clone();
        let mut page = Self::new(at.frame(title), lead);
        page.form = Some(Form::new(P::path(at), "Save").of_part(&spec, P::NAME));
        (page, spec)
    }

    /// Offers to take the part away.
    pub(super) fn offer_removal<P: PartOf>(
        &mut self,
        at: &At<P::Of>,
        label: &'static str,
        warning: &'static str,
    ) {
        self.remove = Some(Remove::new(label, format!("{}/delete", P::path(at)), warning));
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

/// The form that puts a new secret beside the present ones.
pub(super) fn rotation(action: String, now: Timestamp) -> Form {
    let rotation = Rotation { until: now + Duration::from_secs(86_400), ..Rotation::default() };
    Form::new(action, "Replace")
        .of(&rotation)
        .with("new_secret", |field| Field { kind: Kind::Password, ..field })
}

/// A new secret.
#[derive(Default, Described)]
struct Rotation {
    /// The new secret.
    #[field(label = "New secret", required, brief)]
    new_secret: Secret,
    /// A day or a moment like 2026-01-31T12:00:00Z.
    #[field(label = "The present one ends")]
    until: Timestamp,
}

impl Rotation {
    fn check(&self, now: Timestamp) -> Result<(), Error> {
        described::check(self, "")?;
        match self.until <= now {
            true => Err(Error::invalid("until", "must be later than now")),
            false => Ok(()),
        }
    }
}

/// Puts a new secret before the secrets that have not ended, which end at `until`.
pub(super) fn put_first<T>(
    secrets: &mut Vec<T>,
    new: T,
    end_of: impl Fn(&mut T) -> &mut Timestamp,
    until: Timestamp,
    now: Timestamp,
) {
    secrets.retain_mut(|secret| {
        let end = end_of(secret);
        let is_over = *end != Timestamp::default() && *end <= now;
        *end = if *end == Timestamp::default() { until } else { until.min(*end) };
        !is_over
    });
    secrets.insert(0, new);
}
