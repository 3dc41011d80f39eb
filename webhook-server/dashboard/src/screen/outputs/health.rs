//! What becomes of an output when its destination fails.

use webhook_core::model::{Extension, Output, OutputSpec};

use crate::screen::{
    Asked,
    of_bucket::At,
    part::{Part, PartOf},
};

const LEAD: &str = "A destination that fails is tried less often and then not at all, and no \
    webhook uses up its attempts meanwhile. What comes waits, and leaves when the destination \
    is back.";

pub(super) struct Looking;

impl PartOf for Looking {
    type Of = Output;
    const NAME: &'static str = "health";

    fn page(at: &At<Output>, _: &Asked) -> (Part, OutputSpec) {
        let title = format!("Health of {}", at.it.spec.name);
        let (mut page, spec) = Part::with_form::<Self>(at, title, LEAD);
        if !spec.health.is_unset() {
            let warning = "However long it fails, each webhook is tried by its own schedule.";
            page.offer_removal::<Self>(at, "Leave the destination alone", warning);
        }
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
