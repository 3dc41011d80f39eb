//! One row of a document, whose secrets are sealed.

use std::{collections::HashMap, sync::LazyLock};

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, Error,
    model::{Pause, StoredPauses},
    store::{Document, DocumentKey, DocumentKind, DocumentState},
};

use crate::{
    entity::{Table, millis, moment, named, table},
    fault::{DatabaseError, Row as Place},
    secret::{Cell, Vault},
    tx::{Insert, Param, Query, Row, with},
};

table! {
    /// A row as the database has it.
    Raw in "document" {
        kind: String,
        id: Uuid,
        account_id: Uuid,
        parent_id: Option<Uuid>,
        name: String,
        route: String,
        watched: bool,
        version: i64,
        schema: i64,
        json: String,
        sealed: Option<Vec<u8>>,
        created_at: i64,
        updated_at: i64,
    }
}

/// A row with a part of the state.
pub(crate) struct Found {
    row: Raw,
    /// Without pauses.
    state: DocumentState,
    pauses: Option<String>,
    pause: Option<(String, Pause)>,
}

/// Reads a document without a state.
pub(crate) fn plain(row: &Row<'_>) -> Result<Found, DatabaseError> {
    let row = Raw::of_row(row)?;
    Ok(Found { row, state: DocumentState::default(), pauses: None, pause: None })
}

/// Reads a document with the state of an output and one of its pauses.
pub(super) fn with_output(row: &Row<'_>) -> Result<Found, DatabaseError> {
    let mut found = plain(row)?;
    found.state.failing_since = row.get::<Option<i64>>("failing_since")?.map(moment);
    found.pauses = row.get("pauses")?;
    found.pause = pause(row)?;
    Ok(found)
}

/// The pause of a row, with the name of the party that paused the output.
pub(super) fn pause(row: &Row<'_>) -> Result<Option<(String, Pause)>, DatabaseError> {
    let Some(by) = row.get::<Option<String>>("paused_by")? else { return Ok(None) };
    let at = row.get::<Option<i64>>("paused_at")?.unwrap_or_default();
    let until = row.get::<Option<i64>>("paused_until")?.map(moment);
    let reason = row.get::<Option<String>>("reason")?.unwrap_or_default();
    Ok(Some((by, Pause::new(moment(at), until, reason))))
}

/// Reads a document with the state of a cron.
pub(super) fn with_cron(row: &Row<'_>) -> Result<Found, DatabaseError> {
    let mut found = plain(row)?;
    found.state.cron.next_run = row.get::<Option<i64>>("next_run")?.map(moment);
    found.state.cron.last_run = row.get::<Option<i64>>("last_run")?.map(moment);
    found.state.cron.is_over = row.get::<Option<bool>>("is_over")?.unwrap_or_default();
    Ok(found)
}

/// Reads a document with the state of a notification.
pub(super) fn with_notification(row: &Row<'_>) -> Result<Found, DatabaseError> {
    let mut found = plain(row)?;
    found.state.last_sent_at = row.get::<Option<i64>>("last_sent_at")?.map(moment);
    Ok(found)
}

/// The place of the secrets of a document, and of those of its former versions.
const fn cell(id: Uuid, kind: &str) -> Cell<'_> {
    Cell { table: "document", column: "sealed", row: id, key: kind }
}

/// The documents of rows, in their order. An output has a row for each of its pauses.
pub(crate) fn documents(rows: Vec<Found>, vault: &Vault) -> Result<Vec<Document>, Error> {
    let mut merged: Vec<(Found, Vec<(String, Pause)>)> = Vec::with_capacity(rows.len());
    let mut paused: HashMap<Uuid, usize> = HashMap::new();
    for mut found in rows {
        let Some(pause) = found.pause.take() else {
            merged.push((found, Vec::new()));
            continue;
        };
        match paused.get(&found.row.id).and_then(|place| merged.get_mut(*place)) {
            Some((_, pauses)) => pauses.push(pause),
            None => {
                paused.insert(found.row.id, merged.len());
                merged.push((found, vec![pause]));
            }
        }
    }
    merged.into_iter().map(|(found, pauses)| document(found, pauses, vault)).collect()
}

/// The pauses of an output, from the text in `output_health` and from the rows of pauses.
pub(super) fn pauses_of(
    id: Uuid,
    text: Option<&str>,
    current: Vec<(String, Pause)>,
) -> Result<webhook_core::model::Pauses, Error> {
    let place = Place { table: "output_health", id };
    let stored: StoredPauses = match text {
        Some(text) => place.read("pauses", serde_json::from_str(text))?,
        None => StoredPauses::default(),
    };
    let place = Place { table: "output_pause", id };
    let current = current.into_iter().map(|(by, mut pause)| {
        pause.by = place.read("paused_by", named(by))?;
        Ok(pause)
    });
    Ok(stored.with(current.collect::<Result<_, Error>>()?))
}

fn document(found: Found, current: Vec<(String, Pause)>, vault: &Vault) -> Result<Document, Error> {
    let Found { row, mut state, pauses, .. } = found;
    let place = Place { table: "document", id: row.id };
    let kind = DocumentKind::from_name(&row.kind).ok_or("a kind that is not known");
    let kind = place.read("kind", kind)?;
    let secrets = match row.sealed {
        Some(sealed) => {
            let text = vault.open(cell(row.id, &row.kind), &sealed)?;
            place.read("sealed", String::from_utf8(text))?
        }
        None => String::new(),
    };
    if pauses.is_some() || !current.is_empty() {
        state.pauses = pauses_of(row.id, pauses.as_deref(), current)?;
    }
    Ok(Document {
        key: DocumentKey { kind, id: row.id },
        account_id: AccountId::from_uuid(row.account_id),
        bucket_id: row.parent_id.map(BucketId::from_uuid),
        name: row.name,
        route: row.route,
        is_watched: row.watched,
        version: row.version.unsigned_abs(),
        schema: place.read("schema", u32::try_from(row.schema))?,
        json: row.json,
        secrets,
        uses: Vec::new(),
        created_at: moment(row.created_at),
        updated_at: moment(row.updated_at),
        state,
    })
}

/// The sealed secrets of a document.
pub(super) fn seal(document: &Document, vault: &Vault) -> Result<Option<Vec<u8>>, Error> {
    let DocumentKey { kind, id } = document.key;
    match document.secrets.is_empty() {
        true => Ok(None),
        false => vault.seal(cell(id, kind.as_str()), document.secrets.as_bytes()).map(Some),
    }
}

/// The insertion of a document.
pub(crate) static INSERT: LazyLock<Insert<13>> = LazyLock::new(|| Raw::insert(""));

impl Raw {
    /// The row of a document, as its version says.
    pub(crate) fn of(document: &Document, vault: &Vault) -> Result<Self, Error> {
        Ok(Self {
            kind: document.key.kind.as_str().to_owned(),
            id: document.key.id,
            account_id: document.account_id.as_uuid(),
            parent_id: document.bucket_id.map(|id| id.as_uuid()),
            name: document.name.clone(),
            route: document.route.clone(),
            watched: document.is_watched,
            version: i64::try_from(document.version).unwrap_or(i64::MAX),
            schema: document.schema.into(),
            json: document.json.clone(),
            sealed: seal(document, vault)?,
            created_at: millis(document.created_at),
            updated_at: millis(document.updated_at),
        })
    }
}

/// Inserts a former version of a document.
pub(crate) fn insert_former<'a>(document: &'a Document, vault: &Vault) -> Result<Query<'a>, Error> {
    let sql = "INSERT INTO document_version (kind, id, version, schema, json, sealed, updated_at) \
        VALUES (?, ?, ?, ?, ?, ?, ?)";
    let values: [Param<'a>; 7] = [
        document.key.kind.as_str().into(),
        document.key.id.into(),
        Param::count(document.version),
        i64::from(document.schema).into(),
        document.json.as_str().into(),
        seal(document, vault)?.into(),
        millis(document.updated_at).into(),
    ];
    Ok(with(sql, values))
}
