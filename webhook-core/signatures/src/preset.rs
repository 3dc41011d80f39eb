//! The providers whose schemes are known.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::{Algorithm, Field, Scheme, SignatureField, Source, context::describe};

/// A provider, as `GET /v1/signature-providers` shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureProvider))]
pub struct Preset {
    /// What `provider` of a `signature` is.
    pub name: String,
    /// The provider's own name.
    pub title: String,
    /// What is to be filled in.
    pub fields: Vec<PresetField>,
    /// Where the signature is: the name of a header, or in words what else it is.
    pub header: String,
    /// How it is made, as the scheme language calls it.
    pub algorithm: String,
    /// Whether a signed timestamp limits how long a request can be sent again.
    pub timestamp: bool,
    /// Whether the provider checks an address by a handshake, which is answered.
    pub challenge: bool,
    /// Where the provider's identifier of a delivery is; empty where it has none.
    pub delivery_id: String,
    /// The provider's page about it.
    pub docs: String,
    /// The whole scheme, as one could write it for `custom`.
    pub scheme: Scheme,
}

/// A field of an input's `signature` that a provider needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureProviderField))]
pub struct PresetField {
    /// `secret`, `url`, or `parameters.` and the name of a parameter.
    pub name: String,
    /// What the provider calls it, and where it is to be found.
    pub title: String,
    /// Whether nothing works without.
    #[serde(default)]
    pub required: bool,
    /// Whether it must not be shown.
    #[serde(default)]
    pub secret: bool,
}

/// All presets, by name.
#[must_use]
pub fn presets() -> &'static [Preset] {
    static SHOWN: LazyLock<Vec<Preset>> =
        LazyLock::new(|| ENTRIES.values().map(|entry| entry.shown.clone()).collect());
    &SHOWN
}

/// A preset, and what compiling asks of it.
pub(crate) struct Entry {
    pub(crate) shown: Preset,
    pub(crate) need: Need,
}

/// What a provider needs beside its scheme.
#[derive(Clone, Debug, Default)]
pub(crate) struct Need {
    pub(crate) secrets: Secrets,
    /// The parameters, and whether each is required.
    pub(crate) parameters: BTreeMap<String, bool>,
}

/// Whether an account writes secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Secrets {
    #[default]
    Required,
    /// The provider hands one over in a handshake; until then there may be none.
    Learned,
    None,
}

pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.get(name)
}

static ENTRIES: LazyLock<BTreeMap<String, Entry>> = LazyLock::new(|| {
    let rows: Vec<Row> = serde_json::from_str(include_str!("presets.json"))
        .expect("the presets are checked by tests");
    rows.into_iter().map(|row| (row.name.clone(), row.into())).collect()
});

/// A row of `presets.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    title: String,
    docs: String,
    /// What the provider calls the secret, and where it shows it; missing where there is none.
    secret: Option<String>,
    /// What else is to be filled in.
    #[serde(default)]
    fields: Vec<PresetField>,
    scheme: Scheme,
}

impl From<Row> for Entry {
    fn from(row: Row) -> Self {
        let Row { name, title, docs, secret, fields: more, scheme } = row;
        let learned = scheme.learns_secret();
        let secrets = match (&secret, learned) {
            (None, _) => Secrets::None,
            (Some(_), true) => Secrets::Learned,
            (Some(_), false) => Secrets::Required,
        };
        let parameters = more.iter().filter_map(|field| {
            let name = field.name.strip_prefix("parameters.")?;
            Some((name.to_owned(), field.required))
        });
        let need = Need { secrets, parameters: parameters.collect() };
        let secret = secret.map(|title| PresetField {
            name: "secret".to_owned(),
            title,
            required: !learned,
            secret: true,
        });
        let SignatureField { source, name: at, .. } = &scheme.signature;
        let header = match source {
            Source::Header => at.clone(),
            source => describe(*source, at),
        };
        let shown = Preset {
            name,
            title,
            fields: secret.into_iter().chain(more).collect(),
            header,
            algorithm: scheme.algorithm.name(),
            timestamp: scheme.timestamp.is_some(),
            challenge: !scheme.challenges.is_empty(),
            delivery_id: scheme.id.as_ref().map(Field::describe).unwrap_or_default(),
            docs,
            scheme,
        };
        Self { shown, need }
    }
}

impl Algorithm {
    /// What the scheme language calls it.
    fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

impl Scheme {
    /// Whether a handshake hands the secret over.
    pub(crate) fn learns_secret(&self) -> bool {
        let stores = Some(crate::HandshakeAction::StoreSecret);
        self.challenges.iter().any(|handshake| handshake.action == stores)
    }

    /// An HMAC of the body, which is where `signature` says.
    #[must_use]
    pub fn hmac_of_body(signature: SignatureField, algorithm: Algorithm) -> Self {
        Self {
            signature,
            algorithm,
            algorithm_by: None,
            key: crate::KeySource::default(),
            signed: "{body}".to_owned(),
            digest: None,
            timestamp: None,
            id: None,
            event: None,
            require: Vec::new(),
            challenges: Vec::new(),
        }
    }
}
