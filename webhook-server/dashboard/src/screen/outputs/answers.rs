//! Which answers of a destination are a success, and after which the relay tries again.

use webhook_core::{
    model::{Extension, Output, OutputSpec},
    rule::AnswerRules,
};

use crate::screen::{
    Asked,
    of_bucket::At,
    part::{Part, PartOf},
};

const LEAD: &str = "A 2xx is a success. After 408, 425, 429 and every 5xx but 501 and 508 the \
    webhook is sent again, by the schedule of the output. Any other answer is a failure. A code or \
    a class such as 4xx in a list below changes that; a code wins over its class.";

pub(super) struct Answers;

impl PartOf for Answers {
    type Of = Output;
    const NAME: &'static str = "outcomes";

    fn page(at: &At<Output>, _: &Asked) -> (Part, OutputSpec) {
        let title = format!("Answers to {}", at.it.spec.name);
        let (mut page, spec) = Part::with_form::<Self>(at, title, LEAD);
        page.form = page.form.map(|form| form.of_field(&spec, "success_when"));
        if has_own(&spec) {
            let warning = "The lists and the rules for a success are removed.";
            page.offer_removal::<Self>(at, "Judge answers as usual", warning);
        }
        (page, spec)
    }

    fn reset(spec: &mut OutputSpec) {
        spec.outcomes = Extension::Reset;
        spec.success_when = Some(AnswerRules::default());
    }
}

fn has_own(spec: &OutputSpec) -> bool {
    !spec.outcomes.is_unset() || spec.success_when.is_some()
}

/// How answers are judged, in a few words.
pub(super) fn state(spec: &OutputSpec) -> &'static str {
    if has_own(spec) { "judged by lists or rules of its own" } else { "judged as usual" }
}
