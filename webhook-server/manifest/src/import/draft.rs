//! A manifest in the making.

use serde_json::{Map, Value, json};

use super::{Import, is_set};
use crate::{
    Error, Manifest,
    settings::{self, Kind},
};

/// The longest name that is made here, in characters.
const MAX_NAME: usize = 100;

/// A manifest in the making, and what is not in it.
#[derive(Debug, Default)]
pub(super) struct Draft {
    functions: Vec<Map<String, Value>>,
    buckets: Vec<BucketDraft>,
    left: Vec<String>,
}

#[derive(Debug)]
struct BucketDraft {
    /// What it is called where it comes from.
    key: String,
    fields: Map<String, Value>,
    input: Map<String, Value>,
    outputs: Vec<Map<String, Value>>,
}

impl Draft {
    pub(super) fn leave(&mut self, at: &str, what: impl std::fmt::Display) {
        self.left.push(format!("{at}: {what}"));
    }

    /// Leaves out what of these fields says something.
    pub(super) fn leave_fields(&mut self, at: &str, value: &Value, fields: &[&str]) {
        for field in fields.iter().filter(|field| is_set(&value[**field])) {
            self.leave(at, field);
        }
    }

    /// The bucket of this key, and whether it is new. It has one input.
    pub(super) fn bucket(&mut self, key: &str, name: &str) -> (usize, bool) {
        if let Some(place) = self.buckets.iter().position(|bucket| bucket.key == key) {
            return (place, false);
        }
        let taken: Vec<_> = self.buckets.iter().map(|bucket| name_of(&bucket.fields)).collect();
        let name = unique(name, "bucket", &taken);
        let fields = named(&name);
        let input = named("default");
        self.buckets.push(BucketDraft { key: key.to_owned(), fields, input, outputs: Vec::new() });
        (self.buckets.len() - 1, true)
    }

    pub(super) fn set_bucket(&mut self, bucket: usize, key: &str, value: Value) {
        self.buckets[bucket].fields.insert(key.to_owned(), value);
    }

    pub(super) fn set_input(&mut self, bucket: usize, key: &str, value: Value) {
        self.buckets[bucket].input.insert(key.to_owned(), value);
    }

    /// Adds an output, under a name that no other of the bucket has.
    pub(super) fn output(&mut self, bucket: usize, name: &str, fields: Map<String, Value>) {
        let outputs = &mut self.buckets[bucket].outputs;
        let taken: Vec<_> = outputs.iter().map(name_of).collect();
        let mut output = named(&unique(name, "output", &taken));
        output.extend(fields);
        outputs.push(output);
    }

    /// Adds an output with rules, disabled where something is `open` that they cannot say.
    pub(super) fn output_with_rules(
        &mut self,
        (bucket, name, at): (usize, &str, &str),
        mut output: Map<String, Value>,
        rules: &[Value],
        open: &[String],
    ) {
        if !open.is_empty() {
            output.insert("disabled".to_owned(), json!(true));
            self.leave(at, format!("{}; the output is disabled", open.join("; ")));
        }
        if !rules.is_empty() {
            output.insert("rules".to_owned(), json!({ "and": rules }));
        }
        self.output(bucket, name, output);
    }

    /// Adds a function in JavaScript, or finds the same one, and returns its name.
    pub(super) fn function(&mut self, name: &str, source: &str, variables: &Value) -> String {
        let variables: Map<_, _> = variables
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| !key.is_empty())
            .filter_map(|(key, value)| {
                let text = match value {
                    Value::Null => return None,
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                Some((key.clone(), json!(text)))
            })
            .collect();
        let same = self.functions.iter().find(|function| {
            function["payload"] == source
                && function.get("variables").unwrap_or(&json!({})) == &json!(variables)
        });
        if let Some(same) = same {
            return name_of(same);
        }
        let taken: Vec<_> = self.functions.iter().map(name_of).collect();
        let name = unique(name, "function", &taken);
        let mut function = named(&name);
        function.insert("driver".to_owned(), json!("js"));
        function.insert("payload".to_owned(), json!(source));
        if !variables.is_empty() {
            function.insert("variables".to_owned(), json!(variables));
        }
        self.functions.push(function);
        name
    }

    /// The manifest. What no server would take is left out, and said.
    pub(super) fn finish(self) -> Result<Import, Error> {
        let Self { functions, buckets, mut left } = self;
        let mut all = Vec::new();
        for BucketDraft { key: _, mut fields, mut input, outputs } in buckets {
            let name = name_of(&fields);
            valid(Kind::Bucket, &mut fields, &format!("bucket {name}"), &mut left);
            valid(Kind::Input, &mut input, &format!("input {name}/default"), &mut left);
            let mut kept = Vec::new();
            for mut output in outputs {
                let at = format!("output {name}/{}", name_of(&output));
                valid(Kind::Output, &mut output, &at, &mut left);
                kept.push(Value::Object(output));
            }
            fields.insert("inputs".to_owned(), json!([input]));
            fields.insert("outputs".to_owned(), json!(kept));
            all.push(Value::Object(fields));
        }
        let mut manifest = json!({ "buckets": all });
        if !functions.is_empty() {
            manifest["functions"] = json!(functions);
        }
        let manifest = Manifest::literal(manifest, &|_| Err("there are no files".to_owned()))?;
        Ok(Import { manifest, left })
    }
}

/// Takes out what is not of its type here, until the rest is.
fn valid(kind: Kind, fields: &mut Map<String, Value>, at: &str, left: &mut Vec<String>) {
    while let Err(error) = settings::declared(kind, fields.clone(), "") {
        let path = error.at().trim_start_matches('.').to_owned();
        let field = path.split(['.', '[']).next().unwrap_or_default();
        let wrong = fields.keys().find(|key| *key == field && *key != "name").cloned();
        // Without a path it is the last one that was put in.
        let wrong = wrong.or_else(|| fields.keys().rfind(|key| *key != "name").cloned());
        let Some(wrong) = wrong else { return };
        left.push(format!("{at}: {wrong}: {error}"));
        fields.shift_remove(&wrong);
        if kind == Kind::Output {
            fields.insert("disabled".to_owned(), json!(true));
        }
        if wrong == "disabled" {
            return;
        }
    }
}

fn named(name: &str) -> Map<String, Value> {
    [("name".to_owned(), json!(name))].into_iter().collect()
}

fn name_of(fields: &Map<String, Value>) -> String {
    fields.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The name without what names may not have, and with a number where it is taken.
fn unique(name: &str, otherwise: &str, taken: &[String]) -> String {
    let plain: String = name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
    let plain = match plain.trim() {
        "" | settings::ANY_OUTPUT => otherwise,
        plain => plain,
    };
    let mut unique = plain.to_owned();
    let mut number = 2;
    while taken.contains(&unique) {
        unique = format!("{plain}-{number}");
        number += 1;
    }
    unique
}
