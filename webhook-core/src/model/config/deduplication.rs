//! Webhooks that an input gets more than once.

mod key;

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::wire::{
    Choice, Described,
    described::{Entry, Field, Invalid, Shape, Value, days, seconds},
    json::{self as wire, MAX_PATH_SEGMENTS},
};
use http::HeaderName;

/// Which webhooks of an input are the same, and what becomes of the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[described(rules)]
pub struct Deduplication {
    /// Whether the other fields apply.
    #[serde(deserialize_with = "wire::null_true")]
    #[field(label = "Look for duplicates", brief)]
    pub enabled: bool,
    /// Another webhook within this time is a duplicate; 0 stands for 24 h.
    #[serde(with = "wire::nanoseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, default = 0))]
    #[field(label = "For how long after the first", range = seconds(1)..=days(30), or_zero)]
    pub window: Duration,
    /// The parts that are the same in duplicates, all of them together: one in each line of a form,
    /// as header X-Id, query id or payload data.id. Empty stands for the provider's delivery ID, if
    /// `signature` names a provider that has one, and else for `content`. A webhook that lacks a
    /// part is no duplicate.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "The same in duplicates", max = 8, lines = 4)]
    pub key: Vec<KeyPart>,
    /// Whether the method, the path, the query and the body must be the same.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "The method, the path, the query and the body, too")]
    pub content: bool,
    /// The parts of the content that may differ: `payload.` and a dotted path into a JSON body, or
    /// `query.` and a key.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Parts of the content that may differ", max = 32, lines = 2)]
    pub exclude: Vec<String>,
    /// The answer to a duplicate: `same`, the static answer, as for the first; or a status from 200
    /// to 599, with nothing else.
    #[field(label = "Senders of duplicates get", example = "208")]
    pub answer: DuplicateAnswer,
}

impl Deduplication {
    fn rules(&self) -> Result<(), Invalid> {
        for (at, KeyPart { source, name }) in self.key.iter().enumerate() {
            let field = format!("key[{at}].name");
            let is_long = name.is_empty() || name.len() > MAX_PATH_BYTES;
            let reason = format_args!("must be of 1 to {MAX_PATH_BYTES} bytes");
            Invalid::when(is_long, &field, reason)?;
            let is_deep =
                *source == KeySource::Payload && name.split('.').count() > MAX_PATH_SEGMENTS;
            let reason = format_args!("must have at most {MAX_PATH_SEGMENTS} segments");
            Invalid::when(is_deep, &field, reason)?;
            let is_header = *source != KeySource::Header || HeaderName::try_from(&**name).is_ok();
            Invalid::when(!is_header, &field, "is no name of a header")?;
        }
        for (at, path) in self.exclude.iter().enumerate() {
            let rest = path.strip_prefix("payload.").or_else(|| path.strip_prefix("query."));
            let is_deep = path.split('.').count() > MAX_PATH_SEGMENTS;
            let is_wrong = rest.is_none_or(str::is_empty) || path.len() > MAX_PATH_BYTES || is_deep;
            let reason = format_args!(
                "must be payload. and a path of at most {MAX_PATH_SEGMENTS} segments, or query. and a \
                 key, of at most {MAX_PATH_BYTES} bytes"
            );
            Invalid::when(is_wrong, &format!("exclude[{at}]"), reason)?;
        }
        let is_needless = !self.exclude.is_empty() && !self.content && !self.key.is_empty();
        let reason = "has a meaning only where the content counts";
        Invalid::when(is_needless, "exclude", reason)
    }

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

/// How long the name of a part of a webhook may be.
const MAX_PATH_BYTES: usize = 1 << 10;

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

impl Entry for KeyPart {
    const SHAPE: Shape = Shape::Texts;

    fn text(&self) -> String {
        format!("{} {}", self.source.name(), self.name)
    }

    fn typed(text: &str) -> Result<Self, String> {
        let (source, name) = text.split_once(char::is_whitespace).ok_or_else(|| {
            format!("{text:?} must be header, query or payload, a space and a name")
        })?;
        Ok(Self { source: KeySource::of_name(source)?, name: name.trim().to_owned() })
    }
}

/// Where a [`KeyPart`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
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

impl Value for DuplicateAnswer {
    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn text(&self) -> String {
        match self {
            Self::Same => "same".to_owned(),
            Self::Status(status) => status.to_string(),
        }
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self =
            match typed {
                "" | "same" => Self::Same,
                status => Self::Status(status.parse().map_err(|_| {
                    format!("must be same or a status from 200 to 599, not {typed:?}")
                })?),
            };
        Ok(())
    }

    fn check(&self, _: &Field) -> Result<(), Invalid> {
        match self {
            Self::Status(status) if !(200..=599).contains(status) => {
                Err(format!("must be \"same\" or a status from 200 to 599, not {status}").into())
            }
            _ => Ok(()),
        }
    }
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
