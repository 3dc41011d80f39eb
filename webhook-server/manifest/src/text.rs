//! YAML and JSON.

use serde_json::Value;

use crate::Error;

/// The longest manifest, and the longest export of another service, in bytes.
pub const MAX_BYTES: usize = 16 << 20;
/// How deep a document may be: rules nest, and nothing else does.
const MAX_DEPTH: usize = 100;

/// How a manifest is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2.
    #[default]
    Yaml,
    /// JSON, indented.
    Json,
}

/// A document in YAML or JSON. A text that begins like a JSON document and is one is read
/// as that, because YAML takes a tab for an error.
pub(crate) fn read(text: &str) -> Result<Value, Error> {
    if text.len() > MAX_BYTES {
        return Err(Error::new("", format!("is longer than {MAX_BYTES} bytes")));
    }
    if text.trim_start().starts_with(['{', '[']) {
        match serde_json::from_str(text) {
            Ok(value) => return Ok(value),
            Err(error) if error.is_data() => return Err(Error::new("", error.to_string())),
            // It may be YAML that begins with a flow collection.
            Err(error) => return yaml(text).map_err(|_| Error::new("", error.to_string())),
        }
    }
    yaml(text)
}

fn yaml(text: &str) -> Result<Value, Error> {
    let budget = serde_saphyr::budget! {
        max_nodes: 1_000_000,
        max_events: 4_000_000,
        max_depth: MAX_DEPTH,
        max_documents: 1,
        max_total_scalar_bytes: MAX_BYTES * 4,
    };
    let options = serde_saphyr::options! {
        budget: budget,
        // Aliases of aliases multiply.
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        // `y` and `on` are texts, as YAML 1.2 says.
        strict_booleans: true,
        // A line of the file may hold a secret.
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| Error::new("", error.to_string()))
}

pub(crate) fn write(value: &Value, format: Format) -> Result<String, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::new("", error.to_string());
    match format {
        Format::Json => {
            let text = serde_json::to_string_pretty(value).map_err(|error| failed(&error))?;
            Ok(format!("{text}\n"))
        }
        Format::Yaml => {
            // A fold in a long URL helps nobody.
            let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
            serde_saphyr::to_string_with_options(value, options).map_err(|error| failed(&error))
        }
    }
}
