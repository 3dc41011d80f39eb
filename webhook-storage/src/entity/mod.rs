//! Tables as rows, and rows as what they stand for.
//!
//! A row takes its value apart field by field, so that a new field does not
//! compile until it has a column. Reading a row fails with the name of the
//! table, the column and the row.

pub(crate) mod access_token;
pub(crate) mod account;
pub(crate) mod api_key;
pub(crate) mod delivery;
pub(crate) mod erasure;
pub(crate) mod execution;
pub(crate) mod head;
pub(crate) mod meta;
pub(crate) mod notification;
pub(crate) mod replay;
pub(crate) mod session;
pub(crate) mod variable;
pub(crate) mod webhook;

use std::time::Duration;

use sea_orm::prelude::Uuid;
use serde::{Serialize, de::DeserializeOwned};
use webhook_core::{Error, Timestamp};

use crate::{
    fault::DatabaseError,
    tx::{Insert, Param, Read, Row, over_set, with},
};

/// A row of a table with some or all of its columns. `table!` makes the types that are one.
pub(crate) trait Table: Sized {
    /// The name of the table.
    const TABLE: &'static str;
    /// The columns, in the order of the fields.
    const COLUMNS: &'static str;

    /// Reads the columns from a row of a query.
    fn of_row(row: &Row<'_>) -> Result<Self, DatabaseError>;

    /// The rows that the query finds whose end is `tail`.
    async fn select<'a>(
        tx: &impl Read,
        tail: &str,
        values: impl IntoIterator<Item = Param<'a>>,
    ) -> Result<Vec<Self>, DatabaseError> {
        let sql = format!("SELECT {} FROM {} {tail}", Self::COLUMNS, Self::TABLE);
        tx.query(with(sql, values), Self::of_row).await
    }

    /// The first of these rows.
    async fn select_one<'a>(
        tx: &impl Read,
        tail: &str,
        values: impl IntoIterator<Item = Param<'a>>,
    ) -> Result<Option<Self>, DatabaseError> {
        let sql = format!("SELECT {} FROM {} {tail}", Self::COLUMNS, Self::TABLE);
        tx.query_one(with(sql, values), Self::of_row).await
    }

    /// The rows with these identifiers that exist, in no order.
    async fn find(
        tx: &impl Read,
        ids: impl IntoIterator<Item = Uuid>,
    ) -> Result<Vec<Self>, DatabaseError> {
        let ids: Vec<_> = ids.into_iter().map(Param::from).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let head = format!("SELECT {} FROM {} WHERE id IN ", Self::COLUMNS, Self::TABLE);
        tx.query(over_set(&head, [], ids, ""), Self::of_row).await
    }

    /// An insertion of such rows, whose values are as `values` of the type gives them.
    fn insert<const N: usize>(tail: &'static str) -> Insert<N> {
        Insert::new(Self::TABLE, Self::COLUMNS, tail)
    }
}

/// A struct whose fields are the columns of a table, by their names; a `Table`. A field may
/// have an expression of SQL instead of a column.
macro_rules! table {
    (
        $(#[$about:meta])*
        $name:ident in $table:literal {
            $(#[$first_about:meta])*
            $first:ident: $first_type:ty
            $(, $(#[$field_about:meta])* $field:ident: $type:ty $(= $sql:literal)?)* $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name {
            $(#[$first_about])*
            pub(crate) $first: $first_type,
            $($(#[$field_about])* pub(crate) $field: $type,)*
        }

        impl $crate::entity::Table for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static str =
                concat!(stringify!($first) $(, ", " $(, $sql, " AS ")?, stringify!($field))*);

            fn of_row(row: &$crate::tx::Row<'_>) -> Result<Self, $crate::fault::DatabaseError> {
                Ok(Self {
                    $first: row.get(stringify!($first))?,
                    $($field: row.get(stringify!($field))?,)*
                })
            }
        }

        impl $name {
            /// The values of the columns.
            #[allow(dead_code, reason = "some tables are only read")]
            pub(crate) fn values(
                &self,
            ) -> [$crate::tx::Param<'_>; [stringify!($first) $(, stringify!($field))*].len()] {
                [(&self.$first).into() $(, (&self.$field).into())*]
            }
        }
    };
}
pub(crate) use table;

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
