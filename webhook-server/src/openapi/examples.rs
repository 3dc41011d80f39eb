//! Examples of what is sent and answered. A test sends every one of them to a
//! fresh server.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{for_each_operation, referred};

pub(super) const EXAMPLES: &str = include_str!("examples.json");

/// The examples, which are data.
#[derive(Debug, Deserialize)]
pub(super) struct Examples {
    /// Bodies of requests, by operation.
    bodies: Map<String, Value>,
    /// Answers, by schema; by operation where the schema has no name.
    answers: Map<String, Value>,
    /// What refusals say, by status.
    refusals: Map<String, Value>,
}

/// Puts the examples beside the schemas that they are examples of.
pub(super) fn show(document: &mut Value, examples: &Examples) {
    let Examples { bodies, answers, refusals } = examples;
    for_each_operation(document, |_, _, operation| {
        let name = operation.get("operationId").and_then(Value::as_str).unwrap_or_default();
        let name = name.to_owned();
        if let Some(example) = bodies.get(&name)
            && let Some(content) = operation
                .get_mut("requestBody")
                .and_then(|body| body.pointer_mut("/content/application~1json"))
        {
            content["example"] = example.clone();
        }
        let Some(Value::Object(responses)) = operation.get_mut("responses") else { return };
        for (status, response) in responses {
            if let Some(content) = response.pointer_mut("/content/application~1json") {
                let schema = &content["schema"];
                let example = match schema.get("items") {
                    Some(items) => {
                        referred(items).and_then(|n| answers.get(n)).map(|one| json!([one]))
                    }
                    None => answers.get(referred(schema).unwrap_or(&name)).cloned(),
                };
                if let Some(example) = example {
                    content["example"] = example;
                }
            } else if let Some(content) = response.pointer_mut("/content/text~1plain")
                && let Some(example) = refusals.get(status)
            {
                content["example"] = example.clone();
            }
        }
    });
}
