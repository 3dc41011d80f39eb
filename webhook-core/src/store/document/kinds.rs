//! How each configured thing becomes a document, and is read from one.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, error::Category};
use uuid::Uuid;

use super::{CronState, Document, DocumentKey, DocumentKind, DocumentState};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, CronId, DomainId, FunctionId, InputId, OutputId},
    model::{
        Bucket, BucketSpec, Cron, CronSpec, Described, Domain, DomainSpec, Function, FunctionSpec,
        Input, InputSpec, Notification, NotificationSpec, Output, OutputSpec, described,
    },
};

/// The form of the documents that this version writes. It reads this form and older ones.
pub const SCHEMA: u32 = 1;

/// A configured thing that is kept as a document.
pub trait Configured: Sized {
    /// Its kind.
    const KIND: DocumentKind;

    /// Its document in an account, with what it has of the state.
    ///
    /// # Errors
    /// [`Internal`](crate::ErrorKind::Internal) for what JSON cannot say.
    fn document(&self, account: AccountId) -> Result<Document, Error>;

    /// What a document says.
    ///
    /// # Errors
    /// [`Internal`](crate::ErrorKind::Internal), for the log, names the document and its field.
    fn read(document: Document) -> Result<Self, Error>;

    /// Names a document of this kind.
    #[must_use]
    fn key(id: Uuid) -> DocumentKey {
        DocumentKey { kind: Self::KIND, id }
    }
}

/// The JSON of a document: the specification, and facts that no caller writes.
#[derive(Default, Serialize, Deserialize)]
struct Facts<S = Map<String, Value>> {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    created_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron_id: Option<CronId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_id: Option<InputId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_id: Option<OutputId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain_id: Option<DomainId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    suspended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u32>,
    /// In milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    revised: Option<i64>,
    spec: S,
}

/// The texts of what is stored openly, and of what is sealed: fields with secrets in them.
fn texts<S: Serialize + Described + Clone + Default>(
    spec: &S,
    mut facts: Facts,
) -> Result<(String, String), Error> {
    let Value::Object(mut fields) = serde_json::to_value(spec).map_err(Error::internal)? else {
        return Err(Error::internal("a specification is no object"));
    };
    // On the wire the secrets of extension fields are masked.
    described::secrets(&mut spec.clone(), "", &mut |place, secret| {
        let (name, rest) = place.split_once('.').unwrap_or((place, ""));
        let pointer = format!("/{}", rest.replace(['.', '['], "/").replace(']', ""));
        if let Some(stored) = fields.get_mut(name).and_then(|it| it.pointer_mut(&pointer)) {
            *stored = Value::String(secret.expose().to_owned());
        }
    });
    let defaults = serde_json::to_value(S::default()).map_err(Error::internal)?;
    let mut sealed = Map::new();
    for (field, _) in spec.fields().iter().filter(|(field, _)| field.sealed) {
        let value = fields.remove(field.name);
        if let Some(value) = value.filter(|value| defaults.get(field.name) != Some(value)) {
            sealed.insert(field.name.to_owned(), value);
        }
    }
    facts.spec = fields;
    let json = serde_json::to_string(&facts).map_err(Error::internal)?;
    let secrets = match sealed.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&sealed).map_err(Error::internal)?,
    };
    Ok((json, secrets))
}

impl Document {
    /// A document without name, route and uses.
    fn new<T: Configured>(
        id: Uuid,
        account_id: AccountId,
        version: u64,
        (created_at, updated_at): (Timestamp, Timestamp),
        (json, secrets): (String, String),
    ) -> Self {
        Self {
            key: T::key(id),
            account_id,
            bucket_id: None,
            name: String::new(),
            route: String::new(),
            is_watched: false,
            version,
            schema: SCHEMA,
            json,
            secrets,
            uses: Vec::new(),
            created_at,
            updated_at,
            state: DocumentState::default(),
        }
    }

    /// The bucket with which it goes.
    fn bucket(&self) -> BucketId {
        self.bucket_id.unwrap_or(BucketId::from_uuid(Uuid::nil()))
    }

    fn parse<S: DeserializeOwned>(&self) -> Result<Facts<S>, Error> {
        let broken = |error| {
            let DocumentKey { kind, id } = self.key;
            Error::internal(format!("the {kind} {id} cannot be read: {error}"))
        };
        if self.schema > SCHEMA {
            return Err(broken(format!("its schema {} is newer than {SCHEMA}", self.schema)));
        }
        // The text of an error could have a part of a secret in it.
        let wrong = |error: serde_json::Error| match error.classify() {
            Category::Data => {
                broken("a field is missing or has a value of another type".to_owned())
            }
            _ => broken(format!("it is no JSON at line {}", error.line())),
        };
        if self.secrets.is_empty() {
            return serde_json::from_str(&self.json).map_err(wrong);
        }
        let mut object: Map<String, Value> = serde_json::from_str(&self.json).map_err(wrong)?;
        let secrets: Map<String, Value> = serde_json::from_str(&self.secrets).map_err(wrong)?;
        if let Some(Value::Object(spec)) = object.get_mut("spec") {
            spec.extend(secrets);
        }
        serde_json::from_value(Value::Object(object)).map_err(wrong)
    }
}

fn functions(ids: impl IntoIterator<Item = Option<FunctionId>>) -> Vec<DocumentKey> {
    ids.into_iter().flatten().map(|id| Function::key(id.as_uuid())).collect()
}

impl Configured for Bucket {
    const KIND: DocumentKind = DocumentKind::Bucket;

    fn document(&self, account: AccountId) -> Result<Document, Error> {
        let facts = Facts { cron_id: self.cron_id, suspended: self.suspended, ..Facts::default() };
        let mut spec = self.spec.clone();
        // What it shows of the bucket itself is not stored.
        let auth = &mut spec.auth;
        (auth.id, auth.created_at, auth.updated_at) = Default::default();
        let texts = texts(&spec, facts)?;
        let times = (self.created_at, self.updated_at);
        Ok(Document {
            bucket_id: Some(self.id),
            name: self.spec.name.clone(),
            is_watched: !self.spec.retention.is_unset(),
            ..Document::new::<Self>(self.id.as_uuid(), account, self.version, times, texts)
        })
    }

    fn read(document: Document) -> Result<Self, Error> {
        let facts = document.parse::<BucketSpec>()?;
        let id = BucketId::from_uuid(document.key.id);
        let mut bucket = Self::new(id, document.account_id, document.created_at, facts.spec);
        bucket.version = document.version;
        bucket.updated_at = document.updated_at;
        bucket.suspended = facts.suspended;
        bucket.cron_id = facts.cron_id;
        bucket.stamp_auth();
        Ok(bucket)
    }
}

impl Configured for Input {
    const KIND: DocumentKind = DocumentKind::Input;

    fn document(&self, account: AccountId) -> Result<Document, Error> {
        let facts = Facts {
            created_by: self.created_by.clone(),
            domain_id: self.domain_id,
            ..Facts::default()
        };
        let spec = &self.spec;
        let texts = texts(spec, facts)?;
        let mut uses = functions([spec.function_id]);
        uses.extend(self.domain_id.map(|id| Domain::key(id.as_uuid())));
        let times = (self.created_at, self.updated_at);
        let route = match self.domain_id {
            Some(_) => format!("{}{}", spec.custom_domain, spec.prefix()),
            None => String::new(),
        };
        Ok(Document {
            bucket_id: Some(self.bucket_id),
            name: spec.name.clone(),
            route,
            uses,
            ..Document::new::<Self>(self.id.as_uuid(), account, self.version, times, texts)
        })
    }

    fn read(document: Document) -> Result<Self, Error> {
        let facts = document.parse::<InputSpec>()?;
        let id = InputId::from_uuid(document.key.id);
        let bucket = document.bucket();
        Ok(Self {
            version: document.version,
            updated_at: document.updated_at,
            created_by: facts.created_by,
            domain_id: facts.domain_id,
            ..Self::new(id, bucket, document.created_at, facts.spec)
        })
    }
}

impl Configured for Output {
    const KIND: DocumentKind = DocumentKind::Output;

    fn document(&self, account: AccountId) -> Result<Document, Error> {
        let facts = Facts {
            created_by: self.created_by.clone(),
            cron_id: self.cron_id,
            ..Facts::default()
        };
        let spec = &self.spec;
        let texts = texts(spec, facts)?;
        let times = (self.created_at, self.updated_at);
        let (pauses, failing_since) = (self.pauses.clone(), self.failing_since);
        let state = DocumentState { pauses, failing_since, ..DocumentState::default() };
        Ok(Document {
            bucket_id: Some(self.bucket_id),
            name: spec.name.clone(),
            uses: functions([spec.function_id, spec.response_function_id]),
            state,
            ..Document::new::<Self>(self.id.as_uuid(), account, self.version, times, texts)
        })
    }

    fn read(document: Document) -> Result<Self, Error> {
        let facts = document.parse::<OutputSpec>()?;
        let id = OutputId::from_uuid(document.key.id);
        let bucket = document.bucket();
        Ok(Self {
            version: document.version,
            updated_at: document.updated_at,
            created_by: facts.created_by,
            cron_id: facts.cron_id,
            failing_since: document.state.failing_since,
            pauses: document.state.pauses,
            ..Self::new(id, bucket, document.created_at, facts.spec)
        })
    }
}

impl Configured for Cron {
    const KIND: DocumentKind = DocumentKind::Cron;

    fn document(&self, account: AccountId) -> Result<Document, Error> {
        let facts = Facts {
            input_id: Some(self.input_id),
            output_id: Some(self.output_id),
            ..Facts::default()
        };
        let texts = texts(&self.spec, facts)?;
        let times = (self.created_at, self.updated_at);
        let cron = CronState::starting(self.next_run);
        Ok(Document {
            bucket_id: Some(self.bucket_id),
            name: self.spec.name.clone(),
            uses: functions([self.spec.function_id]),
            state: DocumentState { cron, ..DocumentState::default() },
            ..Document::new::<Self>(self.id.as_uuid(), account, self.version, times, texts)
        })
    }

    fn read(document: Document) -> Result<Self, Error> {
        let mut facts = document.parse::<CronSpec>()?;
        facts.spec.enabled &= !document.state.cron.is_over;
        let nil = Uuid::nil();
        Ok(Self {
            id: CronId::from_uuid(document.key.id),
            account_id: document.account_id,
            version: document.version,
            created_at: document.created_at,
            updated_at: document.updated_at,
            next_run: document.state.cron.next_run,
            bucket_id: document.bucket(),
            input_id: facts.input_id.unwrap_or(InputId::from_uuid(nil)),
            output_id: facts.output_id.unwrap_or(OutputId::from_uuid(nil)),
            spec: facts.spec,
        })
    }
}

impl Configured for Function {
    const KIND: DocumentKind = DocumentKind::Function;

    fn document(&self, account: AccountId) -> Result<Document, Error> {
        let facts = Facts {
            revision: Some(self.revision),
            revised: Some(self.revised.as_millis()),
            ..Facts::default()
        };
        let texts = texts(&self.spec, facts)?;
        let times = (self.created, self.updated);
        Ok(Document {
            name: self.spec.name.clone(),
            ..Document::new::<Self>(self.id.as_uuid(), account, self.version, times, texts)
        })
    }

    fn read(document: Document) -> Result<Self, Error> {
        let facts = document.parse::<FunctionSpec>()?;
        let id = FunctionId::from_uuid(document.key.id);
        Ok(Self {
            version: document.version,
            revision: facts.revision.unwrap_or(1),
            revised: facts.revised.map_or(document.created_at, Timestamp::from_millis),
            updated: document.updated_at,
            ..Self::new(id, document.account_id, document.created_at, facts.spec)
        })
    }
}

impl Configured for Domain {
    const KIND: DocumentKind = DocumentKind::Domain;

    fn document(&self, account: AccountId) -> Result<Document, Error> {
        let texts = texts(&self.spec, Facts::default())?;
        let times = (self.created_at, self.updated_at);
        Ok(Document {
            name: self.spec.domain.clone(),
            ..Document::new::<Self>(self.id.as_uuid(), account, self.version, times, texts)
        })
    }

    fn read(document: Document) -> Result<Self, Error> {
        let facts = document.parse::<DomainSpec>()?;
        Ok(Self {
            id: DomainId::from_uuid(document.key.id),
            account_id: document.account_id,
            version: document.version,
            created_at: document.created_at,
            updated_at: document.updated_at,
            spec: facts.spec,
        })
    }
}

impl Configured for Notification {
    const KIND: DocumentKind = DocumentKind::Notification;

    fn document(&self, account: AccountId) -> Result<Document, Error> {
        let texts = texts(&self.spec, Facts::default())?;
        let times = (self.created_at, self.updated_at);
        let last_sent_at = self.last_sent_at;
        let state = DocumentState { last_sent_at, ..DocumentState::default() };
        Ok(Document {
            bucket_id: self.spec.target(),
            is_watched: !self.spec.disabled,
            state,
            ..Document::new::<Self>(self.id.as_uuid(), account, self.version, times, texts)
        })
    }

    fn read(document: Document) -> Result<Self, Error> {
        let facts = document.parse::<NotificationSpec>()?;
        Ok(Self {
            id: crate::id::NotificationId::from_uuid(document.key.id),
            account_id: document.account_id,
            version: document.version,
            created_at: document.created_at,
            updated_at: document.updated_at,
            last_sent_at: document.state.last_sent_at,
            spec: facts.spec,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;
    use crate::model::Secret;

    /// A field of an output that this file does not know.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, crate::wire::Described)]
    struct Extended {
        /// The number of people who watch this output.
        #[field(label = "Watchers", sealed)]
        watchers: u32,
        /// The room of those people.
        #[field(label = "Room")]
        room: String,
    }

    #[test]
    fn a_field_is_stored_because_it_is_declared() -> Result<(), Error> {
        let spec = Extended { watchers: 3, room: "r".to_owned() };
        let texts = texts(&spec, Facts::default())?;
        assert_eq!(texts.0, r#"{"spec":{"room":"r"}}"#);
        assert_eq!(texts.1, r#"{"watchers":3}"#, "it is sealed, as it says");
        let now = Timestamp::from_secs(1);
        let id = Uuid::nil();
        let account = AccountId::generate();
        let document = Document::new::<Output>(id, account, 1, (now, now), texts);
        assert_eq!(document.parse::<Extended>()?.spec, spec);
        Ok(())
    }

    /// A document that is not whole is refused, and the refusal repeats no secret.
    #[test]
    fn a_document_is_whole_or_is_refused() -> Result<(), Error> {
        let now = Timestamp::from_secs(1);
        let account = AccountId::generate();
        let mut bucket = Bucket::new(BucketId::generate(), account, now, BucketSpec::new("b"));
        bucket.spec.auth.token = Secret::new("s3cret");
        let document = bucket.document(account)?;
        assert_eq!(Bucket::read(document.clone())?, bucket);
        for (json, secrets) in [
            ("{}", ""),
            (r#"{"spec": {"name": 1}}"#, ""),
            (r#"{"spec": {"name": "#, ""),
            ("{}", document.secrets.as_str()),
            (&document.json, r#"{"auth": {"token": ["s3cret"]}}"#),
            (&document.json, r#"{"auth": s3cret"#),
        ] {
            let (json, secrets) = (json.to_owned(), secrets.to_owned());
            let error = Bucket::read(Document { json, secrets, ..document.clone() });
            let error = error.expect_err("it is not whole");
            let cause = error.source().expect("the log has a cause").to_string();
            assert!(cause.starts_with(&format!("the bucket {} cannot be read: ", bucket.id)));
            assert!(!cause.contains("s3cret"), "{cause}");
        }
        Ok(())
    }
}
