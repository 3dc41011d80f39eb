//! What becomes of an output when its destination fails.

use serde_json::Value;
use webhook_core::model::{Health, Output, OutputSpec};

use crate::{
    form::{Field, Form},
    screen::{
        Asked,
        edit::Remove,
        of_bucket::At,
        part::{self, Part, PartOf},
    },
};

const LEAD: &str = "A destination that fails is tried less often and then not at all, and no \
    webhook uses up its attempts meanwhile. What comes waits, and leaves when the destination \
    is back.";

fn form(action: String) -> Form {
    Form::new(action, "Save")
        .fields([
            Field::check("health.enabled", "Look after the destination"),
            Field::limit("health.notify_after", "Tell that it fails after")
                .help("1m to 30d, or never; 1h when it is empty. Notifications are told."),
            Field::limit("health.pause_after", "Pause the output after").help(
                "12h to 90d, or never; 5d when it is empty. The oldest webhook is tried once \
                     an hour, and the pause ends when that is sent.",
            ),
            Field::check(
                "health.pause_on_gone",
                "Pause it when the destination answers 410 (Gone), until somebody resumes it",
            ),
        ])
        .section("When most attempts fail")
        .fields([
            Field::check("health.circuit.enabled", "Try with one webhook at a time"),
            Field::number("health.circuit.failures", "After so many failures")
                .help("1 to 1000; 20 when it is empty."),
            Field::decimal("health.circuit.ratio", "Which are this part of all")
                .help("Over 0, at most 1; 0.7 when it is empty."),
            Field::duration("health.circuit.window", "Within")
                .help("1s to 1h; 1m when it is empty."),
            Field::duration("health.circuit.open_for", "Wait before the next try")
                .help("1s to 1h; 30s when it is empty. Twice as long after each that fails."),
            Field::duration("health.circuit.max_open_for", "At most so long")
                .help("Up to 1h; 5m when it is empty."),
        ])
}

pub(super) struct Looking;

impl PartOf for Looking {
    type Of = Output;
    const NAME: &'static str = "health";

    fn page(at: &At<Output>, _: &Asked) -> (Part, Value) {
        let path = format!("{}/health", at.path());
        let (part, is_stored) = at.part::<Health>("health");
        let mut page = Part::new(at.frame(format!("Health of {}", at.it.spec.name)), LEAD);
        page.form = Some(part::filled(form(path.clone()), "health", &part));
        page.remove = is_stored.then(|| {
            Remove::new(
                "Leave the destination alone",
                format!("{path}/delete"),
                "However long it fails, each webhook is tried by its own schedule.",
            )
        });
        (page, part)
    }
}

/// How it stands, in a few words.
pub(super) fn state(spec: &OutputSpec) -> &'static str {
    match spec.health.set() {
        Some(it) if it.enabled => "it is looked after",
        _ => "nobody looks after the destination",
    }
}
