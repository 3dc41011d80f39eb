//! How the webhooks of an input are verified.

use webhook_core::{
    Timestamp,
    model::{
        Extension, Input, InputSpec, OnFailure, Secret, SecretSpec, SignatureCheckRequest,
        SignatureSpec, described,
        signatures::{Preset, presets},
    },
    store::LogFilter,
};

use crate::{
    form::{Field, Form},
    page::Problem,
    screen::{
        Asked,
        edit::{Remove, refusal},
        latest,
        of_bucket::At,
        part::{self, Chooser, Part, PartOf, Test, Verdict},
    },
    show,
};

const LEAD: &str = "A webhook that its provider did not sign is refused, or marked. The check comes \
    before the function and the rules, on the bytes as they arrived.";
/// How many stored webhooks there are to choose from.
const TESTED: usize = 20;

/// The provider that is asked for, else the stored one; whether it is stored; and the
/// specification with a signature of that provider.
fn chosen(at: &At<Input>, asked: &Asked) -> (String, bool, InputSpec) {
    let mut spec = at.it.spec.clone();
    let stored = spec.signature.set().map(|signature| &*signature.provider);
    let provider = asked.get("provider").or(stored).unwrap_or_default().to_owned();
    let is_stored = stored == Some(&*provider);
    if !is_stored {
        let provider = provider.clone();
        spec.signature = Extension::Set(SignatureSpec { provider, ..SignatureSpec::default() });
    }
    (provider, is_stored, spec)
}

fn providers() -> Vec<(String, String)> {
    let known = presets().iter().map(|it| (it.name.clone(), it.title.clone()));
    let own = [
        ("hmac".to_owned(), "another: an HMAC of the body".to_owned()),
        ("custom".to_owned(), "another: a scheme of your own".to_owned()),
    ];
    known.chain(own).collect()
}

/// The fields that a signature of this provider has.
fn form(action: String, spec: &InputSpec, provider: &str, preset: Option<&'static Preset>) -> Form {
    let fields: &[_] = preset.map_or(&[], |preset| &preset.fields);
    let asks = |name: &str| fields.iter().any(|field| field.name == name);
    let (is_hmac, is_custom) = (provider == "hmac", provider == "custom");
    let form = Form::new(action, "Save").of_part(spec, "signature").only(|field| {
        let name = field.name.strip_prefix("signature.").unwrap_or_default();
        match name {
            "url" => asks("url"),
            "header" | "algorithm" | "encoding" | "prefix" => is_hmac,
            "scheme" => is_custom,
            "tolerance" => preset.is_none_or(|preset| preset.timestamp) && !is_hmac,
            "challenge" => preset.is_none_or(|preset| preset.challenge) && !is_hmac,
            name if name.starts_with("secrets.") => preset.is_none() || asks("secret"),
            _ => true,
        }
    });
    fields.iter().fold(form, |form, field| match &*field.name {
        "secret" => form
            .with("signature.secrets.0.secret", |shown| shown.called(&field.title, field.required)),
        "url" => form.with("signature.url", |shown| shown.called(&field.title, field.required)),
        parameter => {
            let name = format!("signature.{parameter}");
            let value = described::get(spec, &name).unwrap_or_default();
            let shown = Field::secret(name, "").called(&field.title, field.required);
            form.fields([shown.value(value)])
        }
    })
}

pub(super) struct Signature;

impl PartOf for Signature {
    type Of = Input;
    const NAME: &'static str = "signature";
    const CHOICE: &'static str = "provider";

    fn page(at: &At<Input>, asked: &Asked) -> (Part, InputSpec) {
        let path = format!("{}/signature", at.path());
        let (provider, is_stored, spec) = chosen(at, asked);
        let preset = presets().iter().find(|preset| preset.name == provider);
        let is_known = preset.is_some() || matches!(&*provider, "hmac" | "custom");
        let mut page = Part::new(at.frame("Signature"), LEAD);
        if let Some(preset) = preset {
            page.notes.push(format!(
                "Where it is: {}. How it is made: {}.",
                preset.header, preset.algorithm
            ));
            page.docs = Some(("The provider's page about it", preset.docs.clone()));
        }
        if is_known {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("provider", &provider)
                .finish();
            page.form = Some(form(format!("{path}?{query}"), &spec, &provider, preset));
        }
        if is_stored {
            page.remove = Some(Remove::new(
                "Verify nothing",
                format!("{path}/delete"),
                "The secrets are forgotten, and every webhook is taken.",
            ));
            if spec.signature.set().is_some_and(|signature| !signature.secrets.is_empty()) {
                page.rotation = Some(part::rotation(format!("{path}/rotate"), at.session.now()));
            }
        }
        page.chooser = Some(Chooser {
            action: path,
            label: "Provider",
            name: "provider",
            options: providers(),
            chosen: provider,
        });
        (page, spec)
    }

    fn reset(spec: &mut InputSpec) {
        spec.signature = Extension::Reset;
    }

    fn rotate(spec: &mut InputSpec, secret: Secret, until: Timestamp, now: Timestamp) {
        if let Extension::Set(signature) = &mut spec.signature {
            let new = SecretSpec { secret, ..SecretSpec::default() };
            part::put_first(&mut signature.secrets, new, |it| &mut it.expires_at, until, now);
        }
    }

    async fn test(at: &At<Input>, asked: &Asked) -> Result<Option<Test>, Problem> {
        let (_, is_stored, _) = chosen(at, asked);
        if !is_stored {
            return Ok(None);
        }
        let (session, bucket, input) = (&at.session, &at.bucket, &at.it);
        let log = asked.get("log");
        let query = latest(bucket.id, TESTED);
        let mut filter = LogFilter::default();
        filter.input_id = Some(input.id);
        let found = session.admin().search_logs(&session.caller, &query, filter).await?;
        let logs = found.logs.iter().map(|log_| {
            let id = log_.delivery.id.to_string();
            let said = match log_.webhook.checks.verified {
                Some(true) => ", verified",
                Some(false) => ", not verified",
                None => "",
            };
            let (status, moment) = (show::mark(log_.delivery.status), log_.delivery.created_at);
            let label = format!("{} · {}{said}", show::moment(moment), status.word);
            let chosen = log == Some(&*id);
            (id, label, chosen)
        });
        let mut test = Test {
            action: format!("{}/signature", at.path()),
            logs: logs.collect(),
            verdict: None,
            error: None,
        };
        let Some(log) = log else { return Ok(Some(test)) };
        let log = log.parse().map_err(|_| Problem::no("webhook"))?;
        let asked = SignatureCheckRequest { log_id: Some(log), request: None };
        match session.admin().check_signature(&session.caller, bucket.id, input.id, asked).await {
            Ok(checked) => {
                let said = match (checked.verified, checked.secret_index) {
                    (true, Some(0)) => "The first secret made it.".to_owned(),
                    (true, Some(at)) => format!("Secret {} made it.", at + 1),
                    (true, None) => String::new(),
                    (false, _) => checked.reason,
                };
                let (mark, signed) =
                    (show::verified(checked.verified), checked.signed_bytes_preview);
                test.verdict = Some(Verdict { mark, said, signed });
            }
            Err(error) => test.error = Some(refusal(error)?.1.to_string()),
        }
        Ok(Some(test))
    }
}

/// How it stands, in a few words.
pub(in crate::screen) fn state(spec: &InputSpec) -> String {
    let Some(signature) = spec.signature.set() else { return "not verified".to_owned() };
    let known = presets().iter().find(|preset| preset.name == signature.provider);
    let name = known.map_or(&signature.provider, |preset| &preset.title);
    match (signature.enabled, signature.on_failure) {
        (false, _) => format!("{name}, switched off"),
        (true, OnFailure::Reject) => format!("{name}, others are refused"),
        (true, OnFailure::Mark) => format!("{name}, others are marked"),
    }
}
