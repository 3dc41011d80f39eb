//! Reading the two payloads of a sample into value trees.

use super::json::{Json, count_nodes, depth};
use super::limits::GenerateLimits;

/// How a payload is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    /// URL-encoded: every key holds a list of texts. Read, but not written.
    Form,
    Text,
}

impl Format {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "application/x-www-form-urlencoded",
            Self::Text => "text/plain; charset=utf-8",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Form => "a form",
            Self::Text => "text",
        }
    }
}

/// A payload and how it was written.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) format: Format,
    pub(crate) value: Json,
}

/// Reads the payload that a function receives.
pub(crate) fn read_input(payload: &str, limits: &GenerateLimits) -> Result<Sample, String> {
    let trimmed = payload.trim();
    match is_form(trimmed) {
        true => bounded(payload, Sample { format: Format::Form, value: form(trimmed) }, limits),
        false => read_output(payload, limits),
    }
}

/// Reads the payload that a function is to produce.
pub(crate) fn read_output(payload: &str, limits: &GenerateLimits) -> Result<Sample, String> {
    at_most(limits.max_payload_bytes, payload.len(), "bytes")?;
    let trimmed = payload.trim();
    if trimmed.is_empty() {
        return Err("empty, give a sample".to_owned());
    }
    let sample = match serde_json::from_str::<Json>(trimmed) {
        Ok(value) => Sample { format: Format::Json, value },
        // A payload that opens like a document is meant as one: its error is more use than a text.
        Err(error) if trimmed.starts_with(['{', '[']) => {
            return Err(format!("looks like JSON but is not: {error}"));
        }
        Err(_) => Sample { format: Format::Text, value: Json::from(payload) },
    };
    bounded(payload, sample, limits)
}

fn bounded(payload: &str, sample: Sample, limits: &GenerateLimits) -> Result<Sample, String> {
    at_most(limits.max_payload_bytes, payload.len(), "bytes")?;
    at_most(limits.max_depth, depth(&sample.value), "levels of lists and objects")?;
    at_most(limits.max_nodes, count_nodes(&sample.value), "values")?;
    Ok(sample)
}

fn at_most(most: usize, found: usize, what: &str) -> Result<(), String> {
    match found > most {
        true => Err(format!("{found} {what}, at most {most} are accepted")),
        false => Ok(()),
    }
}

/// Reads what a script answered, in the format that was wanted.
pub(crate) fn read_answer(answer: &[u8], format: Format) -> Result<Json, String> {
    let text = std::str::from_utf8(answer).map_err(|_| "the result is not UTF-8".to_owned())?;
    if format != Format::Json {
        return Ok(Json::from(text));
    }
    serde_json::from_str(text).map_err(|error| format!("the result is not JSON: {error}"))
}

/// Every part is `key=value` without white space, and the keys look like keys: a sentence is not a form.
fn is_form(text: &str) -> bool {
    let key_byte = |b: u8| b.is_ascii_alphanumeric() || b"-_.[]%+~*".contains(&b);
    text.contains('=')
        && text.split('&').all(|part| {
            part.split_once('=').is_some_and(|(key, value)| {
                let odd = |b: u8| b.is_ascii_whitespace() || b == b'=' || b == b'<';
                !key.is_empty()
                    && key.bytes().all(key_byte)
                    && !value.trim_end_matches('=').bytes().any(odd)
            })
        })
}

fn form(text: &str) -> Json {
    let mut fields = serde_json::Map::new();
    for (key, value) in url::form_urlencoded::parse(text.as_bytes()) {
        let values = fields.entry(key.into_owned()).or_insert_with(|| Json::Array(Vec::new()));
        if let Some(values) = values.as_array_mut() {
            values.push(Json::from(value.into_owned()));
        }
    }
    Json::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(payload: &str) -> Sample {
        read_input(payload, &GenerateLimits::default()).expect("a sample")
    }

    #[test]
    fn formats_are_recognised() {
        assert_eq!(input(r#"{"a":1}"#).format, Format::Json);
        assert_eq!(input("a=1&b=two+words&b=3").format, Format::Form);
        assert_eq!(input("Total = 5").format, Format::Text);
        assert_eq!(input("hello there").format, Format::Text);
    }

    #[test]
    fn field_order_is_kept() {
        // Fails without serde_json's `preserve_order`.
        let sample = input(r#"{"zebra":1,"apple":2,"mango":3}"#);
        let names: Vec<_> = sample.value.as_object().expect("an object").keys().collect();
        assert_eq!(names, ["zebra", "apple", "mango"]);
    }

    #[test]
    fn forms_hold_lists() {
        assert_eq!(input("a=1&b=x+y&b=%41").value, json!({"a": ["1"], "b": ["x y", "A"]}));
    }

    #[test]
    fn errors_name_the_reason() {
        let limits = GenerateLimits::default();
        for (payload, reason) in [
            (" ".to_owned(), "empty"),
            ("{\"a\":".to_owned(), "looks like JSON"),
            ("x".repeat(limits.max_payload_bytes + 1), "at most 262144"),
            (format!("{}{}", "[".repeat(33), "]".repeat(33)), "33 levels"),
            (format!("[{}0]", "0,".repeat(limits.max_nodes)), "values, at most"),
        ] {
            let got = read_input(&payload, &limits).expect_err(reason);
            assert!(got.contains(reason), "{got}");
        }
    }
}
