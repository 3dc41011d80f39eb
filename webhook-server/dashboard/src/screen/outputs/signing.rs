//! How what an output sends is signed.

use serde_json::Value;
use webhook_core::model::{Output, OutputSpec, credentials::SigningSpec};

use crate::{
    form::{Field, Form},
    screen::{
        Asked,
        edit::Remove,
        of_bucket::At,
        part::{self, Part, PartOf},
    },
};

const LEAD: &str = "Receivers verify by the signature that a webhook came from here, as it is.";
const MAX_SECRETS: usize = 2;

fn form(action: String, stored: &Value) -> Form {
    let mut fields = vec![
        Field::check("signing.enabled", "Sign what is sent"),
        Field::select("signing.format", "Format").options([
            ("standard_webhooks", "Standard Webhooks: v1, and base64"),
            ("hmac_body", "HMAC-SHA-256 of the body: sha256= and hex, as GitHub"),
            ("hmac_timestamp_body", "HMAC-SHA-256 of time and body: t=…,v1=…, as Stripe"),
            ("ed25519", "Standard Webhooks by Ed25519: v1a, and base64"),
        ]),
        Field::text("signing.prefix", "Headers begin with")
            .help("webhook- when it is empty. Secrets of Standard Webhooks are whsec_ and base64 \
                   of 24 to 64 bytes, those of Ed25519 whsk_ and base64 of the seed, others any text."),
    ];
    fields.extend(part::secrets("signing", "Secret", part::count(stored), MAX_SECRETS));
    part::filled(Form::new(action, "Save").fields(fields), "signing", stored)
}

pub(super) struct Signing;

impl PartOf for Signing {
    type Of = Output;
    const NAME: &'static str = "signing";

    fn page(at: &At<Output>, _: &Asked) -> (Part, Value) {
        let path = format!("{}/signing", at.path());
        let (part, is_stored) = at.part::<SigningSpec>("signing");
        let mut page = Part::new(at.frame("Signing"), LEAD);
        page.form = Some(form(path.clone(), &part));
        if is_stored {
            page.remove = Some(Remove::new(
                "Sign nothing",
                format!("{path}/delete"),
                "The secrets are forgotten. Receivers that verify refuse what comes then.",
            ));
            page.rotation = Some(part::rotation(format!("{path}/rotate"), at.session.now()));
        }
        (page, part)
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
