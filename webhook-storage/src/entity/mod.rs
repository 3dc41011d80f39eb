//! Tables as rows, and rows as what they stand for.
//!
//! A row takes its value apart field by field, so that a new field does not
//! compile until it has a column. Reading a row fails with the name of the
//! table, the column and the row.

#![expect(unreachable_pub, reason = "the derives of sea-orm make public items")]

pub(crate) mod access_token;
pub(crate) mod account;
pub(crate) mod api_key;
pub(crate) mod bucket;
pub(crate) mod cron;
pub(crate) mod delivery;
pub(crate) mod domain;
pub(crate) mod execution;
pub(crate) mod extensions;
pub(crate) mod function;
pub(crate) mod head;
pub(crate) mod input;
pub(crate) mod meta;
pub(crate) mod notification;
pub(crate) mod output;
pub(crate) mod replay;
pub(crate) mod variable;
pub(crate) mod webhook;

use std::time::Duration;

use sea_orm::prelude::Uuid;
use serde::{Serialize, de::DeserializeOwned};
use webhook_core::{Error, Timestamp};

use crate::{
    fault::DatabaseError,
    tx::{self, Param, over_set},
};

/// The rows of a table that are there of these, in no order.
async fn find<T>(
    tx: &impl tx::Read,
    table: &str,
    columns: &str,
    ids: impl IntoIterator<Item = Uuid>,
    of_row: tx::ReadRow<T>,
) -> Result<Vec<T>, DatabaseError> {
    let ids: Vec<_> = ids.into_iter().map(Param::from).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let head = format!("SELECT {columns} FROM {table} WHERE id IN ");
    tx.query(over_set(&head, [], ids, ""), of_row).await
}

pub(crate) const fn millis(moment: Timestamp) -> i64 {
    moment.as_millis()
}

pub(crate) const fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Nanoseconds; more than 292 years are cut to that.
pub(crate) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// The JSON text of a nested value.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(Error::internal)
}

/// The name of a value that is written as a string on the wire.
pub(crate) fn name(value: &impl Serialize) -> Result<String, Error> {
    let json = json(value)?;
    serde_json::from_str(&json).map_err(Error::internal)
}

/// The value that [`name`] gave the name of.
pub(crate) fn named<T: DeserializeOwned>(name: String) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::String(name))
}
