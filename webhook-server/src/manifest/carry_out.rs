//! The steps of a plan, one operation each.

use std::collections::HashMap;

use http::Method;
use serde_json::{Map, Value, json};
use webhook_core::admin::DEFAULT_INPUT_NAME;
use webhook_manifest::{Action, Address, Kind, Known, Plan, Step, references};

use crate::{
    agent::{Api, escaped},
    failure::Failure,
};

/// Does all of it, or says what was the first thing that the server refused. Whoever applies the
/// manifest again goes on from there.
/// With `allow_loops`, outputs may lead back into their own buckets.
pub(super) async fn carry_out(
    api: &Api,
    plan: Plan,
    known: &Known,
    allow_loops: bool,
) -> Result<(), Failure> {
    let steps = plan.steps.len();
    let mut carrying = Carrying { api, known, allow_loops, made: HashMap::new() };
    for (done, step) in plan.steps.into_iter().enumerate() {
        let what = step.address.to_string();
        carrying.step(step).await.map_err(|reason| {
            Failure::new(format!("{what}: {reason} ({done} of {steps} steps are done)"))
        })?;
    }
    Ok(())
}

struct Carrying<'a> {
    api: &'a Api,
    known: &'a Known,
    allow_loops: bool,
    /// The identifiers of what was made, and of the inputs of new buckets.
    made: HashMap<Address, String>,
}

impl Carrying<'_> {
    async fn step(&mut self, step: Step) -> Result<(), String> {
        let Step { address, action, mut settings, replaces, .. } = step;
        self.identify(&address, &mut settings)?;
        let body = Value::Object(settings);
        let collection = self.collection(&address)?;
        let (method, path) = match (&address, action, &replaces) {
            (Address::Variable(..), Action::Create | Action::Update, _) => {
                (Method::PUT, collection)
            }
            (Address::Variable(_, key), Action::Delete, _) => {
                (Method::DELETE, format!("{collection}/{}", escaped(key)))
            }
            (_, Action::Create, None) => (Method::POST, collection),
            (_, Action::Create, Some(before)) => {
                (Method::PUT, format!("{collection}/{}", self.id(before)?))
            }
            (_, Action::Update, _) => (Method::PUT, format!("{collection}/{}", self.id(&address)?)),
            (Address::Bucket(_), Action::Delete, _) => {
                (Method::DELETE, format!("{collection}/{}?force=true", self.id(&address)?))
            }
            (_, Action::Delete, _) => {
                (Method::DELETE, format!("{collection}/{}", self.id(&address)?))
            }
        };
        if action == Action::Delete {
            return self.api.done(method, &path).await.map_err(|broken| broken.to_string());
        }
        let flag = if self.allow_loops { "?allow_loop=true" } else { "" };
        let answer = self.api.json(method, &format!("{path}{flag}"), Some(&body)).await;
        let answer = answer.map_err(|broken| broken.to_string())?;
        if let Some(id) = answer["id"].as_str() {
            if let Address::Bucket(name) = &address
                && action == Action::Create
                && let Some(input) = answer["inputs"][0]["id"].as_str()
            {
                let default = Address::Input(name.clone(), DEFAULT_INPUT_NAME.to_owned());
                self.made.insert(default, input.to_owned());
            }
            self.made.insert(address, id.to_owned());
        }
        Ok(())
    }

    /// Puts identifiers where the manifest has names.
    fn identify(&self, address: &Address, settings: &mut Map<String, Value>) -> Result<(), String> {
        let kind = match address {
            Address::Function(_) => Kind::Function,
            Address::Bucket(_) => Kind::Bucket,
            Address::Input(..) => Kind::Input,
            Address::Output(..) => Kind::Output,
            Address::Cron(_) => Kind::Cron,
            Address::Variable(..) | Address::Domain(_) => return Ok(()),
        };
        for (id, name) in references(kind) {
            match settings.shift_remove(&name) {
                Some(Value::String(function)) => {
                    settings.insert(id, json!(self.id(&Address::Function(function))?));
                }
                Some(none) => drop(settings.insert(id, none)),
                None => {}
            }
        }
        // The only field that `null` is no default of.
        settings.retain(|key, value| key != "response_from_output" || !value.is_null());
        if let Address::Input(bucket, _) = address
            && let Some(Value::String(output)) = settings.get("response_from_output")
            && output != "anyOutput"
        {
            let id = self.id(&Address::Output(bucket.clone(), output.clone()))?.to_owned();
            settings.insert("response_from_output".to_owned(), json!(id));
        }
        Ok(())
    }

    /// The path that a part of this kind is made under.
    fn collection(&self, address: &Address) -> Result<String, String> {
        Ok(match address {
            Address::Function(_) => "/v1/functions".to_owned(),
            Address::Domain(_) => "/v1/domains".to_owned(),
            Address::Bucket(_) => "/v1/buckets".to_owned(),
            Address::Cron(_) => "/v1/crons".to_owned(),
            Address::Variable(function, _) => {
                let id = self.id(&Address::Function(function.clone()))?;
                format!("/v1/functions/{id}/config")
            }
            Address::Input(bucket, _) => {
                format!("/v1/buckets/{}/inputs", self.id(&Address::Bucket(bucket.clone()))?)
            }
            Address::Output(bucket, _) => {
                format!("/v1/buckets/{}/outputs", self.id(&Address::Bucket(bucket.clone()))?)
            }
        })
    }

    fn id(&self, address: &Address) -> Result<&str, String> {
        let made = self.made.get(address).map(String::as_str);
        made.or_else(|| self.known.id(address)).ok_or_else(|| format!("there is no {address}"))
    }
}
