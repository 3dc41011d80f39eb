//! Webhooks that an input gets more than once.

mod key;

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use webhook_wire::{ExtensionObject, json as wire};

/// Which webhooks of an input are the same, and what becomes of the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Deduplication {
    /// Whether the rest applies.
    #[serde(deserialize_with = "wire::null_true")]
    pub enabled: bool,
    /// How long after a webhook another one is its duplicate, in nanoseconds: a second to
    /// 30 days; 0 stands for 24 h.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    pub window: Duration,
    /// What is the same in duplicates, all of it together; at most 8 parts. Empty stands
    /// for the provider's delivery ID, if `signature` names a provider that has one, and
    /// else for `content`. A webhook that lacks a part is nobody's duplicate.
    #[serde(deserialize_with = "wire::null_default")]
    pub key: Vec<KeyPart>,
    /// Whether the method, the path, the query and the body have to be the same.
    #[serde(deserialize_with = "wire::null_default")]
    pub content: bool,
    /// What of the content may differ: `payload.` and a dotted path into a JSON body, or
    /// `query.` and a key; at most 32 of them.
    #[serde(deserialize_with = "wire::null_default")]
    pub exclude: Vec<String>,
    /// What the sender of a duplicate gets: `"same"`, the static answer, as for the first;
    /// or a status from 200 to 599, with nothing else.
    pub answer: DuplicateAnswer,
}

impl Deduplication {
    /// How long a window may be, at least.
    pub const MIN_WINDOW: Duration = Duration::from_secs(1);
    /// How long a window may be, at most.
    pub const MAX_WINDOW: Duration = Duration::from_secs(30 * 24 * 60 * 60);
    /// How many parts a key may have.
    pub const MAX_KEY_PARTS: usize = 8;
    /// How many paths may be excluded.
    pub const MAX_EXCLUDED: usize = 32;

    /// The window, where 0 stands for 24 h.
    #[must_use]
    pub const fn window(&self) -> Duration {
        match self.window.is_zero() {
            true => Duration::from_secs(24 * 60 * 60),
            false => self.window,
        }
    }
}

impl Default for Deduplication {
    fn default() -> Self {
        Self {
            enabled: true,
            window: Duration::ZERO,
            key: Vec::new(),
            content: false,
            exclude: Vec::new(),
            answer: DuplicateAnswer::Same,
        }
    }
}

impl ExtensionObject for Deduplication {}

/// A part of a webhook, written as in rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct KeyPart {
    /// Where it is.
    pub source: KeySource,
    /// The header, the key of the query, or the dotted path into a JSON body.
    pub name: String,
}

/// Where a [`KeyPart`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum KeySource {
    /// A header; of several of one name, all.
    #[default]
    Header,
    /// A key of the query, decoded; of several, all.
    Query,
    /// A value in a JSON body.
    Payload,
}

/// What the sender of a duplicate gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateAnswer {
    /// The input's static answer, as the first got it; `"same"` on the wire.
    #[default]
    Same,
    /// This status and nothing else.
    Status(u16),
}

impl Serialize for DuplicateAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Same => serializer.serialize_str("same"),
            Self::Status(status) => serializer.serialize_u16(*status),
        }
    }
}

impl<'de> Deserialize<'de> for DuplicateAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected \"same\" or a status")]
        enum Written {
            Word(String),
            Status(u16),
            Null(()),
        }
        match Written::deserialize(deserializer)? {
            Written::Status(0) | Written::Null(()) => Ok(Self::Same),
            Written::Status(status) => Ok(Self::Status(status)),
            Written::Word(word) if matches!(&*word, "same" | "") => Ok(Self::Same),
            Written::Word(word) => {
                Err(de::Error::custom(format_args!("expected \"same\" or a status, not {word:?}")))
            }
        }
    }
}

#[cfg(feature = "openapi")]
mod schema {
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{
            Object, RefOr,
            schema::{OneOf, Schema, Type},
        },
    };

    use super::DuplicateAnswer;

    impl PartialSchema for DuplicateAnswer {
        fn schema() -> RefOr<Schema> {
            let word = Object::builder().schema_type(Type::String).enum_values(Some(["same"]));
            let status =
                Object::builder().schema_type(Type::Integer).minimum(Some(200)).maximum(Some(599));
            let one_of = OneOf::builder().item(word.build()).item(status.build());
            Schema::OneOf(one_of.build()).into()
        }
    }

    impl ToSchema for DuplicateAnswer {}
}
