//! Values of statements.

use std::borrow::Cow;

use sea_orm::{Value, prelude::Uuid};

/// One value, borrowed from what is written where that is large. A value that may be
/// absent keeps its type then, which PostgreSQL asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Param<'a> {
    Bool(Option<bool>),
    Int(Option<i64>),
    Uuid(Option<Uuid>),
    Text(Option<Cow<'a, str>>),
    Bytes(Option<Cow<'a, [u8]>>),
}

impl Param<'_> {
    /// A count. One that is too large for the databases becomes the largest that they have.
    pub(crate) fn count(count: impl TryInto<i64>) -> Self {
        Self::Int(Some(count.try_into().unwrap_or(i64::MAX)))
    }

    /// About how many bytes it takes on the wire.
    pub(super) fn size_bytes(&self) -> usize {
        match self {
            Self::Text(Some(text)) => text.len(),
            Self::Bytes(Some(bytes)) => bytes.len(),
            _ => 16,
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Bool(value) => value.into(),
            Self::Int(value) => value.into(),
            Self::Uuid(value) => value.into(),
            Self::Text(value) => value.map(Cow::into_owned).into(),
            Self::Bytes(value) => value.map(Cow::into_owned).into(),
        }
    }
}

#[cfg(feature = "sqlite")]
impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::ValueRef;
        let value = match self {
            Self::Bool(Some(value)) => ValueRef::Integer((*value).into()),
            Self::Int(Some(value)) => ValueRef::Integer(*value),
            Self::Uuid(Some(value)) => ValueRef::Blob(value.as_bytes()),
            Self::Text(Some(value)) => ValueRef::Text(value.as_bytes()),
            Self::Bytes(Some(value)) => ValueRef::Blob(value),
            Self::Bool(None)
            | Self::Int(None)
            | Self::Uuid(None)
            | Self::Text(None)
            | Self::Bytes(None) => ValueRef::Null,
        };
        Ok(rusqlite::types::ToSqlOutput::Borrowed(value))
    }
}

macro_rules! from {
    ($($from:ty => $param:ident($value:ident: $to:expr)),+ $(,)?) => {$(
        impl<'a> From<$from> for Param<'a> {
            fn from($value: $from) -> Self {
                Self::$param($to)
            }
        }
    )+};
}

from! {
    bool => Bool(value: Some(value)),
    Option<bool> => Bool(value: value),
    i64 => Int(value: Some(value)),
    Option<i64> => Int(value: value),
    Uuid => Uuid(value: Some(value)),
    Option<Uuid> => Uuid(value: value),
    &'a str => Text(value: Some(Cow::Borrowed(value))),
    Option<&'a str> => Text(value: value.map(Cow::Borrowed)),
    String => Text(value: Some(Cow::Owned(value))),
    Option<String> => Text(value: value.map(Cow::Owned)),
    &'a [u8] => Bytes(value: Some(Cow::Borrowed(value))),
    Option<&'a [u8]> => Bytes(value: value.map(Cow::Borrowed)),
    Vec<u8> => Bytes(value: Some(Cow::Owned(value))),
    Option<Vec<u8>> => Bytes(value: value.map(Cow::Owned)),
    &'a bool => Bool(value: Some(*value)),
    &'a i64 => Int(value: Some(*value)),
    &'a Option<i64> => Int(value: *value),
    &'a Uuid => Uuid(value: Some(*value)),
    &'a Option<Uuid> => Uuid(value: *value),
    &'a String => Text(value: Some(Cow::Borrowed(value))),
    &'a Option<String> => Text(value: value.as_deref().map(Cow::Borrowed)),
    &'a Vec<u8> => Bytes(value: Some(Cow::Borrowed(value))),
    &'a Option<Vec<u8>> => Bytes(value: value.as_deref().map(Cow::Borrowed)),
    &'a Option<bool> => Bool(value: *value),
}
