//! Filters as Hookdeck and Convoy write them, as rules.
//!
//! A filter has the shape of what it looks at: `{"order": {"status": "paid"}}`. Keys that begin
//! with `$` are operators.

use serde_json::{Value, json};
use webhook_core::rule::MatchType;

use super::is_set;

/// What a filter looks at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    Body,
    Headers,
    Query,
    Path,
}

/// The rules of the filters of these parts of webhooks, and what filters have that rules have not.
/// An empty filter, or null, lets everything pass.
pub(super) fn rules(filters: &Value, parts: &[(&str, Of)]) -> (Vec<Value>, Vec<String>) {
    let (mut rules, mut open) = (Vec::new(), Vec::new());
    for (key, of) in parts.iter().filter(|(key, _)| is_set(&filters[*key])) {
        match rule(*of, &filters[*key]) {
            Ok(rule) => rules.push(rule),
            Err(reason) => open.push(reason),
        }
    }
    (rules, open)
}

/// The rule that lets the same webhooks pass.
///
/// # Errors
/// There is none: what the filter has that rules have not.
fn rule(of: Of, filter: &Value) -> Result<Value, String> {
    match (of, filter) {
        (Of::Path, filter) => at(of, "path", filter),
        (_, Value::Object(_)) => at(of, "", filter),
        _ => Err("a filter that is not an object".to_owned()),
    }
}

fn at(of: Of, path: &str, filter: &Value) -> Result<Value, String> {
    match filter {
        Value::Object(fields) => {
            let mut all = Vec::new();
            for (key, value) in fields {
                all.push(match key.strip_prefix('$') {
                    Some(operator) => operation(of, path, operator, value)?,
                    None if path.is_empty() => at(of, key, value)?,
                    None if matches!(of, Of::Body) => at(of, &format!("{path}.{key}"), value)?,
                    None => return Err(format!("{path}.{key}, which is not a value")),
                });
            }
            Ok(match <[Value; 1]>::try_from(all) {
                Ok([one]) => one,
                Err(all) => json!({ "and": all }),
            })
        }
        Value::Array(_) => Err(format!("a list at {path}")),
        value => equal(of, path, value),
    }
}

fn operation(of: Of, path: &str, operator: &str, value: &Value) -> Result<Value, String> {
    let each = |rule: &dyn Fn(&Value) -> Result<Value, String>| match value {
        Value::Array(items) => {
            let rules = items.iter().map(rule).collect::<Result<Vec<_>, _>>()?;
            Ok(json!({ "or": rules }))
        }
        value => rule(value),
    };
    let number = |kind: &str| match value {
        Value::Number(number) => matching(of, path, kind, &number.to_string()),
        _ => Err(format!("${operator} at {path}, which compares with no number")),
    };
    match operator {
        "or" | "and" => {
            let Value::Array(items) = value else { return Err(format!("${operator} of no list")) };
            let rules =
                items.iter().map(|item| at(of, path, item)).collect::<Result<Vec<_>, _>>()?;
            Ok(json!({ operator: rules }))
        }
        "not" => Ok(json!({ "not": at(of, path, value)? })),
        "eq" => equal(of, path, value),
        "neq" => Ok(json!({ "not": equal(of, path, value)? })),
        "in" if value.is_array() => each(&|item| equal(of, path, item)),
        "nin" if value.is_array() => Ok(json!({ "not": each(&|item| equal(of, path, item))? })),
        "in" => matching(of, path, "contains", text(path, value)?),
        "nin" => {
            let contains = matching(of, path, "contains", text(path, value)?)?;
            Ok(json!({ "not": contains }))
        }
        "startsWith" => each(&|item| matching(of, path, "starts-with", text(path, item)?)),
        "endsWith" => each(&|item| matching(of, path, "ends-with", text(path, item)?)),
        "gt" => number("greater-than"),
        "gte" => number("at-least"),
        "lt" => number("less-than"),
        "lte" => number("at-most"),
        "regex" => matching(of, path, "regex", text(path, value)?),
        "exist" => {
            let there = matching(of, path, "exists", "")?;
            match value {
                Value::Bool(true) => Ok(there),
                Value::Bool(false) => Ok(json!({ "not": there })),
                _ => Err(format!("$exist at {path} that is neither true nor false")),
            }
        }
        operator => Err(format!("${operator} at {path}")),
    }
}

fn equal(of: Of, path: &str, value: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) => matching(of, path, "value", text),
        Value::Array(_) | Value::Object(_) => Err(format!("a list or an object at {path}")),
        // As it is written in the body.
        value => matching(of, path, "value", &value.to_string()),
    }
}

/// A match of this type, which compares with this text.
fn matching(of: Of, path: &str, word: &str, text: &str) -> Result<Value, String> {
    if path.is_empty() {
        return Err("a filter that names no field".to_owned());
    }
    let (source, name) = match of {
        // Convoy's `$` stands for any element of a list.
        Of::Body => {
            let steps = path.split('.').map(|step| match step {
                "$" => Ok("*"),
                step if step.starts_with('$') => {
                    Err(format!("{path}, whose step {step} has no equal"))
                }
                step => Ok(step),
            });
            let steps = steps.collect::<Result<Vec<_>, _>>()?;
            ("payload", steps.join("."))
        }
        Of::Headers => ("header", path.to_owned()),
        Of::Query => ("query", path.to_owned()),
        Of::Path => ("request", path.to_owned()),
    };
    let parameter = json!({ "source": source, "name": name });
    let mut found = json!({ "type": word, "parameter": parameter });
    if let Some(field) = MatchType::of(word).and_then(|it| it.operand.field()) {
        found[field] = json!(text);
    }
    Ok(json!({ "match": found }))
}

fn text<'a>(path: &str, value: &'a Value) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("an operator at {path} that compares with no text"))
}
