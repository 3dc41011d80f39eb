//! What is set of a part of a server: the fields that a caller may write and that differ from
//! their defaults, with names in place of identifiers. The types of `webhook-core` say which there
//! are, so that a field which is added there is known here.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use webhook_core::model::{
    BucketSpec, CronSpec, Described, FunctionSpec, InputSpec, OutputSpec, described,
};

use crate::{Error, secrets::is_mask};

/// What a part of a manifest stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A function.
    Function,
    /// A bucket, without its inputs and outputs.
    Bucket,
    /// An input.
    Input,
    /// An output.
    Output,
    /// A cron.
    Cron,
}

/// The field of an input that refers to an output of its bucket.
pub(crate) const ANSWERING_OUTPUT: &str = "response_from_output";
/// What that field has in place of a name when any output may answer.
pub(crate) const ANY_OUTPUT: &str = "anyOutput";

/// Which fields hold the identifier of a function on the wire, and what they are called in a
/// manifest, where they hold its name: `function_id` is `function`.
#[must_use]
pub fn references(kind: Kind) -> Vec<(String, String)> {
    let fields = defaults(kind);
    let ids = fields.keys().filter(|key| key.ends_with("function_id"));
    ids.map(|key| (key.clone(), key.trim_end_matches("_id").to_owned())).collect()
}

/// What a manifest says of one part, checked: its settings.
///
/// # Errors
/// A field that there is not, or that is not of its type.
pub(crate) fn declared(
    kind: Kind,
    mut fields: Map<String, Value>,
    at: &str,
) -> Result<Map<String, Value>, Error> {
    fields.retain(|_, value| !value.is_null());
    let mut names = Map::new();
    for (id, name) in references(kind) {
        if fields.contains_key(&id) {
            let reason = format!("is not in a manifest: {name} holds the function's name");
            return Err(Error::new(format!("{at}.{id}"), reason));
        }
        take_text(&mut fields, &name, at)?.map(|text| names.insert(id, text));
    }
    if kind == Kind::Input {
        let key = ANSWERING_OUTPUT;
        take_text(&mut fields, key, at)?.map(|text| names.insert(key.to_owned(), text));
    }
    let (spec, known, defaults) = spelled(kind, &fields, at)?;
    unknown(&fields, &known, &defaults, at)?;
    check(&*spec, &fields, at)?;
    Ok(settings(kind, known, &defaults, &mut |id| {
        names.get(id).and_then(Value::as_str).map(str::to_owned)
    }))
}

/// What a server answers of one part: its settings. `name_of` turns the identifier in a field into
/// a name; what it does not know is left out.
pub(crate) fn answered(
    kind: Kind,
    fields: &Map<String, Value>,
    at: &str,
    mut name_of: impl FnMut(&str, &str) -> Option<String>,
) -> Result<Map<String, Value>, Error> {
    let (_, mut known, defaults) = spelled(kind, fields, at)?;
    // Which the others are follows from the names' order, so each is read before it is written.
    let mut ids = references(kind).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    if kind == Kind::Input {
        ids.push(ANSWERING_OUTPUT.to_owned());
    }
    let mut names = Map::new();
    for id in ids {
        let text = known.get(&id).and_then(Value::as_str).unwrap_or_default().to_owned();
        if !text.is_empty()
            && let Some(name) = name_of(&id, &text)
        {
            names.insert(id.clone(), Value::String(name));
        }
        if let Some(default) = defaults.get(&id) {
            known.insert(id, default.clone());
        }
    }
    Ok(settings(kind, known, &defaults, &mut |id| {
        names.get(id).and_then(Value::as_str).map(str::to_owned)
    }))
}

/// Puts what was given back where the type spells a mask in its place, as it does for secrets that
/// are shown to nobody.
fn unmask(spelled: &mut Value, given: &Value) {
    match (spelled, given) {
        (Value::String(mask), Value::String(given)) if is_mask(mask) => mask.clone_from(given),
        (Value::Array(spelled), Value::Array(given)) => {
            spelled.iter_mut().zip(given).for_each(|(spelled, given)| unmask(spelled, given));
        }
        (Value::Object(spelled), Value::Object(given)) => {
            for (key, given) in given {
                if let Some(spelled) = spelled.get_mut(key) {
                    unmask(spelled, given);
                }
            }
        }
        _ => {}
    }
}

fn take_text(fields: &mut Map<String, Value>, key: &str, at: &str) -> Result<Option<Value>, Error> {
    match fields.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(Value::String(text))),
        Some(_) => Err(Error::new(format!("{at}.{key}"), "must be a name")),
    }
}

/// Without what has its default, and with names where identifiers are on the wire.
fn settings(
    kind: Kind,
    known: Map<String, Value>,
    defaults: &Map<String, Value>,
    name_of: &mut dyn FnMut(&str) -> Option<String>,
) -> Map<String, Value> {
    let references = references(kind);
    let mut settings = Map::new();
    for (key, value) in known {
        let reference = references.iter().find(|(id, _)| *id == key).map(|(_, name)| name.clone());
        let called = reference.or_else(|| (key == ANSWERING_OUTPUT).then(|| key.clone()));
        if let Some(called) = called {
            name_of(&key).map(|name| settings.insert(called, Value::String(name)));
        } else if let Some(value) = beside(value, defaults.get(&key)) {
            settings.insert(key, value);
        }
    }
    if kind == Kind::Cron && settings.get("timezone").and_then(Value::as_str) == Some("UTC") {
        // What none stands for.
        settings.shift_remove("timezone");
    }
    settings
}

/// What of the value differs from its default.
fn beside(value: Value, default: Option<&Value>) -> Option<Value> {
    match (value, default) {
        (value, Some(default)) if value == *default => None,
        (Value::Object(fields), Some(Value::Object(defaults))) if !defaults.is_empty() => {
            let fields = fields.into_iter();
            let set = fields.filter_map(|(key, value)| {
                let value = beside(value, defaults.get(&key))?;
                Some((key, value))
            });
            let set: Map<_, _> = set.collect();
            (!set.is_empty()).then_some(Value::Object(set))
        }
        (value, _) => Some(value),
    }
}

fn unknown(
    given: &Map<String, Value>,
    known: &Map<String, Value>,
    defaults: &Map<String, Value>,
    at: &str,
) -> Result<(), Error> {
    for (key, value) in given {
        let place = format!("{at}.{key}");
        let Some(read) = known.get(key).or(defaults.get(key)) else {
            return Err(Error::new(place, "there is no such field"));
        };
        // An object without defaults, such as headers, takes any key.
        if let (Value::Object(given), Value::Object(read), Some(Value::Object(defaults))) =
            (value, read, defaults.get(key))
            && !defaults.is_empty()
        {
            unknown(given, read, defaults, &place)?;
        }
    }
    Ok(())
}

fn defaults(kind: Kind) -> Map<String, Value> {
    match kind {
        Kind::Function => fields_of(&FunctionSpec::default()),
        Kind::Bucket => fields_of(&BucketSpec::default()),
        Kind::Input => fields_of(&InputSpec::default()),
        Kind::Output => fields_of(&OutputSpec::default()),
        Kind::Cron => fields_of(&CronSpec::default()),
    }
}

type Fields = Map<String, Value>;

/// The part, its fields as the type spells them, and the defaults.
fn spelled(
    kind: Kind,
    fields: &Fields,
    at: &str,
) -> Result<(Box<dyn Described>, Fields, Fields), Error> {
    let (spec, mut known) = match kind {
        Kind::Function => respelled::<FunctionSpec>(fields, at),
        Kind::Bucket => respelled::<BucketSpec>(fields, at),
        Kind::Input => respelled::<InputSpec>(fields, at),
        Kind::Output => respelled::<OutputSpec>(fields, at),
        Kind::Cron => respelled::<CronSpec>(fields, at),
    }?;
    for (key, given) in fields {
        if let Some(spelled) = known.get_mut(key) {
            unmask(spelled, given);
        }
    }
    Ok((spec, known, defaults(kind)))
}

/// Refuses what a server would refuse of the fields alone, so that a manifest with a wrong field
/// changes nothing. Masks stand for secrets that are not here, so a part with one is left to the
/// server.
fn check(spec: &dyn Described, fields: &Fields, at: &str) -> Result<(), Error> {
    if fields.values().any(has_mask) {
        return Ok(());
    }
    described::check(spec, "")
        .map_err(|invalid| Error::new(format!("{at}.{}", invalid.field), invalid.reason))
}

fn has_mask(value: &Value) -> bool {
    match value {
        Value::String(text) => is_mask(text),
        Value::Array(list) => list.iter().any(has_mask),
        Value::Object(fields) => fields.values().any(has_mask),
        _ => false,
    }
}

fn respelled<T: DeserializeOwned + Serialize + Described + 'static>(
    fields: &Fields,
    at: &str,
) -> Result<(Box<dyn Described>, Fields), Error> {
    let fields = Value::Object(fields.clone());
    let spec: T = serde_path_to_error::deserialize(fields).map_err(|error| {
        let path = error.path().to_string();
        let place = match path.as_str() {
            "" | "." => at.to_owned(),
            path => format!("{at}.{path}"),
        };
        Error::new(place, error.inner().to_string())
    })?;
    let known = fields_of(&spec);
    Ok((Box::new(spec), known))
}

fn fields_of<T: Serialize>(spec: &T) -> Map<String, Value> {
    match serde_json::to_value(spec) {
        Ok(Value::Object(fields)) => fields,
        // The types of the model are structs with text as their keys.
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use webhook_conformance::{ExtendedOutput, arbitrary};

    use super::*;

    /// A server's answer, as a manifest and read from its text.
    fn comes_back<T>(kind: Kind)
    where
        T: Described + Default + Serialize + DeserializeOwned,
    {
        for seed in 0..64 {
            let answer = fields_of(&arbitrary::<T>(seed));
            let settings = answered(kind, &answer, "it", |_, _| None).expect("an answer");
            let text = serde_saphyr::to_string(&settings).expect("YAML");
            let read: Map<String, Value> = serde_saphyr::from_str(&text).expect("YAML");
            let declared = declared(kind, read, "it").expect("a manifest");
            assert_eq!(declared, settings, "seed {seed}: {text}");
            let mut whole = Value::Object(fields_of(&T::default()));
            lay_over(&mut whole, Value::Object(settings));
            let whole = whole.as_object().expect("an object");
            assert_eq!(without_references(whole), without_references(&answer));
        }
    }

    /// Puts settings over defaults.
    fn lay_over(defaults: &mut Value, settings: Value) {
        match (defaults, settings) {
            (Value::Object(fields), Value::Object(settings)) => {
                for (name, value) in settings {
                    lay_over(fields.entry(name).or_insert(Value::Null), value);
                }
            }
            (place, value) => *place = value,
        }
    }

    /// What no manifest can name here.
    fn without_references(fields: &Map<String, Value>) -> Map<String, Value> {
        let mut fields = fields.clone();
        fields.shift_remove(ANSWERING_OUTPUT);
        // Empty and UTC are the same.
        if fields.get("timezone") == Some(&json!("UTC")) {
            fields.insert("timezone".to_owned(), json!(""));
        }
        fields
    }

    #[test]
    fn arbitrary_specifications_survive_a_manifest() {
        comes_back::<OutputSpec>(Kind::Output);
        comes_back::<InputSpec>(Kind::Input);
        comes_back::<BucketSpec>(Kind::Bucket);
        comes_back::<CronSpec>(Kind::Cron);
        comes_back::<FunctionSpec>(Kind::Function);
    }

    #[test]
    fn a_field_is_in_a_manifest_because_it_is_declared() {
        let given = json!({"name": "a", "watchers": 3});
        let given = given.as_object().expect("an object");
        let (_, known) = respelled::<ExtendedOutput>(given, "outputs[0]").expect("an output");
        let defaults = fields_of(&ExtendedOutput::default());
        assert!(unknown(given, &known, &defaults, "outputs[0]").is_ok());
        let settings = settings(Kind::Output, known, &defaults, &mut |_| None);
        assert_eq!(Value::Object(settings), json!({"name": "a", "watchers": 3}));
    }

    #[test]
    fn secrets_that_a_type_masks_stay_what_they_are() {
        let given = json!({"name": "i", "signature": {"provider": "github", "secrets": [
            {"secret": "0123456789abcdef"}, {"secret": "fedcba9876543210"},
        ]}});
        let given = given.as_object().cloned().expect("an object");
        let settings = declared(Kind::Input, given, "inputs[0]").expect("an input");
        let secrets = &settings["signature"]["secrets"];
        assert_eq!(secrets[0]["secret"], "0123456789abcdef");
        assert_eq!(secrets[1]["secret"], "fedcba9876543210");
        // A mask of a mask would say less.
        let known =
            json!({"signature": {"provider": "github", "secrets": [{"secret": "********cdef"}]}});
        let known = known.as_object().expect("an object");
        let settings = answered(Kind::Input, known, "i", |_, _| None).expect("an input");
        assert_eq!(settings["signature"]["secrets"][0]["secret"], "********cdef");
    }
}
