//! Which webhooks of an input are duplicates.

use serde_json::Value;
use webhook_core::model::{Deduplication, Input, InputSpec};

use crate::{
    form::{Field, Form},
    screen::{
        Asked,
        edit::Remove,
        of_bucket::At,
        part::{self, Part, PartOf},
    },
};

const LEAD: &str = "Providers send a webhook again when an answer was late. A duplicate is answered \
    and kept in the log, and not forwarded.";

fn form(action: String) -> Form {
    Form::new(action, "Save").fields([
        Field::check("deduplication.enabled", "Look for duplicates"),
        Field::duration("deduplication.window", "For how long after the first")
            .help("1s to 30d; 24h when it is empty."),
        Field::parts("deduplication.key", "What is the same in duplicates").help(
            "One in each line: header X-Id, query id or payload data.id. Empty for the \
                 provider's delivery ID, or the whole content where there is none.",
        ),
        Field::check("deduplication.content", "The method, the path, the query and the body, too"),
        Field::lines("deduplication.exclude", "What of the content may differ")
            .rows(2)
            .help("One in each line, such as payload.sent_at or query.nonce."),
        Field::word("deduplication.answer", "Senders of duplicates get")
            .help("same, as the first got, or a status from 200 to 599."),
    ])
}

pub(super) struct Duplicates;

impl PartOf for Duplicates {
    type Of = Input;
    const NAME: &'static str = "deduplication";

    fn page(at: &At<Input>, _: &Asked) -> (Part, Value) {
        let path = format!("{}/deduplication", at.path());
        let (part, is_stored) = at.part::<Deduplication>("deduplication");
        let mut page = Part::new(at.frame("Duplicates"), LEAD);
        page.form = Some(part::filled(form(path.clone()), "deduplication", &part));
        page.remove = is_stored.then(|| {
            Remove::new(
                "Forward duplicates",
                format!("{path}/delete"),
                "Every webhook is forwarded, however often it comes.",
            )
        });
        (page, part)
    }
}

/// How it stands, in a few words.
pub(super) fn state(spec: &InputSpec) -> &'static str {
    match spec.deduplication.set() {
        Some(it) if it.enabled => "are not forwarded",
        _ => "are forwarded",
    }
}
