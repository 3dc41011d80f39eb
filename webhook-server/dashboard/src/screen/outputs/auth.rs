//! How requests to an output's destination are authenticated.

use serde_json::{Value, json};
use webhook_core::model::{Output, OutputSpec};

use crate::{
    form::{Field, Form},
    screen::{
        Asked,
        edit::Remove,
        of_bucket::At,
        part::{self, Chooser, Part, PartOf},
    },
};

const LEAD: &str = "Credentials that each attempt shows, put on after functions and headers.";
const KEPT: &str = "What is stored is shown by its end only; leave that to keep it.";

/// The types, and what people call them.
const TYPES: [(&str, &str); 6] = [
    ("basic", "user name and password (HTTP Basic)"),
    ("bearer", "a token (Bearer)"),
    ("api_key", "an API key"),
    ("oauth2_client_credentials", "OAuth2, by client credentials"),
    ("aws_sigv4", "AWS Signature Version 4"),
    ("gcp_service_account", "a service account of Google Cloud"),
];

/// The type that the address asks for, else the stored one; and what there is of it.
fn chosen(at: &At<Output>, asked: &Asked) -> (String, Value, bool) {
    let (stored, is_stored) = at.part::<Value>("auth");
    let at_present = stored["type"].as_str().unwrap_or_default();
    let kind = asked.get("type").unwrap_or(at_present).to_owned();
    match kind == at_present && is_stored {
        true => (kind, stored, true),
        false => (kind.clone(), json!({ "type": kind }), false),
    }
}

fn text(name: &'static str, label: &'static str) -> Field {
    Field::text(name, label)
}

fn secret(name: &'static str, label: &'static str) -> Field {
    Field::secret(name, label).help(KEPT)
}

/// The fields of a type; none for one that is not known.
fn fields(kind: &str) -> Vec<Field> {
    match kind {
        "basic" => {
            vec![text("auth.username", "User name"), secret("auth.password", "Password")]
        }
        "bearer" => vec![secret("auth.token", "Token").required()],
        "api_key" => vec![
            text("auth.name", "Name").required().help("Such as X-Api-Key."),
            Field::select("auth.in", "It goes into").options([
                ("header", "a header of this name"),
                ("query", "the query, by this name"),
            ]),
            secret("auth.value", "Key").required(),
        ],
        "oauth2_client_credentials" => vec![
            text("auth.token_url", "URL of the token").required(),
            text("auth.client_id", "Client ID").required(),
            secret("auth.client_secret", "Client secret").required(),
            Field::select("auth.client_auth", "The client shows its secret").options([
                ("client_secret_basic", "in the header Authorization"),
                ("client_secret_post", "in the form"),
            ]),
            text("auth.scope", "Scopes").help("Separated by blanks; may be empty."),
            text("auth.audience", "Audience").help("Only where the server asks for one."),
        ],
        "aws_sigv4" => vec![
            text("auth.access_key_id", "Access key ID").required(),
            secret("auth.secret_access_key", "Secret access key").required(),
            secret("auth.session_token", "Session token (temporary keys only)"),
            text("auth.region", "Region").required().help("Such as eu-central-1."),
            text("auth.service", "Service").required().help("Such as sqs, events or lambda."),
        ],
        "gcp_service_account" => vec![
            Field::secret_area("auth.service_account", "JSON key of the account")
                .required()
                .help(KEPT),
            text("auth.scope", "Scopes of an access token"),
            text("auth.target_audience", "Or: for whom an ID token is")
                .help("The address of a Cloud Run service, for example."),
        ],
        _ => Vec::new(),
    }
}

pub(super) struct Credentials;

impl PartOf for Credentials {
    type Of = Output;
    const NAME: &'static str = "auth";
    const CHOICE: &'static str = "type of credentials";

    fn page(at: &At<Output>, asked: &Asked) -> (Part, Value) {
        let path = format!("{}/auth", at.path());
        let (kind, part, is_stored) = chosen(at, asked);
        let mut page = Part::new(at.frame("Authentication"), LEAD);
        let mut fields = fields(&kind);
        if !is_stored {
            fields.iter_mut().filter(|field| field.help == KEPT).for_each(|field| field.help = "");
        }
        if !fields.is_empty() {
            let form = Form::new(format!("{path}?type={kind}"), "Save").fields(fields);
            page.form = Some(part::filled(form, "auth", &part));
        }
        page.chooser = Some(Chooser {
            action: path.clone(),
            label: "By",
            name: "type",
            options: TYPES.map(|(value, label)| (value.to_owned(), label.to_owned())).into(),
            chosen: kind,
        });
        page.remove = is_stored.then(|| {
            let warning = "The credentials are forgotten, and requests go out without.";
            Remove::new("Show no credentials", format!("{path}/delete"), warning)
        });
        (page, part)
    }
}

/// How it stands, in a few words.
pub(super) fn state(spec: &OutputSpec) -> &'static str {
    let kind = spec.auth.set().map(|auth| auth.kind.as_str());
    let known = TYPES.iter().find(|(name, _)| Some(*name) == kind);
    known.map_or("no credentials", |(_, label)| label)
}
