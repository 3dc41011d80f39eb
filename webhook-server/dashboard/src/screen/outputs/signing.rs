//! How what an output sends is signed.

use webhook_core::{
    Timestamp,
    credentials::SigningSecret,
    model::{Extension, Output, OutputSpec, Secret},
};

use crate::screen::{
    Asked,
    of_bucket::At,
    part::{self, Part, PartOf},
};

const LEAD: &str = "Receivers verify by the signature that a webhook came from here, as it is.";

pub(super) struct Signing;

impl PartOf for Signing {
    type Of = Output;
    const NAME: &'static str = "signing";

    fn page(at: &At<Output>, _: &Asked) -> (Part, OutputSpec) {
        let (mut page, spec) = Part::with_form::<Self>(at, "Signing", LEAD);
        if !spec.signing.is_unset() {
            let warning =
                "The secrets are forgotten. Receivers that verify refuse what comes then.";
            page.offer_removal::<Self>(at, "Sign nothing", warning);
            let rotation = format!("{}/rotate", Self::path(at));
            page.rotation = Some(part::rotation(rotation, at.session.now()));
        }
        (page, spec)
    }

    fn reset(spec: &mut OutputSpec) {
        spec.signing = Extension::Reset;
    }

    fn rotate(spec: &mut OutputSpec, secret: Secret, until: Timestamp, now: Timestamp) {
        if let Extension::Set(signing) = &mut spec.signing {
            let new = SigningSecret { secret, ..SigningSecret::default() };
            part::put_first(&mut signing.secrets, new, |it| &mut it.expires_at, until, now);
        }
    }
}

/// How it stands, in a few words.
pub(super) fn state(spec: &OutputSpec) -> &'static str {
    match spec.signing.set() {
        None => "not signed",
        Some(signing) if signing.enabled => "signed",
        Some(_) => "switched off",
    }
}
