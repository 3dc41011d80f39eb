//! YAML 1.2; of several documents the first.

use serde::de::DeserializeSeed;
use serde_json::Value;

use super::{MAX_DEPTH, ModuleError, Output};

/// The least that an event of the reader takes.
const EVENT_BYTES: usize = 128;

/// Hands the document to `reading`, which charges what it makes of it; what
/// the reader itself keeps takes at most `room` bytes.
pub(crate) fn decode<'de, R>(
    text: &'de str,
    room: usize,
    reading: R,
) -> Result<R::Value, ModuleError>
where
    R: DeserializeSeed<'de>,
{
    let events = room / EVENT_BYTES;
    let budget = serde_saphyr::budget! {
        max_nodes: events,
        max_events: events.saturating_mul(2).saturating_add(8),
        max_depth: MAX_DEPTH,
        max_documents: 2,
        max_recorded_anchor_events: events,
    };
    let options = serde_saphyr::options! {
        budget: budget,
        // Aliases of aliases multiply.
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: events,
        },
        with_snippet: false,
    };
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options, |document| {
        reading.deserialize(document)
    });
    read.map_err(|error| ModuleError::invalid(format!("yaml: {error}")))
}

/// A document of at most `longest` bytes.
pub(crate) fn encode(value: &Value, longest: usize) -> Result<Vec<u8>, ModuleError> {
    let mut out = Output::of_at_most(longest);
    let written = serde_saphyr::to_fmt_writer(&mut out, value);
    let out = out.finish()?;
    written.map_err(|error| ModuleError::invalid(format!("yaml: {error}")))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::modules::{Bounds, tree::Reading};

    fn decode(text: &str) -> Result<Value, ModuleError> {
        let mut bounds = Bounds::of_memory(1 << 20);
        let mut reading = Reading::within(&mut bounds);
        let read = super::decode(text, 1 << 20, &mut reading);
        reading.within_bounds().and(read)
    }

    fn encode(value: &Value) -> Result<String, ModuleError> {
        Ok(String::from_utf8(super::encode(value, 1 << 20)?).expect("UTF-8"))
    }

    #[test]
    fn scalars_have_their_types() {
        let text = "a: 1\nb: 1.5\nc: true\nd: null\ne: text\nf: '7'\nlist:\n  - x\n  - {y: 2}\n";
        let wanted = json!({
            "a": 1, "b": 1.5, "c": true, "d": null, "e": "text", "f": "7", "list": ["x", {"y": 2}],
        });
        assert_eq!(decode(text), Ok(wanted));
    }

    #[test]
    fn what_is_encoded_decodes_to_the_same() {
        let value =
            json!({"a": [1, 2.5, "x: y", "", null, true, "true", "12", {"b": {}}], "c": []});
        let text = encode(&value).expect("a plain tree");
        assert_eq!(decode(&text), Ok(value), "{text}");
    }

    #[test]
    fn bombs_and_malformed_input_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let previous = level - 1;
            let aliases = vec![format!("*a{previous}"); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        for text in [bomb.as_str(), "a: [", "a: b: c", "{", &"[".repeat(500)] {
            assert!(decode(text).is_err(), "{:.40}", text);
        }
        assert!(decode(&"- 1\n".repeat(100_000)).is_err());
    }
}
