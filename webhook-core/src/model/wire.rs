//! Encodings that cut across the schemas; `crate::wire::json`
//! has those that know no identifier.

pub(crate) use crate::wire::json::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::id::Id;

/// An optional identifier, which is `""` on the wire when it is absent.
pub(crate) mod optional_id {
    use super::*;

    pub(crate) fn serialize<S: Serializer, K>(
        id: &Option<Id<K>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match id {
            Some(id) => id.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, K>(
        deserializer: D,
    ) -> Result<Option<Id<K>>, D::Error> {
        match Option::<std::borrow::Cow<'de, str>>::deserialize(deserializer)? {
            None => Ok(None),
            Some(text) if text.is_empty() => Ok(None),
            Some(text) => text.parse().map(Some).map_err(de::Error::custom),
        }
    }
}

/// An optional moment in the form of RFC 3339. Unset are also `""` and the zero
/// time of Go, which its clients send.
pub(crate) mod optional_rfc3339 {
    use super::*;
    use crate::clock::Timestamp;

    /// 0001-01-01T00:00:00Z
    const ZERO_SECS: i64 = -62_135_596_800;

    pub(crate) fn serialize<S: Serializer>(
        moment: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let moment =
            moment.and_then(|moment| jiff::Timestamp::from_millisecond(moment.as_millis()).ok());
        match moment {
            Some(moment) => serializer.collect_str(&moment),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        let moment: jiff::Timestamp = text.parse().map_err(|_| {
            let example = "2026-03-29T02:30:00Z";
            de::Error::custom(format!("{text:?} is not a time of RFC 3339 such as {example}"))
        })?;
        let moment = Timestamp::from_millis(moment.as_millisecond());
        Ok(Some(moment).filter(|moment| moment.as_secs() != ZERO_SECS))
    }
}
