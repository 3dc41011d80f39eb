//! One input.

mod deduplication;
pub(super) mod signature;

use axum::Router;
use webhook_core::{
    Error,
    model::{Bucket, Function, Input, InputSpec},
};

use self::{deduplication::Duplicates, signature::Signature};
use super::{
    of_bucket::{self, At, OfBucket, link},
    part,
};
use crate::{Dashboard, form::Form, page::PartLink, session::Session};

pub(crate) fn router() -> Router<Dashboard> {
    of_bucket::router::<Input>(part::router::<Signature>().merge(part::router::<Duplicates>()))
}

impl OfBucket for Input {
    type Spec = InputSpec;
    const WORD: &'static str = "input";
    const TITLE: &'static str = "Input";
    const DELETE: &'static str = "Delete the input";
    const WARNING: &'static str = "Senders that use its address get 404 from then on.";

    fn all(bucket: &Bucket) -> &[Self] {
        &bucket.inputs
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.spec.name
    }

    fn spec(&self) -> &InputSpec {
        &self.spec
    }

    fn form(form: Form, bucket: &Bucket, functions: &[Function]) -> Form {
        let outputs = bucket.outputs.iter().map(|it| (it.id.to_string(), it.spec.name.clone()));
        let answers = [
            (String::new(), "the static answer".to_owned()),
            ("anyOutput".to_owned(), "the answer of the first output that has one".to_owned()),
        ];
        form.with("function_id", |field| field.options(function_options(functions)))
            .with("response_from_output", |field| field.options(answers.into_iter().chain(outputs)))
            .with("tls_version", |field| {
                field.options([("", "1.2"), ("1.2", "1.2 (said)"), ("1.3", "1.3")])
            })
    }

    fn parts(&self) -> Vec<PartLink> {
        vec![
            link("Signature", "signature", signature::state(&self.spec)),
            link("Duplicates", "deduplication", deduplication::state(&self.spec)),
        ]
    }

    async fn lead(at: &At<Self>) -> Result<String, Error> {
        Ok(at.session.dashboard.input_url(at.it.id))
    }

    async fn create(session: &Session, bucket: &Bucket, spec: InputSpec) -> Result<Self, Error> {
        session.admin().create_input(&session.caller, bucket.id, spec).await
    }

    async fn update(at: &At<Self>, spec: InputSpec) -> Result<Self, Error> {
        at.session.admin().update_input(&at.session.caller, at.bucket.id, at.it.id, spec).await
    }

    async fn delete(at: &At<Self>) -> Result<(), Error> {
        at.session.admin().delete_input(&at.session.caller, at.bucket.id, at.it.id).await
    }
}

/// No function, or one of these.
pub(super) fn function_options(functions: &[Function]) -> Vec<(String, String)> {
    let none = (String::new(), "none".to_owned());
    let known = functions.iter().map(|it| {
        // The script of the page goes by this mark.
        let mark = if redacts(&it.spec.payload) { " (redacts)" } else { "" };
        (it.id.to_string(), format!("{}{mark}", it.spec.name))
    });
    std::iter::once(none).chain(known).collect()
}

/// Whether a source speaks of taking something out: then a run that changes nothing is a mistake.
fn redacts(source: &str) -> bool {
    let source = source.to_ascii_lowercase();
    ["delete", "redact", "mask", "***"].iter().any(|word| source.contains(word))
}
