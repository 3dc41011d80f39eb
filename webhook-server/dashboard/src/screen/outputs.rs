//! One output.

mod answers;
mod auth;
mod health;
mod pausing;
pub(super) mod rules;
mod signing;

use axum::{
    Router,
    routing::{get, post},
};
use webhook_core::{
    Error,
    model::{Bucket, CircuitState, Function, Output, OutputSpec, OutputState, RetrySchedule},
};

use self::{answers::Answers, auth::Credentials, health::Looking, signing::Signing};
use super::{
    inputs::function_options,
    of_bucket::{self, At, OfBucket, link},
    part,
};
use crate::{
    Dashboard,
    form::Form,
    page::{PartLink, Reply},
    session::Session,
    show,
};

pub(crate) fn router() -> Router<Dashboard> {
    let parts = Router::new()
        .route("/switch", post(switch))
        .route("/pause", post(pause))
        .route("/rules", get(rules::show).post(rules::submit))
        .route("/pausing", get(pausing::show).post(pausing::pause))
        .route("/pausing/resume", post(pausing::resume))
        .merge(part::router::<Signing>())
        .merge(part::router::<Credentials>())
        .merge(part::router::<Answers>())
        .merge(part::router::<Looking>());
    of_bucket::router::<Output>(parts)
}

impl OfBucket for Output {
    type Spec = OutputSpec;
    const WORD: &'static str = "output";
    const TITLE: &'static str = "Output";
    const DELETE: &'static str = "Delete the output";
    const WARNING: &'static str = "What waits for it is not sent any more.";

    fn all(bucket: &Bucket) -> &[Self] {
        &bucket.outputs
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.spec.name
    }

    fn spec(&self) -> &OutputSpec {
        &self.spec
    }

    /// A destination that restarts for a minute fails every webhook of three attempts.
    fn suggested() -> OutputSpec {
        let mut spec = OutputSpec::default();
        spec.durability.enabled = true;
        spec.durability.schedule = RetrySchedule::Medium;
        spec
    }

    fn form(form: Form, _: &Bucket, functions: &[Function]) -> Form {
        form.with("function_id", |field| field.options(function_options(functions)))
            .with("response_function_id", |field| field.options(function_options(functions)))
    }

    fn parts(&self) -> Vec<PartLink> {
        vec![
            link("Rules", "rules", rules::state(&self.spec)),
            link("Signing", "signing", signing::state(&self.spec)),
            link("Authentication", "auth", auth::state(&self.spec)),
            link("Answers", "outcomes", answers::state(&self.spec)),
            link("Health", "health", health::state(&self.spec)),
            link("Pausing", "pausing", "until when, and how fast it resumes"),
        ]
    }

    async fn lead(at: &At<Self>) -> Result<String, Error> {
        let admin = at.session.admin();
        let state = admin.output_state(&at.session.caller, at.bucket.id, at.it.id).await?;
        Ok(standing(&state))
    }

    async fn create(session: &Session, bucket: &Bucket, spec: OutputSpec) -> Result<Self, Error> {
        session.admin().create_output(&session.caller, bucket.id, spec).await
    }

    async fn update(at: &At<Self>, spec: OutputSpec) -> Result<Self, Error> {
        at.session.admin().update_output(&at.session.caller, at.bucket.id, at.it.id, spec).await
    }

    async fn delete(at: &At<Self>) -> Result<(), Error> {
        at.session.admin().delete_output(&at.session.caller, at.bucket.id, at.it.id).await
    }
}

/// What waits for an output, and whether it is tried, in a sentence or two.
fn standing(state: &OutputState) -> String {
    let mut text = match (state.waiting, state.oldest_waiting_at) {
        (0, _) => "Nothing waits for it.".to_owned(),
        (waiting, None) => format!("{waiting} webhooks wait for it."),
        (1, Some(since)) => format!("1 webhook waits for it since {}.", show::moment(since)),
        (waiting, Some(since)) => {
            format!("{waiting} webhooks wait for it, the oldest since {}.", show::moment(since))
        }
    };
    match (state.circuit, state.circuit_tries_at) {
        (CircuitState::Open, Some(again)) => {
            let again = show::moment(again);
            text.push_str(&format!(" Most attempts fail: none is made before {again}."));
        }
        (CircuitState::Open | CircuitState::HalfOpen, _) => {
            text.push_str(" Most attempts failed: one at a time tries the destination.");
        }
        _ => {}
    }
    if let Some(since) = state.slow_since {
        let since = show::moment(since);
        text.push_str(&format!(
            " Each attempt has failed since {since}: at most 2 a second are made until one succeeds."
        ));
    }
    text
}

/// Disables an output, or enables it again.
async fn switch(at: At<Output>) -> Reply {
    let mut spec = at.it.spec.clone();
    spec.disabled = !spec.disabled;
    Output::update(&at, spec).await?;
    Ok(at.done("saved"))
}

/// Pauses an output, or resumes it.
async fn pause(at: At<Output>) -> Reply {
    let (admin, caller, id) = (at.session.admin(), &at.session.caller, at.it.id);
    match at.it.pauses.current(at.session.now()) {
        Some(_) => admin.resume_output(caller, at.bucket.id, id, Default::default()).await?,
        None => admin.pause_output(caller, at.bucket.id, id, Default::default()).await?,
    };
    Ok(at.done("saved"))
}
