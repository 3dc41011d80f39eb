//! Reading JSON of bounded size and depth, before anything is made of it.

use std::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use super::{MAX_DEPTH, MAX_SIZE_BYTES, path::Path};

/// A level of rules takes two of JSON (an object and its list), a match two more.
const MAX_JSON_DEPTH: usize = 2 * MAX_DEPTH + 4;

/// What each value counts for beside its text.
const VALUE_BYTES: usize = 8;

/// A JSON value no larger than rules may be.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
    path: Path,
) -> Result<Value, D::Error> {
    let mut budget = Budget { path, bytes_left: MAX_SIZE_BYTES };
    Bounded { budget: &mut budget, depth: 0 }.deserialize(deserializer)
}

struct Budget {
    path: Path,
    bytes_left: usize,
}

impl Budget {
    fn take<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(|| {
            E::custom(self.path.invalid(format_args!("rules are over {MAX_SIZE_BYTES} bytes")))
        })?;
        Ok(())
    }
}

struct Bounded<'b> {
    budget: &'b mut Budget,
    depth: usize,
}

impl Bounded<'_> {
    /// The seed of a value inside this one.
    fn inner<E: Error>(&mut self) -> Result<Bounded<'_>, E> {
        if self.depth == MAX_JSON_DEPTH {
            let reason = format_args!("rules are more than {MAX_DEPTH} deep");
            return Err(E::custom(self.budget.path.invalid(reason)));
        }
        Ok(Bounded { budget: &mut *self.budget, depth: self.depth + 1 })
    }

    fn scalar<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.budget.take(VALUE_BYTES)?;
        Ok(value.into())
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.scalar(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.scalar(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.scalar(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        self.budget.take(VALUE_BYTES + text.len())?;
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Value, A::Error> {
        self.budget.take(VALUE_BYTES)?;
        let mut values = Vec::new();
        loop {
            self.budget.path.enter_index(values.len());
            let Some(value) = seq.next_element_seed(self.inner()?)? else { break };
            self.budget.path.leave();
            values.push(value);
        }
        self.budget.path.leave();
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        self.budget.take(VALUE_BYTES)?;
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            self.budget.path.enter(&key);
            self.budget.take(key.len())?;
            let value = map.next_value_seed(self.inner()?)?;
            if object.contains_key(&key) {
                return Err(A::Error::custom(self.budget.path.invalid("is given twice")));
            }
            self.budget.path.leave();
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
