//! As much of JSON Schema as the document uses.

use serde_json::{Number, Value, json};

/// A schema of the document.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a>(pub(super) &'a Value);

impl<'a> Schema<'a> {
    /// What a reference leads to, or the schema itself.
    fn resolved(self, document: &'a Value) -> Self {
        match self.0["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
            Some(pointer) => Self(document.pointer(pointer).expect("it is there")),
            None => self,
        }
    }

    /// Whether `value` fits, and has no field that the schema does not know.
    pub(super) fn check(self, document: &'a Value, value: &Value) -> Result<(), String> {
        let Self(beside) = self;
        if let Some(lacking) = lacking(beside, value) {
            return Err(format!("{lacking} is missing"));
        }
        let resolved = self.resolved(document);
        let Self(schema) = resolved;
        if let Some(variants) = schema["oneOf"].as_array() {
            let fit = variants.iter().filter(|one| Schema(one).check(document, value).is_ok());
            return match fit.count() {
                1 => Ok(()),
                count => Err(format!("{value} fits {count} of the variants")),
            };
        }
        resolved.check_type(value)?;
        match value {
            Value::Object(fields) => {
                if let Some(lacking) = lacking(schema, value) {
                    return Err(format!("{lacking} is missing"));
                }
                for (name, value) in fields {
                    let property = match schema["properties"].get(name) {
                        Some(property) => property,
                        None if schema["additionalProperties"].is_object() => {
                            &schema["additionalProperties"]
                        }
                        // Of some things the document says only that they are objects.
                        None if schema["properties"].is_null() => continue,
                        None => return Err(format!("{name} is not described")),
                    };
                    let checked = Schema(property).check(document, value);
                    checked.map_err(|wrong| format!("{name}: {wrong}"))?;
                }
                Ok(())
            }
            Value::Array(items) => {
                items.iter().try_for_each(|item| Schema(&schema["items"]).check(document, item))
            }
            _ => Ok(()),
        }
    }

    fn check_type(self, value: &Value) -> Result<(), String> {
        let Self(schema) = self;
        let is = |kind: &str| match kind {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("{other:?} is no type"),
        };
        let fits = match &schema["type"] {
            Value::String(kind) => is(kind),
            Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().expect("a type"))),
            _ => true,
        };
        let listed = schema["enum"].as_array().is_none_or(|values| values.contains(value));
        let in_bounds = match value {
            Value::Number(number) => {
                let number = number.as_f64();
                let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
                (least.is_none() || number >= least) && (most.is_none() || number <= most)
            }
            Value::String(text) => {
                let length = text.chars().count() as u64;
                schema["minLength"].as_u64().is_none_or(|least| length >= least)
                    && schema["maxLength"].as_u64().is_none_or(|most| length <= most)
            }
            _ => true,
        };
        match fits && listed && in_bounds {
            true => Ok(()),
            false => Err(format!("{value} is not {schema}")),
        }
    }

    /// `whole` with each of its values in turn beyond each of its bounds, and
    /// where that is. `path` leads to the part that this schema is of.
    pub(super) fn beyond(
        self,
        document: &'a Value,
        whole: &Value,
        path: &mut Vec<String>,
        found: &mut Vec<(String, Value)>,
    ) {
        let Self(schema) = self.resolved(document);
        let pointer: String = path.iter().map(|part| format!("/{part}")).collect();
        let mut put = |bound: &str, wrong: Value| {
            let mut whole = whole.clone();
            *whole.pointer_mut(&pointer).expect("it is there") = wrong;
            found.push((format!("{pointer} {bound}"), whole));
        };
        match whole.pointer(&pointer).expect("it is there") {
            Value::Number(_) => {
                for (bound, step) in [("minimum", -1), ("maximum", 1)] {
                    let next = schema[bound].as_i64().and_then(|number| number.checked_add(step));
                    let beyond = next.map(Number::from).or_else(|| {
                        let number = schema[bound].as_u64()?.checked_add_signed(step)?;
                        Some(Number::from(number))
                    });
                    if let Some(beyond) = beyond {
                        put(bound, Value::Number(beyond));
                    }
                }
            }
            Value::String(_) => {
                if let Some(most) = schema["maxLength"].as_u64() {
                    let most = usize::try_from(most).expect("a length");
                    put("maxLength", json!("x".repeat(most + 1)));
                }
                if schema["minLength"].as_u64().is_some_and(|least| least > 0) {
                    put("minLength", json!(""));
                }
                if schema["enum"].is_array() {
                    put("enum", json!("none of them"));
                }
            }
            Value::Object(fields) => {
                for name in fields.keys() {
                    if let Some(property) = schema["properties"].get(name) {
                        path.push(name.clone());
                        Schema(property).beyond(document, whole, path, found);
                        path.pop();
                    }
                }
            }
            Value::Array(items) => {
                if let Some(most) = schema["maxItems"].as_u64()
                    && let Some(item) = items.first()
                {
                    let most = usize::try_from(most).expect("a length");
                    put("maxItems", Value::Array(vec![item.clone(); most + 1]));
                }
                if !items.is_empty() {
                    path.push("0".to_owned());
                    Schema(&schema["items"]).beyond(document, whole, path, found);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}

/// A field that the schema requires and the value has not.
fn lacking(schema: &Value, value: &Value) -> Option<String> {
    let required = schema["required"].as_array()?;
    let names = required.iter().filter_map(Value::as_str);
    value.as_object()?;
    names.filter(|name| value.get(name).is_none()).map(ToOwned::to_owned).next()
}
