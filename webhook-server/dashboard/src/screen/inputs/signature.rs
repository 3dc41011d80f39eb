//! How the webhooks of an input are verified.

use serde_json::{Value, json};
use webhook_core::{
    model::{
        Input, InputSpec, SignatureCheckRequest,
        signatures::{OnFailure, Preset, SignatureSpec, presets},
    },
    store::LogFilter,
};

use crate::{
    form::{Field, Form, json_of},
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
const MAX_SECRETS: usize = 5;
/// How many stored webhooks there are to choose from.
const TESTED: usize = 20;

/// What the address of the page says.
struct Chosen {
    provider: String,
    /// What is stored of this provider, or what a new one begins with.
    part: Value,
    is_stored: bool,
}

/// The provider that is asked for; else the one that is stored.
fn chosen(at: &At<Input>, asked: &Asked) -> Chosen {
    let (stored, is_stored) = at.part::<Value>("signature");
    let at_present = stored["provider"].as_str().unwrap_or_default();
    let provider = asked.get("provider").unwrap_or(at_present).to_owned();
    let is_stored = is_stored && provider == at_present;
    let part = match is_stored {
        true => stored,
        false => {
            let mut new = json_of(&SignatureSpec::default());
            new["provider"] = json!(provider);
            new
        }
    };
    Chosen { provider, part, is_stored }
}

fn providers() -> Vec<(String, String)> {
    let known = presets().iter().map(|it| (it.name.clone(), it.title.clone()));
    let own = [
        ("hmac".to_owned(), "another: an HMAC of the body".to_owned()),
        ("custom".to_owned(), "another: a scheme of your own".to_owned()),
    ];
    known.chain(own).collect()
}

fn form(action: String, chosen: &Chosen, preset: Option<&'static Preset>) -> Form {
    let Chosen { provider, part, .. } = chosen;
    let mut fields = vec![Field::check("signature.enabled", "Verify webhooks by this")];
    let stored = part::count(part);
    match preset {
        Some(preset) => {
            for field in &preset.fields {
                let name = format!("signature.{}", field.name);
                match &*field.name {
                    "secret" => {
                        fields.extend(part::secrets(
                            "signature",
                            &field.title,
                            stored,
                            MAX_SECRETS,
                        ));
                    }
                    "url" => fields.push(Field::text(name, &field.title)),
                    _ => fields.push(Field::secret(name, &field.title)),
                }
                if let Some(last) = fields.last_mut().filter(|_| field.name != "secret") {
                    last.required = field.required;
                }
            }
        }
        None => fields.extend(part::secrets("signature", "Secret", stored, MAX_SECRETS)),
    }
    match &**provider {
        "hmac" => fields.extend(hmac_fields()),
        "custom" => fields.push(
            Field::json("signature.scheme", "Scheme")
                .rows(12)
                .help("JSON: where the signature is, and what it is made of."),
        ),
        _ => {}
    }
    if preset.is_none_or(|preset| preset.timestamp) && provider != "hmac" {
        fields.push(
            Field::duration("signature.tolerance", "How far its time may be from now")
                .help("Such as 5m; empty for what the provider advises."),
        );
    }
    fields.push(Field::select("signature.on_failure", "What is not verified").options([
        ("reject", "is refused with 401 and not forwarded"),
        ("mark", "is forwarded, and marked in the log"),
    ]));
    if preset.is_none_or(|preset| preset.challenge) && provider != "hmac" {
        let label = "Answer the provider's handshake";
        fields.push(Field::check("signature.challenge", label));
    }
    part::filled(Form::new(action, "Save").fields(fields), "signature", part)
}

fn hmac_fields() -> [Field; 4] {
    let algorithms = ["hmac-sha256", "hmac-sha1", "hmac-sha512"].map(|name| (name, name));
    let encodings = ["hex", "base64", "base64url"].map(|name| (name, name));
    [
        Field::text("signature.header", "Header of the signature").required(),
        Field::select("signature.algorithm", "Algorithm").options(algorithms),
        Field::select("signature.encoding", "Written as").options(encodings),
        Field::text("signature.prefix", "Begins with").help("Such as sha256="),
    ]
}

pub(super) struct Signature;

impl PartOf for Signature {
    type Of = Input;
    const NAME: &'static str = "signature";
    const CHOICE: &'static str = "provider";

    fn page(at: &At<Input>, asked: &Asked) -> (Part, Value) {
        let path = format!("{}/signature", at.path());
        let chosen = chosen(at, asked);
        let preset = presets().iter().find(|preset| preset.name == chosen.provider);
        let is_known = preset.is_some() || matches!(&*chosen.provider, "hmac" | "custom");
        let mut page = Part::new(at.frame("Signature"), LEAD);
        page.chooser = Some(Chooser {
            action: path.clone(),
            label: "Provider",
            name: "provider",
            options: providers(),
            chosen: chosen.provider.clone(),
        });
        if let Some(preset) = preset {
            page.notes.push(format!(
                "Where it is: {}. How it is made: {}.",
                preset.header, preset.algorithm
            ));
            page.docs = Some(("The provider's page about it", preset.docs.clone()));
        }
        if is_known {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("provider", &chosen.provider)
                .finish();
            page.form = Some(form(format!("{path}?{query}"), &chosen, preset));
        }
        if chosen.is_stored {
            page.remove = Some(Remove::new(
                "Verify nothing",
                format!("{path}/delete"),
                "The secrets are forgotten, and every webhook is taken.",
            ));
            if part::count(&chosen.part) > 0 {
                page.rotation = Some(part::rotation(format!("{path}/rotate"), at.session.now()));
            }
        }
        (page, chosen.part)
    }

    async fn test(at: &At<Input>, asked: &Asked) -> Result<Option<Test>, Problem> {
        if !chosen(at, asked).is_stored {
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
