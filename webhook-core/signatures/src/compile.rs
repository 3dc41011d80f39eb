//! What an account wrote, checked and made ready.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;
use webhook_wire::{Timestamp, described};

use crate::{
    Field, Invalid, KeyEncoding, Now, Scheme, Secret, SecretSpec, SignatureField, SignatureSpec,
    Source,
    challenge::{CompiledHandshake, for_each_text},
    check::{check_handshake, check_name, check_scheme, template},
    key::{self, Key},
    preset::{self, Need},
    template::{Reference, Template},
};

/// The field of an input that has a signature.
const PLACE: &str = "signature.";
const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;
const MAX_PARAMETER_BYTES: usize = 1024;

/// A scheme, secrets and parameters that fit together.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) scheme: Scheme,
    pub(crate) signature: Field,
    pub(crate) timestamp: Option<Field>,
    /// In nanoseconds.
    pub(crate) tolerance: i128,
    pub(crate) signed: Template,
    pub(crate) uses_secret: bool,
    pub(crate) key_url: Template,
    pub(crate) secrets: Vec<CompiledSecret>,
    pub(crate) parameters: BTreeMap<String, Secret>,
    pub(crate) url: String,
    pub(crate) handshakes: Vec<CompiledHandshake>,
}

#[derive(Debug)]
pub(crate) struct CompiledSecret {
    pub(crate) key: Key,
    expires_at: Timestamp,
}

impl CompiledSecret {
    pub(crate) fn is_valid(&self, now: Now) -> bool {
        let ends = Now::from_unix_seconds(self.expires_at.as_secs());
        self.expires_at == Timestamp::default() || now < ends
    }
}

impl SignatureSpec {
    /// Checks all that is written here, for somebody who writes it at this moment.
    ///
    /// # Errors
    ///
    /// What [`Verifier::new`](crate::Verifier::new) refuses, and secrets of which none is
    /// valid any more.
    pub fn check(&self, now: Now) -> Result<(), Invalid> {
        let compiled = compile(self)?;
        match compiled.secrets.iter().rposition(|secret| secret.is_valid(now)) {
            None if !compiled.secrets.is_empty() => {
                let last = compiled.secrets.len() - 1;
                let field = format!("secrets[{last}].expires_at");
                let reason = "is in the past, and no other secret is valid";
                Err(Invalid::new(field, reason).below(PLACE))
            }
            _ => Ok(()),
        }
    }
}

/// The scheme of a spec, and what the provider needs.
fn scheme_of(spec: &SignatureSpec) -> Result<(Scheme, Need), Invalid> {
    let SignatureSpec { provider, scheme, header, algorithm, encoding, prefix, .. } = spec;
    if provider != "custom" && scheme.is_some() {
        return Err(Invalid::new("scheme", "is for the provider custom"));
    }
    if provider != "hmac" {
        let set = [
            ("header", !header.is_empty()),
            ("algorithm", algorithm.is_some()),
            ("encoding", encoding.is_some()),
            ("prefix", !prefix.is_empty()),
        ];
        if let Some((field, _)) = set.iter().find(|(_, is_set)| *is_set) {
            return Err(Invalid::new(*field, "is for the provider hmac"));
        }
    }
    match provider.as_str() {
        "" => Err(Invalid::new("provider", "is missing")),
        "custom" => {
            let scheme = scheme.clone();
            let scheme = scheme.ok_or_else(|| Invalid::new("scheme", "is missing"))?;
            let keyless = scheme.key.encoding == KeyEncoding::Certificate
                || scheme.key.encoding == KeyEncoding::Jwks && scheme.key.post.is_none();
            let secrets = match (keyless, scheme.learns_secret()) {
                (true, _) => preset::Secrets::None,
                (_, true) => preset::Secrets::Learned,
                _ => preset::Secrets::Required,
            };
            let parameters = parameters_of(&scheme)?;
            Ok((scheme, Need { secrets, parameters }))
        }
        "hmac" => {
            if header.is_empty() {
                return Err(Invalid::new("header", "is missing"));
            }
            let algorithm = algorithm.unwrap_or_default();
            if algorithm.hmac().is_none() {
                return Err(Invalid::new("algorithm", "is not hmac-sha1, -sha256 or -sha512"));
            }
            let signature = SignatureField {
                name: header.clone(),
                prefix: prefix.clone(),
                encoding: encoding.unwrap_or_default(),
                ..SignatureField::default()
            };
            let scheme = Scheme::of_body(signature, algorithm);
            // Said of the field that the account wrote.
            check_name(Source::Header, header, "header")?;
            Ok((scheme, Need::default()))
        }
        name => match preset::find(name) {
            Some(preset) => Ok((preset.shown.scheme.clone(), preset.need.clone())),
            None => Err(Invalid::new("provider", format!("no provider has the name {name:?}"))),
        },
    }
}

/// The parameters that a scheme refers to; required is what stands in a template.
fn parameters_of(scheme: &Scheme) -> Result<BTreeMap<String, bool>, Invalid> {
    let mut parameters = BTreeMap::new();
    let mut templates =
        vec![("scheme.signed", &scheme.signed), ("scheme.key.url", &scheme.key.url)];
    let posted = texts(scheme.key.post.as_ref());
    templates.extend(posted.iter().map(|text| ("scheme.key.post", text)));
    for (field, template) in templates {
        let template = Template::parse(template).map_err(|reason| Invalid::new(field, reason))?;
        for reference in template.references() {
            if let Reference::Parameter(name) = reference {
                parameters.insert(name.clone(), true);
            }
        }
    }
    let when = scheme.challenges.iter().flat_map(|handshake| &handshake.when);
    for condition in scheme.require.iter().chain(when) {
        if let Some(name) = &condition.parameter {
            parameters.entry(name.clone()).or_insert(false);
        }
    }
    for answer in scheme.challenges.iter().map(|handshake| &handshake.answer) {
        let json = texts(answer.json.as_ref());
        for template in answer.headers.values().chain([&answer.text]).chain(&json) {
            for reference in Template::parse(template).unwrap_or_default().references() {
                if let Reference::Parameter(name) = reference {
                    parameters.entry(name.clone()).or_insert(false);
                }
            }
        }
    }
    Ok(parameters)
}

/// All text values in a JSON value.
fn texts(value: Option<&Value>) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(mut value) = value.cloned() {
        for_each_text(&mut value, &mut |text| texts.push(text.clone()));
    }
    texts
}

pub(crate) fn compile(spec: &SignatureSpec) -> Result<Compiled, Invalid> {
    compiled(spec).map_err(|invalid| invalid.below(PLACE))
}

fn compiled(spec: &SignatureSpec) -> Result<Compiled, Invalid> {
    described::check(spec, "")?;
    let (scheme, need) = scheme_of(spec)?;
    let signed = check_scheme(&scheme)?;
    let handshakes: Result<Vec<_>, _> = scheme
        .challenges
        .iter()
        .enumerate()
        .map(|(index, handshake)| {
            let field = format!("scheme.challenges[{index}]");
            check_handshake(handshake, &scheme, &signed, &field)
        })
        .collect();
    let handshakes = handshakes?;
    let key_url = template(&scheme.key.url, "scheme.key.url")?;
    Ok(Compiled {
        signature: Field::from(&scheme.signature),
        timestamp: scheme.timestamp.as_ref().map(Field::from),
        tolerance: tolerance(spec.tolerance.as_nanos(), &scheme)?,
        uses_secret: signed.refers_to(&Reference::Secret),
        secrets: secrets(&spec.secrets, &scheme, need.secrets)?,
        parameters: parameters(&spec.parameters, &need.parameters)?,
        url: url(&spec.url)?,
        handshakes: if spec.challenge { handshakes } else { Vec::new() },
        signed,
        key_url,
        scheme,
    })
}

fn tolerance(written: u128, scheme: &Scheme) -> Result<i128, Invalid> {
    let allowed = SECOND..=DAY;
    let preset = scheme.timestamp.as_ref().map(|timestamp| timestamp.tolerance);
    if !preset.is_none_or(|preset| preset == 0 || allowed.contains(&preset)) {
        let reason = "must be between one second and one day, in nanoseconds";
        return Err(Invalid::new("scheme.timestamp.tolerance", reason));
    }
    match written {
        0 => Ok(preset.filter(|&preset| preset != 0).unwrap_or(300 * SECOND).into()),
        _ if preset.is_none() => Err(Invalid::new(
            "tolerance",
            "is for schemes with a signed timestamp, and this has none",
        )),
        written => Ok(i128::try_from(written).unwrap_or(i128::MAX)),
    }
}

fn secrets(
    written: &[SecretSpec],
    scheme: &Scheme,
    need: preset::Secrets,
) -> Result<Vec<CompiledSecret>, Invalid> {
    if written.is_empty() && need == preset::Secrets::Required {
        return Err(Invalid::new("secrets", "needs at least one"));
    }
    if !written.is_empty() && need == preset::Secrets::None {
        return Err(Invalid::new("secrets", "must be empty: the provider's key is fetched"));
    }
    let compile = |(index, written): (usize, &SecretSpec)| {
        let field = format!("secrets[{index}].secret");
        let invalid = |reason: &str| Invalid::new(&field, reason);
        let SecretSpec { secret, expires_at } = written;
        if secret.is_empty() {
            return Err(invalid("is missing"));
        }
        let algorithms =
            scheme.algorithm_by.iter().flat_map(|by| by.values.values()).chain([&scheme.algorithm]);
        for algorithm in algorithms {
            key::read(secret, *algorithm, scheme.key.encoding).map_err(invalid)?;
        }
        let key = key::read(secret, scheme.algorithm, scheme.key.encoding).map_err(invalid)?;
        Ok(CompiledSecret { key, expires_at: *expires_at })
    };
    written.iter().enumerate().map(compile).collect()
}

fn parameters(
    written: &BTreeMap<String, Secret>,
    known: &BTreeMap<String, bool>,
) -> Result<BTreeMap<String, Secret>, Invalid> {
    for (name, value) in written {
        let invalid = |reason: &str| Err(Invalid::new(format!("parameters.{name}"), reason));
        if !known.contains_key(name) {
            return invalid("is not a parameter of this provider");
        }
        if value.is_empty() {
            return invalid("is empty");
        }
        if value.expose().len() > MAX_PARAMETER_BYTES {
            return invalid("is longer than 1 KiB");
        }
    }
    match known.iter().find(|(name, required)| **required && !written.contains_key(*name)) {
        Some((name, _)) => Err(Invalid::new(format!("parameters.{name}"), "is missing")),
        None => Ok(written.clone()),
    }
}

fn url(written: &str) -> Result<String, Invalid> {
    let is_url = || {
        let url = Url::parse(written).ok()?;
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(())
    };
    match written {
        "" => Ok(String::new()),
        _ if is_url().is_none() => Err(Invalid::new("url", "is not a URL of http or https")),
        _ => Ok(written.to_owned()),
    }
}
