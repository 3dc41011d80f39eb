//! Which webhooks of an input are duplicates.

use webhook_core::model::{Extension, Input, InputSpec};

use crate::screen::{
    Asked,
    of_bucket::At,
    part::{Part, PartOf},
};

const LEAD: &str = "Providers send a webhook again when an answer was late. A duplicate is answered \
    and kept in the log, and not forwarded.";

pub(super) struct Duplicates;

impl PartOf for Duplicates {
    type Of = Input;
    const NAME: &'static str = "deduplication";

    fn page(at: &At<Input>, _: &Asked) -> (Part, InputSpec) {
        let (mut page, spec) = Part::with_form::<Self>(at, "Duplicates", LEAD);
        if !spec.deduplication.is_unset() {
            let warning = "Every webhook is forwarded, however often it comes.";
            page.offer_removal::<Self>(at, "Forward duplicates", warning);
        }
        (page, spec)
    }

    fn reset(spec: &mut InputSpec) {
        spec.deduplication = Extension::Reset;
    }
}

/// How it stands, in a few words.
pub(super) fn state(spec: &InputSpec) -> &'static str {
    match spec.deduplication.set() {
        Some(it) if it.enabled => "are not forwarded",
        _ => "are forwarded",
    }
}
