//! The table `meta`: values by their names, which describe the database itself.

use crate::{
    fault::DatabaseError,
    tx::{Read, Tx, with},
};

/// The least number of a version of the program that can work on the schema.
pub(crate) const MIN_READER: &str = "min_reader";

/// The value of this name.
pub(crate) async fn get(tx: &impl Read, name: &str) -> Result<Option<Vec<u8>>, DatabaseError> {
    let find = with("SELECT value FROM meta WHERE name = ?", [name.into()]);
    tx.query_one(find, |row| row.get("value")).await
}

/// Writes a value, and replaces one that exists.
pub(crate) async fn set(tx: &impl Tx, name: &str, value: Vec<u8>) -> Result<(), DatabaseError> {
    let sql = "INSERT INTO meta (name, value) VALUES (?, ?) \
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    tx.execute(with(sql, [name.into(), value.into()])).await.map(drop)
}

/// Writes a value, unless one exists.
pub(crate) async fn add(tx: &impl Tx, name: &str, value: Vec<u8>) -> Result<(), DatabaseError> {
    let sql = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";
    tx.execute(with(sql, [name.into(), value.into()])).await.map(drop)
}

/// Removes a value.
pub(crate) async fn remove(tx: &impl Tx, name: &str) -> Result<(), DatabaseError> {
    tx.execute(with("DELETE FROM meta WHERE name = ?", [name.into()])).await.map(drop)
}
