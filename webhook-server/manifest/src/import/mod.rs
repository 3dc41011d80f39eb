//! Manifests of what other services export.
//!
//! What comes out is what can be carried over, and a list of what cannot. An output that would get
//! more, or other, webhooks than before is disabled until somebody has looked at it.

mod adnanh;
mod convoy;
mod draft;
mod filter;
mod hookdeck;
mod retry;
mod signature;
mod svix;

use serde_json::Value;

use crate::{Error, Manifest, text};
use draft::Draft;

/// Where an export comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Hookdeck: the answer of `GET /connections`.
    Hookdeck,
    /// Svix: the answer of `GET /api/v1/app/{app_id}/endpoint`, of which each endpoint may have
    /// the answers of its `headers` and `transformation` under these names; or
    /// `{"applications": [{"name": …, "endpoints": […]}]}`.
    Svix,
    /// Convoy: the answer of `GET /api/v1/projects/{id}/subscriptions`.
    Convoy,
    /// adnanh/webhook: its file of hooks, as JSON or YAML.
    Adnanh,
}

/// What became of an export.
#[derive(Clone, Debug)]
pub struct Import {
    /// What can be carried over.
    pub manifest: Manifest,
    /// What cannot, or means something else here, line by line.
    pub left: Vec<String>,
}

/// Turns an export into a manifest.
///
/// # Errors
/// It is neither JSON nor YAML, or not what this service exports.
///
/// ```
/// use webhook_manifest::{Format, import::{Service, import}};
///
/// let hooks = r#"[{"id": "deploy", "execute-command": "/usr/local/bin/deploy.sh"}]"#;
/// let import = import(Service::Adnanh, hooks)?;
/// assert!(import.manifest.write(Format::Yaml)?.text.contains("name: deploy"));
/// assert!(import.left[0].contains("execute-command"));
/// # Ok::<(), webhook_manifest::Error>(())
/// ```
pub fn import(service: Service, text: &str) -> Result<Import, Error> {
    let value = text::read(text)?;
    let mut draft = Draft::default();
    match service {
        Service::Hookdeck => hookdeck::connections(&value, &mut draft)?,
        Service::Svix => svix::endpoints(&value, &mut draft)?,
        Service::Convoy => convoy::subscriptions(&value, &mut draft)?,
        Service::Adnanh => adnanh::hooks(&value, &mut draft)?,
    }
    draft.finish()
}

/// The list of an answer: the answer itself, or what is under one of these keys.
fn list<'a>(value: &'a Value, keys: &[&str], what: &str) -> Result<Vec<&'a Value>, Error> {
    let mut value = value;
    for key in keys {
        value = value.get(key).unwrap_or(value);
    }
    match value {
        Value::Array(items) if items.iter().all(Value::is_object) => Ok(items.iter().collect()),
        Value::Object(fields) if fields.contains_key("id") || fields.contains_key("uid") => {
            Ok(vec![value])
        }
        _ => Err(Error::new("", format!("is not {what}"))),
    }
}

/// The text in a field; empty where there is none.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The first of these texts that is not empty.
fn first(texts: [&str; 2]) -> &str {
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// Whether a field says something: it is neither absent nor empty.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(is_set),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) => true,
    }
}

#[cfg(test)]
mod tests;
