//! The manifest itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{
    Error, Format,
    secrets::{self, Sealed},
    settings::{self, Kind},
    text, variables,
};

/// The only version of the format.
const VERSION: u64 = 1;

/// What a server is to have. A list that is absent says nothing about what it lists; one that is
/// empty says that there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// The functions.
    pub functions: Option<Vec<Function>>,
    /// The reserved domains, in their ASCII form.
    pub domains: Option<Vec<String>>,
    /// The buckets but those of crons.
    pub buckets: Option<Vec<Bucket>>,
    /// The crons.
    pub crons: Option<Vec<Resource>>,
    /// The variables whose values are in it, to be hidden where it is shown.
    pub(crate) used: Vec<(String, String)>,
}

/// A part with a name. What is set of it includes the name, and leaves out what has its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its name, which nothing of its kind has beside it.
    pub name: String,
    /// What is set.
    pub settings: Map<String, Value>,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// What is set of the function itself.
    pub resource: Resource,
    /// What scripts read with `cfg`.
    pub variables: Option<BTreeMap<String, String>>,
}

/// A bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// What is set of the bucket itself.
    pub resource: Resource,
    /// Where webhooks arrive.
    pub inputs: Option<Vec<Resource>>,
    /// Where they go.
    pub outputs: Option<Vec<Resource>>,
}

/// Where what a manifest refers to comes from.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The value of a variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The text of the file that a function's `file` names, or why there is none.
    pub file: &'a dyn Fn(&str) -> Result<String, String>,
}

impl std::fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sources(…)")
    }
}

impl Manifest {
    /// The manifest in a text, as YAML or JSON.
    ///
    /// # Errors
    /// The text is neither; a variable has no value; a field is unknown or not of its type.
    pub fn read(text: &str, sources: &Sources<'_>) -> Result<Self, Error> {
        let mut value = text::read(text)?;
        let used = variables::resolve(&mut value, sources.variable)?;
        Ok(Self { used, ..Self::literal(value, sources.file)? })
    }

    /// The manifest that a value is, in which `${` means nothing.
    pub(crate) fn literal(
        value: Value,
        file: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, Error> {
        let mut fields = object(value, "")?;
        let version = fields.remove("version").unwrap_or(json!(VERSION));
        if version != json!(VERSION) {
            return Err(Error::new("version", format!("{version} is not {VERSION}")));
        }
        let functions =
            list(&mut fields, "functions", "", |function, at| self::function(function, at, file))?;
        let domains = list(&mut fields, "domains", "", domain)?;
        let buckets = list(&mut fields, "buckets", "", bucket)?;
        let crons = list(&mut fields, "crons", "", |cron, at| resource(Kind::Cron, cron, at))?;
        if let Some(key) = fields.keys().next() {
            return Err(Error::new(key, "there is no such field"));
        }
        fn name_of(resource: &Resource) -> &str {
            &resource.name
        }
        once("functions", &functions, |function| name_of(&function.resource))?;
        once("domains", &domains, |domain| domain)?;
        once("buckets", &buckets, |bucket| name_of(&bucket.resource))?;
        once("crons", &crons, name_of)?;
        for (index, bucket) in buckets.iter().flatten().enumerate() {
            once(&format!("buckets[{index}].inputs"), &bucket.inputs, name_of)?;
            once(&format!("buckets[{index}].outputs"), &bucket.outputs, name_of)?;
        }
        Ok(Self { functions, domains, buckets, crons, used: Vec::new() })
    }

    /// The manifest as a text, with variables in place of secrets, and the secrets.
    ///
    /// # Errors
    /// It cannot be written, which none of those does that were read.
    pub fn write(&self, format: Format) -> Result<Sealed, Error> {
        let mut value = self.value();
        let variables = secrets::seal(&mut value);
        Ok(Sealed { text: text::write(&value, format)?, variables })
    }

    fn value(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("version".to_owned(), json!(VERSION));
        let mut put = |key: &str, list: Option<Vec<Value>>| {
            list.map(|list| fields.insert(key.to_owned(), Value::Array(list)));
        };
        put("functions", self.functions.as_ref().map(|all| all.iter().map(of_function).collect()));
        put("domains", self.domains.as_ref().map(|all| all.iter().map(|d| json!(d)).collect()));
        put("buckets", self.buckets.as_ref().map(|all| all.iter().map(of_bucket).collect()));
        put("crons", self.crons.as_ref().map(|all| all.iter().map(of_resource).collect()));
        Value::Object(fields)
    }
}

fn of_resource(resource: &Resource) -> Value {
    Value::Object(resource.settings.clone())
}

fn of_function(function: &Function) -> Value {
    let mut fields = function.resource.settings.clone();
    if let Some(variables) = &function.variables {
        fields.insert("variables".to_owned(), json!(variables));
    }
    Value::Object(fields)
}

fn of_bucket(bucket: &Bucket) -> Value {
    let mut fields = bucket.resource.settings.clone();
    for (key, list) in [("inputs", &bucket.inputs), ("outputs", &bucket.outputs)] {
        if let Some(list) = list {
            fields.insert(key.to_owned(), list.iter().map(of_resource).collect());
        }
    }
    Value::Object(fields)
}

fn object(value: Value, at: &str) -> Result<Map<String, Value>, Error> {
    match value {
        Value::Object(fields) => Ok(fields),
        // An empty file.
        Value::Null if at.is_empty() => Ok(Map::new()),
        _ => Err(Error::new(at, "must be an object")),
    }
}

fn list<T>(
    fields: &mut Map<String, Value>,
    key: &str,
    at: &str,
    each: impl Fn(Value, &str) -> Result<T, Error>,
) -> Result<Option<Vec<T>>, Error> {
    let at = if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match fields.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => {
            let items = items.into_iter().enumerate();
            let items = items.map(|(index, item)| each(item, &format!("{at}[{index}]")));
            items.collect::<Result<Vec<_>, _>>().map(Some)
        }
        Some(_) => Err(Error::new(at, "must be a list")),
    }
}

fn resource(kind: Kind, value: Value, at: &str) -> Result<Resource, Error> {
    let settings = settings::declared(kind, object(value, at)?, at)?;
    let name = settings.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    if name.is_empty() {
        return Err(Error::new(format!("{at}.name"), "must not be empty"));
    }
    Ok(Resource { name, settings })
}

fn function(
    value: Value,
    at: &str,
    file: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Function, Error> {
    let mut fields = object(value, at)?;
    if let Some(path) = fields.remove("file") {
        let place = || format!("{at}.file");
        let Value::String(path) = path else {
            return Err(Error::new(place(), "must be a path"));
        };
        if fields.contains_key("payload") {
            return Err(Error::new(place(), "the source is in payload already"));
        }
        let source = file(&path).map_err(|reason| Error::new(place(), reason))?;
        fields.insert("payload".to_owned(), Value::String(source));
        if !fields.contains_key("driver") && (path.ends_with(".js") || path.ends_with(".mjs")) {
            fields.insert("driver".to_owned(), json!("js"));
        }
    }
    let variables = match fields.remove("variables") {
        None | Some(Value::Null) => None,
        Some(Value::Object(variables)) => Some(
            variables
                .into_iter()
                .map(|(key, value)| match value {
                    Value::String(text) => Ok((key, text)),
                    _ => Err(Error::new(format!("{at}.variables.{key}"), "must be text")),
                })
                .collect::<Result<_, _>>()?,
        ),
        Some(_) => return Err(Error::new(format!("{at}.variables"), "must be an object")),
    };
    Ok(Function { resource: resource(Kind::Function, Value::Object(fields), at)?, variables })
}

fn domain(value: Value, at: &str) -> Result<String, Error> {
    let Value::String(name) = value else {
        return Err(Error::new(at, "must be a name such as hooks.example.com"));
    };
    let is_ascii = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if name.is_empty() || !name.bytes().all(is_ascii) {
        let reason = "must be written in its ASCII form in lower case, xn--… included";
        return Err(Error::new(at, reason));
    }
    Ok(name)
}

fn bucket(value: Value, at: &str) -> Result<Bucket, Error> {
    let mut fields = object(value, at)?;
    let inputs = list(&mut fields, "inputs", at, |input, at| resource(Kind::Input, input, at))?;
    let outputs = list(&mut fields, "outputs", at, |output, at| {
        let output = resource(Kind::Output, output, at)?;
        match output.name == settings::ANY_OUTPUT {
            true => Err(Error::new(format!("{at}.name"), "means any output where inputs refer")),
            false => Ok(output),
        }
    })?;
    Ok(Bucket { resource: resource(Kind::Bucket, Value::Object(fields), at)?, inputs, outputs })
}

fn once<T>(at: &str, list: &Option<Vec<T>>, name: impl Fn(&T) -> &str) -> Result<(), Error> {
    let mut names = BTreeSet::new();
    for (index, item) in list.iter().flatten().enumerate() {
        if !names.insert(name(item)) {
            return Err(Error::new(format!("{at}[{index}].name"), "another one has it"));
        }
    }
    Ok(())
}
