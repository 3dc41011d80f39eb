//! A scheme, secrets and parameters, checked and made ready.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use crate::{
    Field, Invalid, KeyEncoding, Now, Scheme, Secret,
    builder::{Provider, VerifierBuilder},
    challenge::{CompiledHandshake, for_each_text},
    check::{check_handshake, check_scheme, template},
    key::{self, Key},
    preset::{self, Need},
    template::{Reference, Template},
};

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
    expires_at: Option<Now>,
}

impl CompiledSecret {
    pub(crate) fn is_valid(&self, now: Now) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

/// The scheme of a verifier, and what the provider needs.
fn scheme_of(provider: &Provider) -> Result<(Scheme, Need), Invalid> {
    match provider {
        Provider::Custom(scheme) => {
            let keyless = scheme.key.encoding == KeyEncoding::Certificate
                || scheme.key.encoding == KeyEncoding::Jwks && scheme.key.post.is_none();
            let secrets = match (keyless, scheme.learns_secret()) {
                (true, _) => preset::Secrets::None,
                (_, true) => preset::Secrets::Learned,
                _ => preset::Secrets::Required,
            };
            let parameters = parameters_of(scheme)?;
            Ok((scheme.as_ref().clone(), Need { secrets, parameters }))
        }
        Provider::Preset(name) => match preset::find(name) {
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

pub(crate) fn compile(builder: &VerifierBuilder) -> Result<Compiled, Invalid> {
    let (scheme, need) = scheme_of(&builder.provider)?;
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
        tolerance: tolerance(builder.tolerance.as_nanos(), &scheme)?,
        uses_secret: signed.refers_to(&Reference::Secret),
        secrets: secrets(&builder.secrets, &scheme, need.secrets)?,
        parameters: parameters(&builder.parameters, &need.parameters)?,
        url: url(&builder.url)?,
        handshakes: if builder.challenges { handshakes } else { Vec::new() },
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
    written: &[(Secret, Option<Now>)],
    scheme: &Scheme,
    need: preset::Secrets,
) -> Result<Vec<CompiledSecret>, Invalid> {
    if written.is_empty() && need == preset::Secrets::Required {
        return Err(Invalid::new("secrets", "needs at least one"));
    }
    if !written.is_empty() && need == preset::Secrets::None {
        return Err(Invalid::new("secrets", "must be empty: the provider's key is fetched"));
    }
    let compile = |(index, (secret, expires_at)): (usize, &(Secret, Option<Now>))| {
        let field = format!("secrets[{index}].secret");
        let invalid = |reason: &str| Invalid::new(&field, reason);
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
