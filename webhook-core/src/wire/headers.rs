//! Header maps as callers write and read them.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess},
    ser::SerializeMap,
};

/// HTTP headers on the wire: written as `{"Name":["v1","v2"]}`, read in that
/// form and as `{"Name":"v"}`. `null` is the empty map.
///
/// Names are answered in the canonical form `X-Github-Event`, which the
/// official clients index by. A value that is not UTF-8 is shown with
/// replacement characters; the original bytes are what is forwarded.
///
/// ```
/// let headers: webhook_core::model::Headers =
///     serde_json::from_str(r#"{"x-token":"t", "Accept":["a","b"]}"#)?;
/// assert_eq!(
///     serde_json::to_string(&headers)?,
///     r#"{"X-Token":["t"],"Accept":["a","b"]}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(pub HeaderMap);

impl Headers {
    /// The canonical spelling of a name: `content-type` → `Content-Type`.
    #[must_use]
    pub fn canonical_name(name: &HeaderName) -> String {
        let mut upper = true;
        name.as_str()
            .chars()
            .map(|c| {
                let cased = if upper { c.to_ascii_uppercase() } else { c };
                upper = c == '-';
                cased
            })
            .collect()
    }
}

impl From<HeaderMap> for Headers {
    fn from(headers: HeaderMap) -> Self {
        Self(headers)
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.keys_len()))?;
        for name in self.0.keys() {
            let values: Vec<_> = self
                .0
                .get_all(name)
                .iter()
                .map(|value| String::from_utf8_lossy(value.as_bytes()))
                .collect();
            map.serialize_entry(&Self::canonical_name(name), &values)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a header's value must be a string or a list of strings")]
        enum Values {
            One(String),
            Many(Vec<String>),
            Null(()),
        }

        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of header names and values")
            }

            fn visit_unit<E>(self) -> Result<Headers, E> {
                Ok(Headers::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = HeaderMap::new();
                while let Some((name, values)) = map.next_entry::<String, Values>()? {
                    let values = match values {
                        Values::One(value) => vec![value],
                        Values::Many(values) => values,
                        Values::Null(()) => Vec::new(),
                    };
                    let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
                        de::Error::custom(format_args!("{name:?} is not a header name"))
                    })?;
                    if headers.contains_key(&key) {
                        return Err(de::Error::custom(format_args!(
                            "header {name:?} is given more than once"
                        )));
                    }
                    for value in values {
                        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| {
                            de::Error::custom(format_args!(
                                "header {name:?} has a value with control characters"
                            ))
                        })?;
                        if headers.try_append(key.clone(), value).is_err() {
                            return Err(de::Error::custom("too many headers"));
                        }
                    }
                }
                Ok(Headers(headers))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}
