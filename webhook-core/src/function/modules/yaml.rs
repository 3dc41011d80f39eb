//! YAML 1.2; of several documents the first.

use serde_json::Value;

use super::{Bounds, ModuleError, error::MAX_DEPTH};

pub(crate) fn decode(text: &str, bounds: Bounds) -> Result<Value, ModuleError> {
    let budget = serde_saphyr::budget! {
        max_nodes: bounds.values(),
        max_events: bounds.values().saturating_mul(2).saturating_add(8),
        max_depth: MAX_DEPTH,
        max_documents: 2,
        max_recorded_anchor_events: bounds.values(),
    };
    let options = serde_saphyr::options! {
        budget: budget,
        // Aliases of aliases multiply.
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: bounds.values(),
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| ModuleError::invalid(format!("yaml: {error}")))
}

pub(crate) fn encode(value: &Value) -> Result<String, ModuleError> {
    serde_saphyr::to_string(value).map_err(|error| ModuleError::invalid(format!("yaml: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BOUNDS: Bounds = Bounds::of_memory(1 << 20);

    #[test]
    fn scalars_have_their_types() {
        let text = "a: 1\nb: 1.5\nc: true\nd: null\ne: text\nf: '7'\nlist:\n  - x\n  - {y: 2}\n";
        let wanted = json!({
            "a": 1, "b": 1.5, "c": true, "d": null, "e": "text", "f": "7", "list": ["x", {"y": 2}],
        });
        assert_eq!(decode(text, BOUNDS), Ok(wanted));
    }

    #[test]
    fn what_is_encoded_decodes_to_the_same() {
        let value =
            json!({"a": [1, 2.5, "x: y", "", null, true, "true", "12", {"b": {}}], "c": []});
        let text = encode(&value).expect("a plain tree");
        assert_eq!(decode(&text, BOUNDS), Ok(value), "{text}");
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
            assert!(decode(text, BOUNDS).is_err(), "{:.40}", text);
        }
        assert!(decode(&"- 1\n".repeat(100_000), BOUNDS).is_err());
    }
}
