//! One value of a JSON document, without reading the rest into memory.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Text, a number or a truth value, as text.
    Text(String),
    /// An object or a list.
    Other,
}

/// A document that is not JSON, or says one thing twice on the way to a value: two
/// readers may then see different values, and only one of them is signed.
#[derive(Debug)]
pub(crate) struct NotRead;

/// What is at `path` (`data.items.0.id`); nothing where there is nothing, or null.
pub(crate) fn find(document: &[u8], path: &str) -> Result<Option<Found>, NotRead> {
    let path: Vec<&str> = path.split('.').collect();
    let mut deserializer = serde_json::Deserializer::from_slice(document);
    let found = At(&path).deserialize(&mut deserializer).map_err(|_| NotRead)?;
    deserializer.end().map_err(|_| NotRead)?;
    Ok(found)
}

struct At<'p>(&'p [&'p str]);

impl At<'_> {
    fn scalar<E>(&self, value: impl ToString) -> Result<Option<Found>, E> {
        Ok(self.0.is_empty().then(|| Found::Text(value.to_string())))
    }
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = Option<Found>;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = Option<Found>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        self.scalar(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        self.scalar(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        self.scalar(value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        self.scalar(value)
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        self.scalar(value)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some((first, rest)) = self.0.split_first() else {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Some(Found::Other));
        };
        let mut found = None;
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if key != *first {
                map.next_value::<IgnoredAny>()?;
            } else if found.is_some() {
                return Err(A::Error::custom("a name is there twice"));
            } else {
                found = Some(map.next_value_seed(At(rest))?);
            }
        }
        Ok(found.flatten())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let Some((first, rest)) = self.0.split_first() else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Some(Found::Other));
        };
        let wanted: Option<usize> = first.parse().ok();
        let mut found = None;
        for index in 0.. {
            if Some(index) == wanted {
                match list.next_element_seed(At(rest))? {
                    Some(value) => found = value,
                    None => break,
                }
            } else if list.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_a_value_or_to_nothing() {
        let document = br#"{"a":{"b":["x",{"c":-1.5}],"t":true,"n":null,"e":"\u00e9"},"z":{}}"#;
        let text = |text: &str| Some(Found::Text(text.to_owned()));
        for (path, expected) in [
            ("a.b.0", text("x")),
            ("a.b.1.c", text("-1.5")),
            ("a.t", text("true")),
            ("a.e", text("é")),
            ("a.n", None),
            ("a.b.2", None),
            ("a.b.x", None),
            ("a.b.0.c", None),
            ("z", Some(Found::Other)),
            ("a.b", Some(Found::Other)),
        ] {
            assert_eq!(find(document, path).expect("it is JSON"), expected, "{path}");
        }
    }

    #[test]
    fn what_two_readers_may_read_differently_is_not_read() {
        assert!(find(br#"{"a":1,"a":2}"#, "a").is_err());
        assert!(find(br#"{"a":1,"\u0061":2}"#, "a").is_err());
        assert!(find(br#"{"a":null,"a":2}"#, "a").is_err());
        assert!(find(br#"{"b":1,"b":2,"a":1}"#, "a").is_ok());
        for document in ["", "{", "{}x", "\u{feff}{}", "{\"a\":\u{1}}"] {
            assert!(find(document.as_bytes(), "a").is_err(), "{document}");
        }
        let deep = "[".repeat(100_000);
        assert!(find(deep.as_bytes(), "0").is_err());
    }
}
