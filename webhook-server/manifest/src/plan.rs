//! What is to be done so that a server has what a manifest says.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::{Map, Value, json};
use webhook_core::admin::DEFAULT_INPUT_NAME;

use crate::{
    Address, Bucket, Error, Known, Manifest, Resource, diff, secrets,
    settings::{self, ANSWERING_OUTPUT, ANY_OUTPUT, Kind},
};

/// What is to be done, in an order in which nothing refers to what is not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Of what.
    pub address: Address,
    /// What happens to it.
    pub action: Action,
    /// What is set, with names where the interface wants identifiers; what an update takes back is
    /// `null`, which stands for a default everywhere. Empty for [`Action::Delete`].
    pub settings: Map<String, Value>,
    /// The part that becomes this one: the input that a new bucket has without being asked.
    pub replaces: Option<Address>,
    lines: Vec<String>,
}

impl Step {
    fn new(action: Action, address: Address, settings: Map<String, Value>) -> Self {
        Self { address, action, settings, replaces: None, lines: Vec::new() }
    }
}

/// What happens to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is made.
    Create,
    /// It gets other settings.
    Update,
    /// It goes.
    Delete,
}

impl Plan {
    /// What a server needs to have what the manifest says. With `prune` it loses, of each list
    /// that the manifest has, what is not in it.
    ///
    /// # Errors
    /// The manifest refers to a part that neither has, or to a name that several parts of the server
    /// have.
    pub fn between(declared: &Manifest, known: &Known, prune: bool) -> Result<Self, Error> {
        let mut planning = Planning { declared, known, prune, steps: Vec::new(), last: Vec::new() };
        planning.functions()?;
        planning.domains()?;
        planning.buckets()?;
        planning.crons()?;
        let Planning { mut steps, last, .. } = planning;
        steps.extend(last.into_iter().rev());
        Ok(Self { steps })
    }
}

struct Planning<'a> {
    declared: &'a Manifest,
    known: &'a Known,
    prune: bool,
    steps: Vec<Step>,
    /// What goes, in the opposite order: what others refer to comes first here.
    last: Vec<Step>,
}

impl Planning<'_> {
    fn functions(&mut self) -> Result<(), Error> {
        let prune = self.prune;
        let Some(functions) = &self.declared.functions else { return Ok(()) };
        let known = self.known.manifest.functions.as_deref().unwrap_or_default();
        let resources = functions.iter().map(|function| &function.resource);
        let there = known.iter().map(|function| &function.resource);
        self.list(resources, there, Kind::Function, "functions", Address::Function)?;
        for function in functions {
            let Some(variables) = &function.variables else { continue };
            let name = &function.resource.name;
            let before = known.iter().find(|known| known.resource.name == *name);
            let none = BTreeMap::new();
            let before = before.and_then(|known| known.variables.as_ref()).unwrap_or(&none);
            for (key, value) in variables {
                let action = match before.get(key) {
                    None => Action::Create,
                    Some(old) if old != value => Action::Update,
                    Some(_) => continue,
                };
                let settings = [("key", key), ("value", value)];
                let settings = settings.map(|(field, text)| (field.to_owned(), json!(text)));
                let address = Address::Variable(name.clone(), key.clone());
                let lines = vec!["value: (secret)".to_owned()];
                self.steps
                    .push(Step { lines, ..Step::new(action, address, Map::from_iter(settings)) });
            }
            let gone = before.keys().filter(|key| prune && !variables.contains_key(*key));
            for key in gone {
                self.delete(Address::Variable(name.clone(), key.clone()));
            }
        }
        Ok(())
    }

    fn domains(&mut self) -> Result<(), Error> {
        let prune = self.prune;
        let Some(domains) = &self.declared.domains else { return Ok(()) };
        let known = self.known.manifest.domains.as_deref().unwrap_or_default();
        for name in domains.iter().filter(|name| !known.contains(name)) {
            let settings = Map::from_iter([("domain".to_owned(), json!(name))]);
            self.steps.push(Step::new(Action::Create, Address::Domain(name.clone()), settings));
        }
        for name in known.iter().filter(|name| prune && !domains.contains(name)) {
            self.delete(Address::Domain(name.clone()));
        }
        Ok(())
    }

    fn buckets(&mut self) -> Result<(), Error> {
        let Some(buckets) = &self.declared.buckets else { return Ok(()) };
        let known = self.known.manifest.buckets.as_deref().unwrap_or_default();
        let resources = buckets.iter().map(|bucket| &bucket.resource);
        let there = known.iter().map(|bucket| &bucket.resource);
        self.list(resources, there, Kind::Bucket, "buckets", Address::Bucket)?;
        for (index, bucket) in buckets.iter().enumerate() {
            let name = &bucket.resource.name;
            let before = known.iter().find(|known| known.resource.name == *name);
            self.outputs(index, bucket, before)?;
            self.inputs(index, bucket, before)?;
        }
        Ok(())
    }

    fn outputs(
        &mut self,
        index: usize,
        bucket: &Bucket,
        before: Option<&Bucket>,
    ) -> Result<(), Error> {
        let Some(outputs) = &bucket.outputs else { return Ok(()) };
        let there = before.and_then(|known| known.outputs.as_deref()).unwrap_or_default();
        let at = format!("buckets[{index}].outputs");
        let address = |name| Address::Output(bucket.resource.name.clone(), name);
        self.list(outputs.iter(), there.iter(), Kind::Output, &at, address)
    }

    fn inputs(
        &mut self,
        index: usize,
        bucket: &Bucket,
        before: Option<&Bucket>,
    ) -> Result<(), Error> {
        let Some(inputs) = &bucket.inputs else { return Ok(()) };
        let name = &bucket.resource.name;
        let known = before.and_then(|known| known.outputs.as_deref()).unwrap_or_default();
        let outputs = match &bucket.outputs {
            Some(outputs) if self.prune => outputs.iter().chain(&[]),
            Some(outputs) => outputs.iter().chain(known),
            None => known.iter().chain(&[]),
        };
        let outputs: BTreeSet<_> = outputs.map(|output| output.name.as_str()).collect();
        let at = format!("buckets[{index}].inputs");
        for (place, input) in inputs.iter().enumerate() {
            let answering = input.settings.get(ANSWERING_OUTPUT).and_then(Value::as_str);
            if let Some(answering) = answering.filter(|name| *name != ANY_OUTPUT)
                && !outputs.contains(answering)
            {
                let at = format!("{at}[{place}].{ANSWERING_OUTPUT}");
                return Err(Error::new(at, format!("the bucket has no output {answering:?}")));
            }
        }
        let address = |input| Address::Input(name.clone(), input);
        let first = self.steps.len();
        let settings = [("name".to_owned(), json!(DEFAULT_INPUT_NAME))].into_iter().collect();
        let made = [Resource { name: DEFAULT_INPUT_NAME.to_owned(), settings }];
        let there = match before {
            Some(known) => known.inputs.as_deref().unwrap_or_default(),
            // A bucket is made with it.
            None => &made,
        };
        let is_new = before.is_none();
        self.list(inputs.iter(), there.iter(), Kind::Input, &at, address)?;
        if is_new && !inputs.iter().any(|input| input.name == DEFAULT_INPUT_NAME) {
            let default = address(DEFAULT_INPUT_NAME.to_owned());
            match self.steps.get_mut(first) {
                Some(step) => step.replaces = Some(default.clone()),
                None => {
                    self.steps.push(Step::new(Action::Delete, default.clone(), Map::new()));
                }
            }
            self.last.retain(|step| step.address != default);
        }
        Ok(())
    }

    fn crons(&mut self) -> Result<(), Error> {
        let Some(crons) = &self.declared.crons else { return Ok(()) };
        let known = self.known.manifest.crons.as_deref().unwrap_or_default();
        self.list(crons.iter(), known.iter(), Kind::Cron, "crons", Address::Cron)
    }

    /// What one list needs.
    fn list<'r>(
        &mut self,
        declared: impl Iterator<Item = &'r Resource> + Clone,
        known: impl Iterator<Item = &'r Resource> + Clone,
        kind: Kind,
        at: &str,
        address: impl Fn(String) -> Address,
    ) -> Result<(), Error> {
        for (index, resource) in declared.clone().enumerate() {
            let address = address(resource.name.clone());
            let at = format!("{at}[{index}]");
            self.unambiguous(&address, &at)?;
            self.referred(kind, resource, &at)?;
            let used = &self.declared.used;
            let before = known.clone().find(|known| known.name == resource.name);
            let mut settings = resource.settings.clone();
            let (action, lines) = match before {
                None => (Action::Create, diff::made(&resource.settings, used)),
                Some(before) if same(kind, before, resource) => continue,
                Some(before) => {
                    // Fields beside the interface keep what they are where they are left out.
                    for key in before.settings.keys() {
                        settings.entry(key.as_str()).or_insert(Value::Null);
                    }
                    let lines = diff::changed(&before.settings, &resource.settings, used);
                    if self.known.renamed.contains(&address) {
                        // An absent name keeps the name that the server has.
                        settings.shift_remove("name");
                    }
                    (Action::Update, lines)
                }
            };
            self.steps.push(Step { address, action, settings, replaces: None, lines });
        }
        if self.prune {
            for before in known {
                if !declared.clone().any(|resource| resource.name == before.name) {
                    let address = address(before.name.clone());
                    self.delete(address);
                }
            }
        }
        Ok(())
    }

    fn unambiguous(&self, address: &Address, at: &str) -> Result<(), Error> {
        let Some(names) = self.known.twice.get(address) else { return Ok(()) };
        let names = names.join(" or ");
        let reason = format!("the server has more than one {address}: say which, as {names}");
        Err(Error::new(at, reason))
    }

    /// Whether the functions are there that a part refers to.
    fn referred(&self, kind: Kind, resource: &Resource, at: &str) -> Result<(), Error> {
        for (_, field) in settings::references(kind) {
            let Some(name) = resource.settings.get(&field).and_then(Value::as_str) else {
                continue;
            };
            let at = format!("{at}.{field}");
            let declared = self.declared.functions.as_ref();
            let declares = declared
                .is_some_and(|all| all.iter().any(|function| function.resource.name == name));
            let address = Address::Function(name.to_owned());
            let stays =
                self.known.ids.contains_key(&address) && !(self.prune && declared.is_some());
            if !declares && !stays {
                return Err(Error::new(at, format!("there is no function {name:?}")));
            }
            self.unambiguous(&address, &at)?;
        }
        Ok(())
    }

    fn delete(&mut self, address: Address) {
        self.last.push(Step::new(Action::Delete, address, Map::new()));
    }
}

fn same(kind: Kind, before: &Resource, after: &Resource) -> bool {
    // The server answers a zone as its database spells it.
    let plain = |resource: &Resource| {
        let mut settings = resource.settings.clone();
        if kind == Kind::Cron
            && let Some(Value::String(zone)) = settings.get_mut("timezone")
        {
            zone.make_ascii_lowercase();
        }
        Value::Object(settings)
    };
    secrets::same(&plain(before), &plain(after))
}

impl fmt::Display for Plan {
    /// A line for each part, indented ones for what is set or changes, and how many there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts = [0; 3];
        for step in &self.steps {
            let sign = match step.action {
                Action::Create => '+',
                Action::Update => '~',
                Action::Delete => '-',
            };
            counts[step.action as usize] += 1;
            writeln!(f, "{sign} {}", step.address)?;
            for line in &step.lines {
                writeln!(f, "    {line}")?;
            }
        }
        let [made, changed, deleted] = counts;
        writeln!(f, "to make: {made}, to change: {changed}, to delete: {deleted}")
    }
}
