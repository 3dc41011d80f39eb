//! What a server has.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::{
    Address, Bucket, Error, Format, Function, Manifest, Resource,
    import::text,
    secrets::Sealed,
    settings::{self, ANSWERING_OUTPUT, ANY_OUTPUT, Kind},
};

/// The answers of a server's operations that list things.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// `GET /v1/functions`
    pub functions: Vec<Value>,
    /// `GET /v1/functions/{id}/config`, by the function's identifier.
    pub variables: HashMap<String, Vec<Value>>,
    /// `GET /v1/domains`
    pub domains: Vec<Value>,
    /// `GET /v1/buckets`
    pub buckets: Vec<Value>,
    /// `GET /v1/crons`
    pub crons: Vec<Value>,
}

/// What a server has, by name.
#[derive(Clone, Debug)]
pub struct Known {
    pub(crate) manifest: Manifest,
    pub(crate) ids: HashMap<Address, String>,
    /// The parts whose name here is not their name on the server, as [`Known::tell_apart`] made it.
    pub(crate) renamed: BTreeSet<Address>,
    /// Names that several parts have on the server, with the names of these parts here.
    pub(crate) twice: BTreeMap<Address, Vec<String>>,
    notes: Vec<String>,
}

impl Known {
    /// Reads the answers.
    ///
    /// # Errors
    /// They are not those of a server that this program knows.
    pub fn of(answers: Answers) -> Result<Self, Error> {
        let Answers { mut functions, variables, domains, mut buckets, mut crons } = answers;
        let manifest = Manifest::default();
        let (ids, renamed, twice, notes) = Default::default();
        let mut known = Self { manifest, ids, renamed, twice, notes };
        // The bucket of a cron comes and goes with the cron.
        buckets.retain(|bucket| text(bucket, "cron_id").is_empty());
        known.tell_apart(&mut functions, Address::Function);
        known.tell_apart(&mut buckets, Address::Bucket);
        known.tell_apart(&mut crons, Address::Cron);
        for bucket in &mut buckets {
            let name = text(bucket, "name").to_owned();
            let output = |part| Address::Output(name.clone(), part);
            known.tell_apart(parts_mut(bucket, "outputs"), output);
            let input = |part| Address::Input(name.clone(), part);
            known.tell_apart(parts_mut(bucket, "inputs"), input);
        }
        let mut names = HashMap::new();
        for function in &functions {
            names.insert(text(function, "id").to_owned(), text(function, "name").to_owned());
        }
        let functions = functions.iter().map(|function| {
            let of_it = variables.get(text(function, "id"));
            known.function(function, of_it.map_or(&[], Vec::as_slice))
        });
        let functions = functions.collect::<Result<Vec<_>, _>>()?;
        let domains = domains.iter().map(|domain| {
            let name = text(domain, "domain").to_owned();
            known.learn(Address::Domain(name.clone()), domain);
            name
        });
        let domains = domains.collect();
        let buckets = buckets.iter().map(|bucket| known.bucket(bucket, &names));
        let buckets = buckets.collect::<Result<Vec<_>, _>>()?;
        let crons = crons.iter().map(|cron| known.cron(cron, &names));
        let crons = crons.collect::<Result<Vec<_>, _>>()?;
        let used = Vec::new();
        known.manifest = Manifest {
            functions: Some(functions),
            domains: Some(domains),
            buckets: Some(buckets),
            crons: Some(crons),
            used,
        };
        Ok(known)
    }

    /// All of it as a manifest.
    ///
    /// # Errors
    /// A value that the format cannot have.
    pub fn write(&self, format: Format) -> Result<Sealed, Error> {
        self.manifest.write(format)
    }

    /// What a manifest cannot say of this server.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The identifier of a part, if the server has it.
    #[must_use]
    pub fn id(&self, address: &Address) -> Option<&str> {
        self.ids.get(address).map(String::as_str)
    }

    fn learn(&mut self, address: Address, resource: &Value) {
        self.ids.insert(address, text(resource, "id").to_owned());
    }

    /// Gives each part of a list a name of its own: a part without a name is called by its
    /// identifier, and of several parts with one name each has `#` and its identifier after it.
    fn tell_apart(&mut self, parts: &mut [Value], address: impl Fn(String) -> Address) {
        let mut count = HashMap::<_, usize>::new();
        for part in parts.iter() {
            *count.entry(text(part, "name").to_owned()).or_default() += 1;
        }
        for part in parts {
            let (id, name) = (text(part, "id"), text(part, "name").to_owned());
            let own = match name.as_str() {
                "" => id.to_owned(),
                _ if count[&name] == 1 => continue,
                name => format!("{name}#{id}"),
            };
            if !name.is_empty() {
                self.twice.entry(address(name)).or_default().push(own.clone());
            }
            self.renamed.insert(address(own.clone()));
            part["name"] = Value::String(own);
        }
    }

    fn function(&mut self, function: &Value, of_it: &[Value]) -> Result<Function, Error> {
        let name = text(function, "name").to_owned();
        self.learn(Address::Function(name.clone()), function);
        let settings = answered(Kind::Function, function, &name, |_, _| None)?;
        let variables: BTreeMap<_, _> = of_it
            .iter()
            .map(|one| (text(one, "key").to_owned(), text(one, "value").to_owned()))
            .collect();
        for key in variables.keys() {
            self.ids.insert(Address::Variable(name.clone(), key.clone()), key.clone());
        }
        let variables = (!variables.is_empty()).then_some(variables);
        Ok(Function { resource: Resource { name, settings }, variables })
    }

    fn bucket(
        &mut self,
        bucket: &Value,
        functions: &HashMap<String, String>,
    ) -> Result<Bucket, Error> {
        let name = text(bucket, "name").to_owned();
        self.learn(Address::Bucket(name.clone()), bucket);
        let of_function = |id: &str| functions.get(id).cloned();
        let settings = answered(Kind::Bucket, bucket, &name, |_, _| None)?;
        let outputs_of_it = parts(bucket, "outputs");
        let mut outputs = Vec::new();
        for output in outputs_of_it {
            let called = text(output, "name").to_owned();
            self.learn(Address::Output(name.clone(), called.clone()), output);
            let at = format!("{name}/{called}");
            let settings = answered(Kind::Output, output, &at, |_, id| of_function(id))?;
            outputs.push(Resource { name: called, settings });
        }
        let of_output = |id: &str| match id {
            ANY_OUTPUT => Some(ANY_OUTPUT.to_owned()),
            id => {
                let output = outputs_of_it.iter().find(|output| text(output, "id") == id);
                output.map(|output| text(output, "name").to_owned())
            }
        };
        let mut inputs = Vec::new();
        for input in parts(bucket, "inputs") {
            let called = text(input, "name").to_owned();
            self.learn(Address::Input(name.clone(), called.clone()), input);
            let at = format!("{name}/{called}");
            let settings = answered(Kind::Input, input, &at, |field, id| match field {
                ANSWERING_OUTPUT => of_output(id),
                _ => of_function(id),
            })?;
            inputs.push(Resource { name: called, settings });
        }
        let (inputs, outputs) = (Some(inputs), Some(outputs));
        Ok(Bucket { resource: Resource { name, settings }, inputs, outputs })
    }

    fn cron(
        &mut self,
        cron: &Value,
        functions: &HashMap<String, String>,
    ) -> Result<Resource, Error> {
        let name = text(cron, "name").to_owned();
        self.learn(Address::Cron(name.clone()), cron);
        let settings = answered(Kind::Cron, cron, &name, |_, id| functions.get(id).cloned())?;
        if has_more(&cron["bucket"])? {
            self.notes.push(format!(
                "cron {name}: its bucket has inputs, outputs or settings of its own, which are \
                 not in the manifest"
            ));
        }
        Ok(Resource { name, settings })
    }
}

/// Whether the bucket of a cron was changed since it was made with it.
fn has_more(bucket: &Value) -> Result<bool, Error> {
    let set = |kind, part: &Value, own: &[&str]| {
        let settings = answered(kind, part, "bucket", |_, id| Some(id.to_owned()))?;
        Ok(settings.keys().any(|key| !own.contains(&key.as_str())))
    };
    let (inputs, outputs) = (parts(bucket, "inputs"), parts(bucket, "outputs"));
    let ([input], [output]) = (inputs, outputs) else { return Ok(!bucket.is_null()) };
    Ok(set(Kind::Bucket, bucket, &["name"])?
        || set(Kind::Input, input, &["name"])?
        || set(Kind::Output, output, &["name", "destination", "function"])?)
}

fn answered(
    kind: Kind,
    resource: &Value,
    at: &str,
    name_of: impl FnMut(&str, &str) -> Option<String>,
) -> Result<Map<String, Value>, Error> {
    let Some(fields) = resource.as_object() else {
        return Err(Error::new(at, "the server's answer is not an object"));
    };
    settings::answered(kind, fields, at, name_of)
}

fn parts_mut<'a>(bucket: &'a mut Value, key: &str) -> &'a mut [Value] {
    bucket.get_mut(key).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

fn parts<'a>(bucket: &'a Value, key: &str) -> &'a [Value] {
    bucket[key].as_array().map_or(&[], Vec::as_slice)
}
