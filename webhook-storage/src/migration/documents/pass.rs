//! The pass that moves the rows of the version before: some rows in each transaction, and on from
//! there when it was interrupted.

use sea_orm::prelude::Uuid;
use webhook_core::{
    Error, ErrorKind,
    store::{Document, DocumentKind, MAX_VERSIONS, SCHEMA},
};

use super::{
    OLD,
    old::{self, Moved},
};
use crate::{
    database::Database,
    documents::{INSERT, Raw, counts::Counts, insert_former, insert_state},
    entity::meta,
    fault::About,
    migration::begin,
    secret::Vault,
    tx::{Param, Read, Tx, with},
};

/// In the table `meta`: how far the pass is.
const POSITION: &str = "documents";
/// The rows of one transaction.
const ROWS: i64 = 500;
/// The pass is complete, and the old tables exist.
const KEPT: &str = "kept";
/// The pass is complete, and there are no old tables.
const DONE: &str = "done";

/// The kinds in their order: what is used comes before what uses it.
const ORDER: [DocumentKind; 7] = [
    DocumentKind::Bucket,
    DocumentKind::Function,
    DocumentKind::Domain,
    DocumentKind::Input,
    DocumentKind::Output,
    DocumentKind::Cron,
    DocumentKind::Notification,
];

/// Whether the tables of the version before exist.
pub(crate) async fn has_old_tables(database: &Database) -> Result<bool, Error> {
    Ok(position(&database.read).await?.as_deref() == Some(KEPT))
}

async fn position(tx: &impl Read) -> Result<Option<String>, Error> {
    let value = meta::get(tx, POSITION).await.about("schema")?;
    Ok(value.map(|value| String::from_utf8_lossy(&value).into_owned()))
}

async fn note(tx: &impl Tx, position: &str) -> Result<(), Error> {
    meta::set(tx, POSITION, position.as_bytes().to_vec()).await.about("schema")
}

/// Fails when a document has a form that this version does not know.
pub(crate) async fn expect_known(database: &Database) -> Result<(), Error> {
    let sql = "SELECT kind, id, schema FROM document WHERE schema > ? LIMIT 1";
    let newer = database.read.query_one(with(sql, [i64::from(SCHEMA).into()]), |row| {
        Ok((row.get::<String>("kind")?, row.get::<Uuid>("id")?, row.get::<i64>("schema")?))
    });
    match newer.await.about("schema")? {
        None => Ok(()),
        Some((kind, id, schema)) => Err(Error::invalid(
            "database",
            format!(
                "a newer version of this program wrote the {kind} {id} (form {schema}, and this \
                 one knows those up to {SCHEMA}): start that version"
            ),
        )),
    }
}

/// Moves all rows. Nodes that begin at the same moment share the work.
pub(crate) async fn run(database: &Database, vault: &Vault) -> Result<(), Error> {
    let mut moved = 0;
    loop {
        let transaction = begin(database).await.about("schema")?;
        let step = step(&*transaction, vault).await;
        match database.finish(transaction, step, "schema").await? {
            Step::Complete if moved > 0 => {
                tracing::info!(documents = moved, "all configuration is in documents");
                return Ok(());
            }
            Step::Complete => return Ok(()),
            Step::Moved(kind, number) => {
                moved += number;
                tracing::info!(kind = kind.as_str(), documents = moved, "moving configuration");
            }
        }
    }
}

/// What one transaction did.
enum Step {
    Complete,
    Moved(DocumentKind, usize),
}

async fn step(tx: &impl Tx, vault: &Vault) -> Result<Step, Error> {
    let position = position(tx).await?.unwrap_or_default();
    if position == KEPT || position == DONE {
        return Ok(Step::Complete);
    }
    let (kind, after) = position.split_once(' ').unwrap_or((&position, ""));
    let mut kind = DocumentKind::from_name(kind).unwrap_or(ORDER[0]);
    let mut after = after.parse().unwrap_or(Uuid::nil());
    loop {
        let rows = old::read(tx, kind, after, ROWS).await.about("schema")?;
        let number = rows.len();
        if let Some(last) = rows.last().map(old::Old::id) {
            for row in rows {
                let moved = row.open(tx, vault).await.map_err(named)?;
                write(tx, vault, moved).await?;
            }
            note(tx, &format!("{kind} {last}")).await?;
            return Ok(Step::Moved(kind, number));
        }
        let Some(next) = ORDER.iter().skip_while(|other| **other != kind).nth(1) else {
            finish(tx).await?;
            return Ok(Step::Complete);
        };
        (kind, after) = (*next, Uuid::nil());
    }
}

/// An error that the operator sees: which table and row it is.
fn named(error: Error) -> Error {
    if error.kind() != ErrorKind::Internal {
        return error;
    }
    let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    let reason = format!("it cannot be moved to this version, and nothing more was: {cause}");
    Error::invalid("database", reason).caused_by(error)
}

async fn write(tx: &impl Tx, vault: &Vault, moved: Moved) -> Result<(), Error> {
    let Moved { mut document, former } = moved;
    if !document.route.is_empty() {
        // Two inputs may have had the same place; the older one keeps it.
        let taken = "SELECT id FROM document WHERE route = ?";
        let taken = with(taken, [document.route.as_str().into()]);
        if tx.has_rows(taken).await.about("schema")? {
            document.route.clear();
        }
    }
    let Document { key, account_id, bucket_id, .. } = &document;
    let row = Raw::of(&document, vault)?;
    tx.insert(&INSERT, &[row], Raw::values).await.about("schema")?;
    for used in &document.uses {
        let sql = "INSERT INTO document_use (user_kind, user_id, used_kind, used_id) \
            VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
        let values: [Param<'_>; 4] =
            [key.kind.as_str().into(), key.id.into(), used.kind.as_str().into(), used.id.into()];
        tx.execute(with(sql, values)).await.about("schema")?;
    }
    let kept = former.len().saturating_sub(MAX_VERSIONS - 1);
    for version in &former[kept..] {
        tx.execute(insert_former(version, vault)?).await.about("schema")?;
    }
    insert_state(tx, &document).await.map_err(Error::from)?;
    let mut counts = Counts::default();
    counts.add(account_id.as_uuid(), key.kind.as_str(), u64::MAX);
    if let Some(bucket) = bucket_id.filter(|_| key.kind.is_counted_in_bucket()) {
        counts.add(bucket.as_uuid(), key.kind.as_str(), u64::MAX);
    }
    counts.write(tx).await.map(|_| ()).about("schema")
}

/// A new database has no rows in the old tables: the pass drops them immediately.
async fn finish(tx: &impl Tx) -> Result<(), Error> {
    let any = "SELECT id FROM document LIMIT 1";
    if tx.has_rows(with(any, [])).await.about("schema")? {
        return note(tx, KEPT).await;
    }
    for table in OLD {
        tx.run(&format!("DROP TABLE old_{table}")).await.about("schema")?;
    }
    note(tx, DONE).await
}
