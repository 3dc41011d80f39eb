//! Rows of the version before, and the documents that they become.
//!
//! The columns of a row become the JSON of a document, which is then read and written as every
//! document is.

use sea_orm::{DbErr, prelude::Uuid};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use webhook_core::{
    AccountId, BucketId, Error,
    model::{
        Bucket, Cron, Domain, Function, Headers, Input, Notification, Output, Pause, PausedBy,
        Pauses, StoredPauses,
    },
    store::{Configured, Document, DocumentKey, DocumentKind, DocumentState, SCHEMA},
};

use crate::{
    codec,
    entity::moment,
    fault::{About, DatabaseError, Row as Place},
    secret::{Cell, Vault},
    tx::{Read, Row, with},
};

/// A row of the version before.
#[derive(Clone)]
pub(super) struct Old {
    /// All but the JSON.
    document: Document,
    /// The fields of the JSON next to the specification.
    facts: Map<String, Value>,
    spec: Map<String, Value>,
    /// The columns of [`Form::Opened`].
    columns: Vec<(&'static str, Vec<u8>)>,
}

/// A document and its former versions, the oldest first.
pub(super) struct Moved {
    pub(super) document: Document,
    pub(super) former: Vec<Document>,
}

/// How a column becomes a field of its name. A column that is null becomes none.
#[derive(Clone, Copy)]
enum Form {
    Text,
    /// Text that is stored as bytes.
    Bytes,
    Bool,
    Int,
    Id,
    /// The text of a JSON value.
    Json,
    /// Bytes from which fields are made later: sealed ones and headers.
    Opened,
}

/// The columns that become fields next to the specification.
const FACTS: [&str; 6] =
    ["created_by", "cron_id", "domain_id", "input_id", "output_id", "suspended"];

const fn columns(kind: DocumentKind) -> &'static [(Form, &'static [&'static str])] {
    match kind {
        DocumentKind::Bucket => &[
            (Form::Text, &["name", "description", "auth_type", "auth_username"]),
            (Form::Bool, &["stream", "ephemeral", "large_webhooks", "static_ip", "suspended"]),
            (Form::Int, &["retention_logs", "retention_failed"]),
            (Form::Id, &["cron_id"]),
            (Form::Opened, &["auth_password_sealed", "auth_token_sealed"]),
        ],
        DocumentKind::Input => &[
            (Form::Text, &["name", "description", "response_from_output", "custom_domain"]),
            (Form::Text, &["path_prefix", "tls_version", "created_by"]),
            (Form::Bytes, &["body"]),
            (Form::Bool, &["strip_path_prefix", "legacy_tls"]),
            (Form::Int, &["status_code"]),
            (Form::Id, &["function_id", "domain_id"]),
            (Form::Opened, &["headers", "extensions_sealed"]),
        ],
        DocumentKind::Output => &[
            (Form::Text, &["name", "description", "destination", "created_by"]),
            (Form::Bool, &["internal", "disabled", "lock_path", "tls_verification"]),
            (Form::Int, &["retries", "timeout"]),
            (Form::Id, &["function_id", "response_function_id", "cron_id"]),
            (Form::Json, &["throttle", "durability", "replay_missing"]),
            (Form::Opened, &["headers_sealed", "rules_sealed", "extensions_sealed"]),
        ],
        DocumentKind::Cron => &[
            (Form::Text, &["name", "schedule", "timezone", "method", "destination"]),
            (Form::Bytes, &["payload"]),
            (Form::Bool, &["enabled", "recurring"]),
            (Form::Int, &["next_run", "starts_at", "ends_at"]),
            (Form::Id, &["function_id", "input_id", "output_id"]),
            (Form::Opened, &["headers_sealed"]),
        ],
        DocumentKind::Function => &[
            (Form::Text, &["name", "driver"]),
            (Form::Bytes, &["payload"]),
            (Form::Json, &["metadata"]),
        ],
        DocumentKind::Domain => &[(Form::Text, &["domain"])],
        DocumentKind::Notification => &[
            (Form::Json, &["events", "buckets"]),
            (Form::Id, &["to_bucket"]),
            (Form::Bool, &["disabled"]),
            (Form::Int, &["min_interval", "queue_deep_at", "last_sent_at"]),
        ],
    }
}

/// The next rows of a kind after an identifier.
pub(super) async fn read(
    tx: &impl Read,
    kind: DocumentKind,
    after: Uuid,
    limit: i64,
) -> Result<Vec<Old>, DatabaseError> {
    let (more, join) = match kind {
        DocumentKind::Input => (
            ", b.account_id, n.id AS domain_id",
            "JOIN old_bucket b ON b.id = o.bucket_id LEFT JOIN old_domain n \
             ON n.name = o.custom_domain AND n.account_id = b.account_id",
        ),
        DocumentKind::Output => {
            (", b.account_id, o.timeout_secs AS timeout", "JOIN old_bucket b ON b.id = o.bucket_id")
        }
        DocumentKind::Function => (", o.created AS created_at, o.updated AS updated_at", ""),
        DocumentKind::Domain => (", o.name AS domain", ""),
        _ => ("", ""),
    };
    let kind = kind.as_str();
    let sql = format!(
        "SELECT '{kind}' AS kind, o.*{more} FROM old_{kind} o {join} \
         WHERE o.id > ? ORDER BY o.id LIMIT ?"
    );
    tx.query(with(sql, [after.into(), limit.into()]), Old::read).await
}

/// A current pause of an output, as the version before stored it.
#[derive(Deserialize)]
struct OldPause {
    at: i64,
    until: Option<i64>,
    by: PausedBy,
    reason: String,
}

/// A former version: its number, when it began, and the fields that it had, where they were kept.
type Version = (i64, i64, Map<String, Value>);

impl Old {
    fn read(row: &Row<'_>) -> Result<Self, DatabaseError> {
        let kind: String = row.get("kind")?;
        let kind = DocumentKind::from_name(&kind).ok_or(DbErr::Type(kind))?;
        let bucket: Option<Uuid> = match kind {
            DocumentKind::Input | DocumentKind::Output | DocumentKind::Cron => {
                row.get("bucket_id")?
            }
            _ => None,
        };
        let document = Document {
            key: DocumentKey { kind, id: row.get("id")? },
            account_id: AccountId::from_uuid(row.get("account_id")?),
            bucket_id: bucket.map(BucketId::from_uuid),
            name: String::new(),
            route: String::new(),
            is_watched: false,
            version: 1,
            schema: SCHEMA,
            json: String::new(),
            secrets: String::new(),
            uses: Vec::new(),
            created_at: moment(row.get("created_at")?),
            updated_at: moment(row.get("updated_at")?),
            state: DocumentState::default(),
        };
        let mut old = Self { document, facts: Map::new(), spec: Map::new(), columns: Vec::new() };
        for (form, names) in columns(kind) {
            for name in *names {
                old.read_column(row, *form, name)?;
            }
        }
        Ok(old)
    }

    fn read_column(
        &mut self,
        row: &Row<'_>,
        form: Form,
        name: &'static str,
    ) -> Result<(), DatabaseError> {
        let bytes = || row.get::<Option<Vec<u8>>>(name);
        let text = || row.get::<Option<String>>(name);
        let value = match form {
            Form::Text => text()?.map(Value::from),
            Form::Bytes => bytes()?.map(|bytes| String::from_utf8_lossy(&bytes).into()),
            Form::Bool => row.get::<Option<bool>>(name)?.map(Value::from),
            Form::Int => row.get::<Option<i64>>(name)?.map(Value::from),
            Form::Id => row.get::<Option<Uuid>>(name)?.map(|id| id.to_string().into()),
            // A text that is not JSON fails when the document is read, with its table and row.
            Form::Json => {
                text()?.map(|text| serde_json::from_str(&text).unwrap_or("no JSON".into()))
            }
            Form::Opened => {
                self.columns.extend(bytes()?.map(|bytes| (name, bytes)));
                None
            }
        };
        let fields = if FACTS.contains(&name) { &mut self.facts } else { &mut self.spec };
        fields.extend(value.map(|value| (name.to_owned(), value)));
        Ok(())
    }

    pub(super) const fn id(&self) -> Uuid {
        self.document.key.id
    }

    const fn place(&self) -> Place {
        Place { table: self.document.key.kind.as_str(), id: self.id() }
    }

    fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.spec.insert(field.to_owned(), value.into());
    }

    /// The number that a column had which is no field of the specification.
    fn take_number(&mut self, column: &str) -> Option<i64> {
        self.spec.remove(column).and_then(|number| number.as_i64())
    }

    /// The plain bytes of a column of [`Form::Opened`]; none where nothing was stored.
    fn open_column(&self, vault: &Vault, column: &'static str) -> Result<Option<Vec<u8>>, Error> {
        let Some((_, bytes)) = self.columns.iter().find(|(name, _)| *name == column) else {
            return Ok(None);
        };
        let Place { table, id } = self.place();
        match column.ends_with("_sealed") {
            true => vault.open(Cell::new(table, column, id), bytes).map(Some),
            false => Ok(Some(bytes.clone())),
        }
    }

    fn open_json<T: DeserializeOwned>(
        &self,
        vault: &Vault,
        column: &'static str,
    ) -> Result<Option<T>, Error> {
        let text = self.open_column(vault, column)?;
        text.map(|text| self.place().read(column, serde_json::from_slice(&text))).transpose()
    }

    fn open_extensions(&self, vault: &Vault) -> Result<Map<String, Value>, Error> {
        Ok(self.open_json(vault, "extensions_sealed")?.unwrap_or_default())
    }

    fn open_headers(&mut self, vault: &Vault, column: &'static str) -> Result<(), Error> {
        let bytes = self.open_column(vault, column)?.unwrap_or_default();
        let headers = self.place().read("headers", codec::decode_headers(&bytes))?;
        self.set("headers", serde_json::to_value(Headers(headers)).map_err(Error::internal)?);
        Ok(())
    }

    /// The document as this version writes it.
    fn document<C: Configured>(&self) -> Result<Document, Error> {
        let mut json = self.facts.clone();
        json.insert("spec".to_owned(), self.spec.clone().into());
        let json = Value::Object(json).to_string();
        let document = Document { json, ..self.document.clone() };
        C::read(document)?.document(self.document.account_id)
    }

    /// The document and its former versions, which are in their order.
    fn moved<C: Configured>(mut self, versions: Vec<Version>) -> Result<Moved, Error> {
        let mut former = Vec::with_capacity(versions.len());
        for (number, since, fields) in versions {
            let revision = u32::try_from(number).unwrap_or(u32::MAX);
            self.facts.insert("revision".to_owned(), revision.into());
            self.facts.insert("revised".to_owned(), since.into());
            let mut version = self.clone();
            version.document.version = number.unsigned_abs();
            version.document.updated_at = moment(since);
            version.spec.extend(fields);
            former.push(version.document::<C>()?);
        }
        self.document.version = former.last().map_or(1, |newest| newest.version + 1);
        Ok(Moved { document: self.document::<C>()?, former })
    }

    /// The document of this row, with what was kept of its former versions.
    pub(super) async fn open(mut self, tx: &impl Read, vault: &Vault) -> Result<Moved, Error> {
        match self.document.key.kind {
            DocumentKind::Bucket => {
                let auth = self.open_auth(vault)?;
                self.set("auth", auth);
                let (logs, failed) =
                    (self.take_number("retention_logs"), self.take_number("retention_failed"));
                if let Some((logs, failed)) = logs.zip(failed) {
                    self.set("retention", serde_json::json!({"logs": logs, "failed": failed}));
                }
                self.moved::<Bucket>(Vec::new())
            }
            DocumentKind::Input => {
                self.open_headers(vault, "headers")?;
                let extensions = self.open_extensions(vault)?;
                self.spec.extend(extensions);
                self.moved::<Input>(Vec::new())
            }
            DocumentKind::Output => {
                self.open_output(vault)?;
                let versions = self.output_versions(tx, vault).await?;
                self.moved::<Output>(versions)
            }
            DocumentKind::Cron => {
                self.open_headers(vault, "headers_sealed")?;
                self.document.state.cron.next_run = self.take_number("next_run").map(moment);
                let [starts_at, ends_at] =
                    ["starts_at", "ends_at"].map(|column| self.take_number(column).map(moment));
                let mut moved = self.moved::<Cron>(Vec::new())?;
                let account = moved.document.account_id;
                let mut cron = Cron::read(moved.document)?;
                (cron.spec.starts_at, cron.spec.ends_at) = (starts_at, ends_at);
                moved.document = cron.document(account)?;
                Ok(moved)
            }
            DocumentKind::Function => {
                let versions = self.function_versions(tx).await?;
                self.moved::<Function>(versions)
            }
            DocumentKind::Domain => self.moved::<Domain>(Vec::new()),
            DocumentKind::Notification => {
                self.document.state.last_sent_at = self.take_number("last_sent_at").map(moment);
                self.moved::<Notification>(Vec::new())
            }
        }
    }

    /// The credentials of a bucket.
    fn open_auth(&mut self, vault: &Vault) -> Result<Map<String, Value>, Error> {
        let mut auth = Map::new();
        for (column, field) in [("auth_type", "type"), ("auth_username", "username")] {
            auth.extend(self.spec.remove(column).map(|value| (field.to_owned(), value)));
        }
        for (column, field) in
            [("auth_password_sealed", "password"), ("auth_token_sealed", "token")]
        {
            if let Some(secret) = self.open_column(vault, column)? {
                let secret = self.place().read(column, String::from_utf8(secret))?;
                auth.insert(field.to_owned(), secret.into());
            }
        }
        Ok(auth)
    }

    /// Opens the specification of an output and its state, which stood among its extensions.
    fn open_output(&mut self, vault: &Vault) -> Result<(), Error> {
        self.open_headers(vault, "headers_sealed")?;
        if let Some(rules) = self.open_json::<Value>(vault, "rules_sealed")? {
            self.set("rules", rules);
        }
        let mut extensions = self.open_extensions(vault)?;
        if let Some(disabling) = extensions.remove("disabling") {
            self.set("on_disabled", disabling["on_disabled"].clone());
        }
        if let Some(pauses) = extensions.remove("pauses") {
            self.document.state.pauses = self.place().read("pauses", pauses_of(pauses))?;
        }
        let failing = extensions.remove("failing");
        let since = failing.and_then(|failing| failing["since"].as_i64());
        self.document.state.failing_since = since.map(moment);
        self.spec.extend(extensions);
        Ok(())
    }

    async fn output_versions(&self, tx: &impl Read, vault: &Vault) -> Result<Vec<Version>, Error> {
        let sql = "SELECT v.number, v.created, v.hash, r.rules_sealed FROM old_output_version v \
            LEFT JOIN old_output_rules r ON r.output_id = v.output_id AND r.hash = v.hash \
            WHERE v.output_id = ? ORDER BY v.number";
        let found = tx.query(with(sql, [self.id().into()]), |row| {
            let hash = row.get::<Option<Vec<u8>>>("hash")?;
            let sealed = row.get::<Option<Vec<u8>>>("rules_sealed")?;
            Ok((row.get::<i64>("number")?, row.get::<i64>("created")?, hash.zip(sealed)))
        });
        let mut versions = Vec::new();
        for (number, since, kept) in found.await.about("schema")? {
            let mut fields = Map::new();
            if let Some((hash, sealed)) = kept {
                let (table, column, hash) = ("output_rules", "rules_sealed", hex::encode(hash));
                let text =
                    vault.open(Cell { table, column, row: self.id(), key: &hash }, &sealed)?;
                let rules = self.place().read(column, serde_json::from_slice(&text))?;
                fields.insert("rules".to_owned(), rules);
            }
            versions.push((number, since, fields));
        }
        let Document { created_at, updated_at, .. } = &self.document;
        if versions.is_empty() && updated_at > created_at {
            versions.push((1, created_at.as_millis(), Map::new()));
        }
        Ok(versions)
    }

    async fn function_versions(&self, tx: &impl Read) -> Result<Vec<Version>, Error> {
        let sql = "SELECT v.number, v.created, s.driver, s.payload FROM old_function_version v \
            LEFT JOIN old_function_source s ON s.function_id = v.function_id AND s.hash = v.hash \
            WHERE v.function_id = ? ORDER BY v.number";
        let found = tx.query(with(sql, [self.id().into()]), |row| {
            let driver = row.get::<Option<String>>("driver")?;
            let payload = row.get::<Option<Vec<u8>>>("payload")?;
            Ok((row.get::<i64>("number")?, row.get::<i64>("created")?, driver.zip(payload)))
        });
        let mut versions = Vec::new();
        for (number, since, kept) in found.await.about("schema")? {
            let mut fields = Map::new();
            if let Some((driver, payload)) = kept {
                let payload = self.place().read("payload", String::from_utf8(payload))?;
                fields.insert("driver".to_owned(), driver.into());
                fields.insert("payload".to_owned(), payload.into());
            }
            versions.push((number, since, fields));
        }
        Ok(versions)
    }
}

/// The pauses of an output, as its row had them.
fn pauses_of(mut stored: Value) -> Result<Pauses, serde_json::Error> {
    let pause = stored.get_mut("pause").map(Value::take).unwrap_or_default();
    let pause: Option<OldPause> = serde_json::from_value(pause)?;
    let current = pause.map(|OldPause { at, until, by, reason }| {
        let mut pause = Pause::new(moment(at), until.map(moment), reason);
        pause.by = by;
        pause
    });
    let stored: StoredPauses = serde_json::from_value(stored)?;
    Ok(stored.with(current.into_iter().collect()))
}
