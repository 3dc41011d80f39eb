//! What becomes of an output when its destination fails.

use webhook_core::model::{Extension, Output, OutputSpec};

use crate::{
    form::Form,
    screen::{
        Asked,
        edit::Remove,
        of_bucket::At,
        part::{Part, PartOf},
    },
};

const LEAD: &str = "A destination that fails is tried less often and then not at all, and no \
    webhook uses up its attempts meanwhile. What comes waits, and leaves when the destination \
    is back.";

pub(super) struct Looking;

impl PartOf for Looking {
    type Of = Output;
    const NAME: &'static str = "health";

    fn page(at: &At<Output>, _: &Asked) -> (Part, OutputSpec) {
        let path = format!("{}/health", at.path());
        let spec = at.it.spec.clone();
        let mut page = Part::new(at.frame(format!("Health of {}", spec.name)), LEAD);
        page.form = Some(Form::new(path.as_str(), "Save").of_part(&spec, Self::NAME));
        page.remove = (!spec.health.is_unset()).then(|| {
            Remove::new(
                "Leave the destination alone",
                format!("{path}/delete"),
                "However long it fails, each webhook is tried by its own schedule.",
            )
        });
        (page, spec)
    }

    fn reset(spec: &mut OutputSpec) {
        spec.health = Extension::Reset;
    }
}

/// How it stands, in a few words.
pub(super) fn state(spec: &OutputSpec) -> &'static str {
    match spec.health.set() {
        Some(it) if it.enabled => "it is looked after",
        _ => "nobody looks after the destination",
    }
}
