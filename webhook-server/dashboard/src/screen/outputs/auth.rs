//! How requests to an output's destination are authenticated.

use webhook_core::{
    credentials::AuthSpec,
    model::{Described, Extension, Output, OutputSpec},
};

use crate::{
    form::Form,
    screen::{
        Asked,
        edit::Remove,
        of_bucket::At,
        part::{Chooser, Part, PartOf},
    },
};

const LEAD: &str = "Credentials that each attempt shows, put on after functions and headers.";

pub(super) struct Credentials;

impl PartOf for Credentials {
    type Of = Output;
    const NAME: &'static str = "auth";
    const CHOICE: &'static str = "type of credentials";

    /// The type is the one that the address asks for, else the stored one.
    fn page(at: &At<Output>, asked: &Asked) -> (Part, OutputSpec) {
        let path = format!("{}/auth", at.path());
        let mut spec = at.it.spec.clone();
        let stored = spec.auth.set().map(|auth| auth.kind());
        let kind = asked.get("type").or(stored).unwrap_or_default().to_owned();
        let is_stored = stored == Some(&*kind);
        let mut page = Part::new(at.frame("Authentication"), LEAD);
        let mut auth = spec.auth.set().cloned().unwrap_or_default();
        let is_known = is_stored || auth.set_kind(&kind);
        if is_known {
            spec.auth = Extension::Set(auth);
        }
        // Nothing has no fields.
        if is_known && kind != AuthSpec::default().kind() {
            let form = Form::new(format!("{path}?type={kind}"), "Save");
            page.form = Some(form.of_part(&spec, Self::NAME));
        }
        let kinds = AuthSpec::default().kinds().iter().skip(1);
        page.chooser = Some(Chooser {
            action: path.clone(),
            label: "By",
            name: "type",
            options: kinds.map(|(name, label)| ((*name).to_owned(), (*label).to_owned())).collect(),
            chosen: kind,
        });
        page.remove = is_stored.then(|| {
            let warning = "The credentials are forgotten, and requests go out without.";
            Remove::new("Show no credentials", format!("{path}/delete"), warning)
        });
        (page, spec)
    }

    fn reset(spec: &mut OutputSpec) {
        spec.auth = Extension::Reset;
    }
}

/// How it stands, in a few words.
pub(super) fn state(spec: &OutputSpec) -> &'static str {
    let Some(auth) = spec.auth.set().filter(|auth| **auth != AuthSpec::default()) else {
        return "no credentials";
    };
    let kind = auth.kinds().iter().find(|(name, _)| *name == auth.kind());
    kind.map_or("no credentials", |(_, label)| label)
}
