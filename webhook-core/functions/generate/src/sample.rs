//! Reading the two payloads of a sample into value trees.

use webhook_core::function::generate::GenerateError;

use super::limits::GenerateLimits;
use super::value::Value;

use super::xml;

/// How a payload is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Xml,
    /// URL-encoded. As input every key holds a list of texts, as output a single value is a text.
    Form,
    Text,
}

impl Format {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Xml => "application/xml",
            Self::Form => "application/x-www-form-urlencoded",
            Self::Text => "text/plain; charset=utf-8",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Xml => "XML",
            Self::Form => "form",
            Self::Text => "text",
        }
    }
}

/// A payload and how it was written.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) format: Format,
    pub(crate) value: Value,
}

/// Whether a form is read as a script gets it or as a script writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

/// Reads the payload that a function receives.
pub(crate) fn read_input(payload: &str, limits: &GenerateLimits) -> Result<Sample, GenerateError> {
    read(payload, "input_payload", Side::Input, limits)
}

/// Reads the payload that a function is to produce.
pub(crate) fn read_output(payload: &str, limits: &GenerateLimits) -> Result<Sample, GenerateError> {
    read(payload, "output_payload", Side::Output, limits)
}

fn read(
    payload: &str,
    field: &'static str,
    side: Side,
    limits: &GenerateLimits,
) -> Result<Sample, GenerateError> {
    let invalid = |reason: String| GenerateError::Invalid { field, reason };
    if payload.len() > limits.max_payload_bytes {
        return Err(invalid(format!(
            "{} bytes, at most {} are accepted",
            payload.len(),
            limits.max_payload_bytes
        )));
    }
    if payload.trim().is_empty() {
        return Err(invalid("empty, give a sample".to_owned()));
    }
    let sample = parse(payload, side, limits).map_err(invalid)?;
    let nodes = sample.value.count_nodes();
    if nodes > limits.max_nodes {
        return Err(invalid(format!("{nodes} values, at most {} are accepted", limits.max_nodes)));
    }
    Ok(sample)
}

fn parse(payload: &str, side: Side, limits: &GenerateLimits) -> Result<Sample, String> {
    let trimmed = payload.trim();
    // What opens like a document is meant as one: its error is more use than a guess at another format.
    let looks = trimmed.as_bytes().first().copied().unwrap_or_default();
    match serde_json::from_str::<serde_json::Value>(trimmed) {
        Ok(value) => {
            let value = from_json(&value, limits.max_depth)?;
            return Ok(Sample { format: Format::Json, value });
        }
        Err(error) if matches!(looks, b'{' | b'[') => {
            return Err(format!("looks like JSON but is not: {error}"));
        }
        Err(_) => {}
    }
    if looks == b'<' {
        match xml::decode(trimmed, limits.max_depth) {
            Ok(value) => return Ok(Sample { format: Format::Xml, value }),
            Err(error) if side == Side::Input => {
                return Err(format!("looks like XML but is not: {error}"));
            }
            // A text such as `<https://example.com|link>` for a chat is a fine thing to want.
            Err(_) => {}
        }
    }
    if is_form(trimmed) {
        return Ok(Sample { format: Format::Form, value: form(trimmed, side) });
    }
    Ok(Sample { format: Format::Text, value: Value::text(payload) })
}

/// Reads what a script answered, in the format that was wanted.
pub(crate) fn read_answer(
    answer: &[u8],
    format: Format,
    limits: &GenerateLimits,
) -> Result<Value, String> {
    let text = std::str::from_utf8(answer).map_err(|_| "the result is not UTF-8".to_owned())?;
    match format {
        Format::Json => {
            let value: serde_json::Value = serde_json::from_str(text)
                .map_err(|error| format!("the result is not JSON: {error}"))?;
            from_json(&value, limits.max_depth.saturating_add(1))
        }
        Format::Xml => xml::decode(text, limits.max_depth.saturating_add(1))
            .map_err(|error| format!("the result is not XML: {error}")),
        Format::Form => Ok(form(text, Side::Output)),
        Format::Text => Ok(Value::text(text)),
    }
}

/// Every part is `key=value` without white space, and the keys look like keys: a sentence is not a form.
fn is_form(text: &str) -> bool {
    text.contains('=')
        && text.split('&').all(|part| {
            part.split_once('=').is_some_and(|(key, value)| {
                !key.is_empty()
                    && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.[]%+~*".contains(&b))
                    && !value
                        .trim_end_matches('=')
                        .bytes()
                        .any(|b| b.is_ascii_whitespace() || b == b'=' || b == b'<')
            })
        })
}

fn form(text: &str, side: Side) -> Value {
    let mut fields: Vec<(std::sync::Arc<str>, Vec<Value>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (key, value) in url::form_urlencoded::parse(text.as_bytes()) {
        let value = Value::text(value);
        match places.get(key.as_ref()).and_then(|&place: &usize| fields.get_mut(place)) {
            Some((_, values)) => values.push(value),
            None => {
                places.insert(key.clone().into_owned(), fields.len());
                fields.push((key.into(), vec![value]));
            }
        }
    }
    Value::object(fields.into_iter().map(|(key, mut values)| match (side, values.len()) {
        (Side::Output, 1) => (key, values.pop().unwrap_or(Value::Null)),
        _ => (key, Value::list(values)),
    }))
}

pub(crate) fn from_json(json: &serde_json::Value, depth_left: usize) -> Result<Value, String> {
    use serde_json::Value as Json;
    let deeper = || depth_left.checked_sub(1).ok_or_else(|| "nests too deep".to_owned());
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(
                number.as_f64().ok_or_else(|| format!("number {number} is out of range"))?,
            ),
        },
        Json::String(text) => Value::text(text),
        Json::Array(items) => {
            let depth_left = deeper()?;
            Value::List(
                items.iter().map(|item| from_json(item, depth_left)).collect::<Result<_, _>>()?,
            )
        }
        Json::Object(fields) => {
            let depth_left = deeper()?;
            let fields: Result<Vec<_>, String> = fields
                .iter()
                .map(|(name, value)| Ok((name.as_str().into(), from_json(value, depth_left)?)))
                .collect();
            Value::object(fields?)
        }
    })
}

/// A JSON text of at most 32 levels, such as a field that holds a document of its own.
pub(crate) fn from_json_text(text: &str) -> Option<Value> {
    from_json(&serde_json::from_str(text).ok()?, 32).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(payload: &str) -> Sample {
        read_input(payload, &GenerateLimits::default()).expect("a sample")
    }

    #[test]
    fn formats_are_recognised() {
        assert_eq!(input(r#"{"a":1}"#).format, Format::Json);
        assert_eq!(input("<a>1</a>").format, Format::Xml);
        assert_eq!(input("a=1&b=two+words&b=3").format, Format::Form);
        assert_eq!(input("Total = 5").format, Format::Text);
        assert_eq!(input("hello there").format, Format::Text);
    }

    #[test]
    fn field_order_is_kept() {
        // Fails without serde_json's `preserve_order`.
        let sample = input(r#"{"zebra":1,"apple":2,"mango":3}"#);
        let names: Vec<_> = sample
            .value
            .as_object()
            .expect("an object")
            .iter()
            .map(|(name, _)| name.to_string())
            .collect();
        assert_eq!(names, ["zebra", "apple", "mango"]);
    }

    #[test]
    fn forms_hold_lists_as_input_and_values_as_output() {
        let value = input("a=1&b=x+y&b=%41").value;
        let wanted = from_json_text(r#"{"a":["1"],"b":["x y","A"]}"#).expect("valid JSON");
        assert!(value.same(&wanted));
        let value = read_output("a=1&b=2&b=3", &GenerateLimits::default()).expect("a sample").value;
        assert!(value.same(&from_json_text(r#"{"a":"1","b":["2","3"]}"#).expect("valid JSON")));
    }

    #[test]
    fn errors_name_the_field_and_the_reason() {
        let limits = GenerateLimits::default();
        for (payload, reason) in [
            (" ".to_owned(), "empty"),
            ("{\"a\":".to_owned(), "looks like JSON"),
            ("<a>".to_owned(), "looks like XML"),
            ("x".repeat(limits.max_payload_bytes + 1), "at most 262144"),
            (format!("{}{}", "[".repeat(33), "]".repeat(33)), "too deep"),
            (format!("[{}0]", "0,".repeat(limits.max_nodes)), "values, at most"),
        ] {
            match read_input(&payload, &limits) {
                Err(GenerateError::Invalid { field: "input_payload", reason: got }) => {
                    assert!(got.contains(reason), "{got}");
                }
                other => panic!("{reason}: {other:?}"),
            }
        }
    }
}
