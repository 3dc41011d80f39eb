//! How JSON is read leniently and numbers are written, for serde's `with` and
//! `deserialize_with`.

use std::{fmt, marker::PhantomData, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::wire::id::Id;

/// How many segments a dotted path into a JSON body may have, in rules and elsewhere.
pub const MAX_PATH_SEGMENTS: usize = 64;
/// How many elements of an XML body may be inside each other.
pub const MAX_XML_DEPTH: usize = 100;

/// `null` stands for the default: clients send it for empty maps and lists.
pub(crate) fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Leaves a field out of what is written: `skip_serializing_if` keeps it in the schema of requests,
/// which `skip_serializing` does not.
pub(crate) fn always<T>(_: &T) -> bool {
    true
}

/// As [`null_default`], for fields that tell `null`, which resets them, from being absent, which
/// keeps them.
pub(crate) fn null_some_default<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    null_default(deserializer).map(Some)
}

/// As [`null_default`], for parts that are objects.
pub(crate) fn null_default_object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(optional_object(deserializer)?.unwrap_or_default())
}

/// An object or `null`: a derived struct could be read from a list of its fields as well,
/// which nobody means.
pub(crate) fn optional_object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Visitor<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_unit<E>(self) -> Result<Option<T>, E> {
            Ok(None)
        }

        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
            T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Some)
        }
    }

    deserializer.deserialize_any(Visitor(PhantomData))
}

/// As [`null_default`], for flags that are on unless a caller turns them off.
pub(crate) fn null_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<bool>::deserialize(deserializer)?.unwrap_or(true))
}

/// What a caller may send and nobody reads: a read-only field of a part that is
/// written as a whole. Skipping it would take it out of the OpenAPI schema.
pub(crate) fn ignored<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default,
{
    de::IgnoredAny::deserialize(deserializer).map(|_| T::default())
}

/// A duration as whole seconds; none is 0.
pub(crate) mod optional_seconds {
    use super::*;

    /// Writes it.
    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(duration.map_or(0, |duration| duration.as_secs()))
    }

    /// Reads it.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let secs = Option::<u32>::deserialize(deserializer)?.filter(|secs| *secs > 0);
        Ok(secs.map(|secs| Duration::from_secs(secs.into())))
    }
}

/// A duration as integer nanoseconds.
pub(crate) mod nanoseconds {
    use super::*;

    /// Writes it.
    pub(crate) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }

    /// Reads it.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        let nanos = Option::<i64>::deserialize(deserializer)?.unwrap_or_default();
        from_nanos(nanos)
    }

    pub(super) fn from_nanos<E: de::Error>(nanos: i64) -> Result<Duration, E> {
        u64::try_from(nanos)
            .map(Duration::from_nanos)
            .map_err(|_| E::custom("a duration must not be negative (it counts nanoseconds)"))
    }
}

/// A list of durations as integer nanoseconds.
pub(crate) mod nanosecond_list {
    use super::*;

    /// Writes it.
    pub(crate) fn serialize<S: Serializer>(
        durations: &[Duration],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            durations.iter().map(|delay| i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX)),
        )
    }

    /// Reads it.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Duration>, D::Error> {
        let nanos = Option::<Vec<i64>>::deserialize(deserializer)?.unwrap_or_default();
        nanos.into_iter().map(nanoseconds::from_nanos).collect()
    }
}

/// An enumeration that is written as a lower-case string and read as that
/// string or its integer.
pub(crate) trait WireEnum: Copy + Sized + 'static {
    /// Every value with its name and its integer.
    const VALUES: &'static [(Self, &'static str, u64)];

    /// The lower-case name.
    fn wire_name(self) -> &'static str
    where
        Self: PartialEq,
    {
        Self::VALUES.iter().find(|(value, ..)| *value == self).map_or("", |(_, name, _)| name)
    }

    /// The value with this name.
    fn from_wire_name(name: &str) -> Option<Self> {
        Self::VALUES.iter().find(|(_, known, _)| *known == name).map(|(value, ..)| *value)
    }
}

/// Reads a name or its integer. The empty text, which clients send for a field that they do not
/// set, is the value whose integer is 0.
pub(crate) fn deserialize_enum<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: WireEnum,
    D: Deserializer<'de>,
{
    struct Visitor<T>(PhantomData<T>);

    impl<T: WireEnum> de::Visitor<'_> for Visitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one of")?;
            for (index, (_, name, number)) in T::VALUES.iter().enumerate() {
                write!(f, "{} \"{name}\" ({number})", if index == 0 { "" } else { "," })?;
            }
            Ok(())
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            if text.is_empty() {
                return self.visit_u64(0);
            }
            T::from_wire_name(text)
                .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
            T::VALUES
                .iter()
                .find(|(_, _, known)| *known == number)
                .map(|(value, ..)| *value)
                .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            match u64::try_from(number) {
                Ok(number) => self.visit_u64(number),
                Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
            }
        }
    }

    deserializer.deserialize_any(Visitor(PhantomData))
}

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
    use crate::wire::Timestamp;

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
