//! Versions of the sources of functions.

use sea_orm::{
    ActiveModelTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
    prelude::Uuid,
};
use webhook_core::{
    AccountId, Error, FunctionId,
    model::{Driver, Function, FunctionSpec, FunctionVersion},
};

use super::{
    function::place,
    read_error,
    version::{Content, Kind},
};
use crate::{
    entity::{function, name, named},
    fault::{self, Row},
    tx::{Read, Tx, with},
};

const VERSIONS: Kind = Kind {
    what: "function",
    versions: "function_version",
    contents: "function_source",
    owner: "function_id",
};

/// Replaces a function; if its source is another one, what it was and what it is are kept.
pub(super) async fn replace(tx: &DatabaseTransaction, new: &Function) -> Result<(), Error> {
    let find = function::Entity::find().filter(place(new.account_id, new.id));
    let find = match tx.backend() {
        // SQLite has one writer, which is this transaction.
        sea_orm::DbBackend::Sqlite => find,
        _ => find.lock(sea_orm::sea_query::LockType::Update),
    };
    let before = find.one(tx).await.map_err(read_error)?;
    let before = before.ok_or_else(|| Error::not_found("function"))?.read()?;
    let row = function::Model::of(new)?.into_active_model().reset_all();
    let update = function::Entity::update_many().set(row);
    let update = update.filter(place(new.account_id, new.id)).exec(tx);
    update.await.map_err(|error| fault::error(error, "function"))?;
    let id = new.id.as_uuid();
    let (old, own) = (&before.spec, &new.spec);
    if (old.driver, &old.payload) == (own.driver, &own.payload) {
        return Ok(());
    }
    let before = Content { since: before.created, hash: put(tx, id, old).await? };
    let new = Content { since: new.updated, hash: put(tx, id, own).await? };
    VERSIONS.change(tx, id, before, new).await
}

/// Keeps a source, unless it is kept already; its hash.
async fn put(tx: &impl Tx, id: Uuid, spec: &FunctionSpec) -> Result<Vec<u8>, Error> {
    let FunctionSpec { driver, payload, .. } = spec;
    let hash = FunctionVersion::digest(*driver, payload).to_vec();
    let insert = "INSERT INTO function_source (function_id, hash, driver, payload_size, payload) \
        VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    let size = i64::try_from(payload.len()).unwrap_or(i64::MAX);
    let values = [
        id.into(),
        hash.as_slice().into(),
        name(driver)?.into(),
        size.into(),
        payload.as_bytes().into(),
    ];
    let put = tx.execute(with(insert, values)).await;
    put.map_err(|error| fault::error(error, "function"))?;
    Ok(hash)
}

/// A function with its versions, the newest first.
pub(super) async fn list(
    snapshot: &DatabaseTransaction,
    account: AccountId,
    id: FunctionId,
) -> Result<Option<(Function, Vec<FunctionVersion>)>, Error> {
    let find = function::Entity::find().filter(place(account, id));
    let Some(row) = find.one(snapshot).await.map_err(read_error)? else { return Ok(None) };
    let function = row.read()?;
    let kept = VERSIONS.list(snapshot, id.as_uuid()).await?;
    let (number, since) =
        kept.first().map_or((1, function.created), |newest| (newest.number, newest.created));
    let mut versions = vec![FunctionVersion::current(number, since, &function)];
    let facts = "SELECT hash, driver, payload_size FROM function_source WHERE function_id = ?";
    let facts = snapshot.query(with(facts, [id.as_uuid().into()]), |row| {
        Ok((row.get("hash")?, row.get("driver")?, row.get("payload_size")?))
    });
    let facts: Vec<(Vec<u8>, String, i64)> = match kept.len() {
        0 | 1 => Vec::new(),
        _ => facts.await.map_err(read_error)?,
    };
    let row = Row { table: "function_source", id: id.as_uuid() };
    for version in kept.iter().skip(1) {
        let found = facts.iter().find(|(hash, ..)| version.hash.as_ref() == Some(hash));
        let Some((hash, driver, size)) = found else { continue };
        let driver: Driver = row.read("driver", named(driver.clone()))?;
        let size = row.read("payload_size", usize::try_from(*size))?;
        versions.push(FunctionVersion::kept(version.number, version.created, driver, hash, size));
    }
    Ok(Some((function, versions)))
}

/// One version with its source.
pub(super) async fn with_source(
    snapshot: &DatabaseTransaction,
    account: AccountId,
    id: FunctionId,
    version: u32,
) -> Result<Option<FunctionVersion>, Error> {
    let Some((function, versions)) = list(snapshot, account, id).await? else { return Ok(None) };
    let found = versions.into_iter().find(|listed| listed.version == version);
    let Some(found) = found else { return Ok(None) };
    if found.current {
        return Ok(Some(found.with_payload(function.spec.payload)));
    }
    let source = "SELECT s.payload FROM function_version v JOIN function_source s \
        ON s.function_id = v.function_id AND s.hash = v.hash \
        WHERE v.function_id = ? AND v.number = ?";
    let source = with(source, [id.as_uuid().into(), i64::from(version).into()]);
    let payload = snapshot.query_one(source, |row| row.get::<Vec<u8>>("payload"));
    let payload = payload.await.map_err(read_error)?.unwrap_or_default();
    let row = Row { table: "function_source", id: id.as_uuid() };
    Ok(Some(found.with_payload(row.read("payload", String::from_utf8(payload))?)))
}
