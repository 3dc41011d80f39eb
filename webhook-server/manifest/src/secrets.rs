//! Which texts are secrets, and variables in their place.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::variables;

/// A manifest as text, and what stands in it as `${NAME}`.
#[derive(Clone)]
pub struct Sealed {
    /// The manifest.
    pub text: String,
    /// The names of the variables with their values, in the order of the text.
    pub variables: Vec<(String, String)>,
}

impl std::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Sealed").field("text", &self.text).field("variables", &names).finish()
    }
}

/// Parts of names whose values are taken for secrets: fields, headers and keys alike.
const SECRET: [&str; 9] = [
    "secret",
    "password",
    "token",
    "api-key",
    "api_key",
    "apikey",
    "authorization",
    "cookie",
    "private_key",
];

/// Whether the texts under this key, of a field, a header or a variable, are taken for secrets.
#[must_use]
pub fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET.iter().any(|part| key.contains(part))
}

/// What a server answers in place of a secret that it shows to nobody begins with this.
const MASK: &str = "********";
/// How many of the secret's last characters follow, and how long a secret is that shows any.
const SHOWN: (usize, usize) = (4, 16);

/// Whether this is shown in place of a secret, which it stands for where it is written.
#[must_use]
pub fn is_mask(text: &str) -> bool {
    text.starts_with(MASK)
}

/// Whether a server that answers `before` has `after`: the same, where a mask is the same as each
/// secret that has it.
pub(crate) fn same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::String(mask), Value::String(secret)) if is_mask(mask) && mask != secret => {
            let count = secret.chars().count();
            let shown = if count < SHOWN.1 { 0 } else { SHOWN.0 };
            let end: String = secret.chars().skip(count - shown).collect();
            mask.strip_prefix(MASK) == Some(&end)
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(before, after)| same(before, after))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .all(|(key, before)| after.get(key).is_some_and(|after| same(before, after)))
        }
        (before, after) => before == after,
    }
}

/// Puts `${NAME}` in place of each secret and escapes the other texts. The names follow from where
/// the secrets are; the same manifest has the same ones each time.
pub(crate) fn seal(value: &mut Value) -> Vec<(String, String)> {
    variables::escape(value);
    let mut sealing = Sealing { names: BTreeSet::new(), found: Vec::new() };
    if let Value::Object(fields) = value {
        for (key, list) in fields {
            let mut place = match key.as_str() {
                "buckets" => Vec::new(),
                "functions" => vec!["function".to_owned()],
                _ => vec!["cron".to_owned()],
            };
            sealing.walk(list, &mut place, false);
        }
    }
    sealing.found
}

struct Sealing {
    names: BTreeSet<String>,
    found: Vec<(String, String)>,
}

impl Sealing {
    fn walk(&mut self, value: &mut Value, place: &mut Vec<String>, secret: bool) {
        match value {
            Value::String(text) if (secret || is_mask(text)) && !text.is_empty() => {
                let name = self.name(place);
                let literal = text.replace("$${", "${");
                *text = format!("${{{name}}}");
                self.found.push((name, literal));
            }
            Value::Array(items) => {
                for item in items {
                    let name = item.get("name").and_then(Value::as_str).map(str::to_owned);
                    let named = name.map(|name| place.push(name)).is_some();
                    self.walk(item, place, secret);
                    if named {
                        place.pop();
                    }
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    // Lists of parts say nothing that the parts' names do not say.
                    let says = !matches!(key.as_str(), "inputs" | "outputs" | "variables");
                    if says {
                        place.push(key.clone());
                    } else if key == "variables" && !secret {
                        // Whatever they hold, they are kept as secrets are.
                        self.walk_all(field, place);
                        continue;
                    }
                    self.walk(field, place, secret || is_secret(key));
                    if says {
                        place.pop();
                    }
                }
            }
            _ => {}
        }
    }

    fn walk_all(&mut self, value: &mut Value, place: &mut Vec<String>) {
        for (key, field) in value.as_object_mut().into_iter().flatten() {
            place.push(key.clone());
            self.walk(field, place, true);
            place.pop();
        }
    }

    fn name(&mut self, place: &[String]) -> String {
        let letters = place.join("_").to_ascii_uppercase();
        let mut name: String =
            letters.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, '_');
        }
        let mut unique = name.clone();
        let mut number = 2;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mask_is_the_same_as_its_secret() {
        let with = |secret: &str| json!({"signature": {"secrets": [{"secret": secret}], "x": 1}});
        for (before, after, wanted) in [
            ("********cdef", "0123456789abcdef", true),
            ("********cdef", "0123456789abcdeg", false),
            ("********", "short", true),
            ("********", "0123456789abcdef", false),
            ("********cdef", "********cdef", true),
            ("plain", "other", false),
        ] {
            assert_eq!(same(&with(before), &with(after)), wanted, "{before} {after}");
        }
        assert!(!same(&json!({"a": 1}), &json!({})) && !same(&json!([1]), &json!([1, 2])));
        let mut value = json!({"buckets": [{"name": "b", "parameters": {"id": "********"}}]});
        assert_eq!(seal(&mut value), [("B_PARAMETERS_ID".to_owned(), "********".to_owned())]);
    }

    #[test]
    fn secrets_become_variables() {
        let mut value = json!({
            "functions": [{"name": "check it", "payload": "`${x}`", "variables": {"A": "1", "B": ""}}],
            "buckets": [{"name": "shop", "auth": {"type": "token", "token": "t${0}"}, "outputs": [
                {"name": "erp", "headers": {"Authorization": ["a", "b"], "X-A": ["${c}"]}, "rules":
                    {"match": {"type": "payload-hmac-sha1", "secret": "s", "parameter": {"source": "header"}}}},
            ]}],
        });
        let found = seal(&mut value);
        let wanted = json!({
            "functions": [{"name": "check it", "payload": "`${x}`",
                "variables": {"A": "${FUNCTION_CHECK_IT_A}", "B": ""}}],
            "buckets": [{"name": "shop", "auth": {"type": "token", "token": "${SHOP_AUTH_TOKEN}"}, "outputs": [
                {"name": "erp", "headers": {"Authorization": ["${SHOP_ERP_HEADERS_AUTHORIZATION}",
                    "${SHOP_ERP_HEADERS_AUTHORIZATION_2}"], "X-A": ["$${c}"]}, "rules":
                    {"match": {"type": "payload-hmac-sha1", "secret": "${SHOP_ERP_RULES_MATCH_SECRET}",
                        "parameter": {"source": "header"}}}},
            ]}],
        });
        assert_eq!(value, wanted);
        let values: Vec<_> = found.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["1", "t${0}", "a", "b", "s"]);
        let sealed = Sealed { text: String::new(), variables: found };
        assert!(!format!("{sealed:?}").contains("t${0}"));
    }
}
