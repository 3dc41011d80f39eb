//! Reading trees, charged while they are built.

use std::{borrow::Cow, fmt};

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{Bounds, ModuleError};

/// Reads any value into a tree that fits into `bounds`.
///
/// When it does not fit, the error of the format says something or other and
/// [`within_bounds`](Self::within_bounds) says so.
pub(crate) struct Reading<'b> {
    bounds: &'b mut Bounds,
    exceeded: Option<ModuleError>,
}

impl<'b> Reading<'b> {
    pub(crate) fn within(bounds: &'b mut Bounds) -> Self {
        Self { bounds, exceeded: None }
    }

    /// Fails when the bounds did not do.
    pub(crate) fn within_bounds(self) -> Result<(), ModuleError> {
        self.exceeded.map_or(Ok(()), Err)
    }

    fn charge<E: de::Error>(
        &mut self,
        charge: impl FnOnce(&mut Bounds) -> Result<(), ModuleError>,
    ) -> Result<(), E> {
        charge(self.bounds).map_err(|error| {
            let message = E::custom(&error);
            self.exceeded = Some(error);
            message
        })
    }
}

/// A plain value as text, which is empty for null; `None` for a list or an object.
pub(crate) fn plain_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => Some(Cow::Borrowed("")),
        Value::Bool(value) => Some(Cow::Owned(value.to_string())),
        Value::Number(value) => Some(Cow::Owned(value.to_string())),
        Value::String(value) => Some(Cow::Borrowed(value)),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// A JSON text as a tree.
pub(crate) fn from_json(
    json: &[u8],
    bounds: &mut Bounds,
) -> Result<Result<Value, serde_json::Error>, ModuleError> {
    let mut reading = Reading::within(bounds);
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = (&mut reading).deserialize(&mut deserializer);
    reading.within_bounds()?;
    Ok(value.and_then(|value| deserializer.end().map(|()| value)))
}

impl<'de> DeserializeSeed<'de> for &mut Reading<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Reading<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        self.charge(Bounds::value)?;
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: de::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        self.charge(Bounds::value)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        self.charge(Bounds::value)?;
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        self.charge(Bounds::value)?;
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        self.charge(Bounds::value)?;
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        self.charge(|bounds| bounds.text(value.len()))?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        self.charge(|bounds| bounds.text(value.len()))?;
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.charge(Bounds::value)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(&mut *self)? {
            if list.is_empty() {
                self.charge(Bounds::list)?;
            }
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        self.charge(Bounds::value)?;
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            self.charge(|bounds| bounds.field(object.is_empty(), key.len()))?;
            let value = fields.next_value_seed(&mut *self)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tree_is_read_as_it_stands() {
        let value = json!({"a": [1, -2, 2.5, "x\n", null, true, {}], "b": {"c": u64::MAX}});
        let mut bounds = Bounds::of_memory(1 << 16);
        let read = from_json(value.to_string().as_bytes(), &mut bounds);
        assert_eq!(read.expect("fits").expect("JSON"), value);
        assert!(bounds.bytes() < 1 << 16);
        let cut = from_json(b"[1, 2", &mut bounds).expect("fits");
        assert!(cut.is_err(), "{cut:?}");
        let more = from_json(b"[1] 2", &mut bounds).expect("fits");
        assert!(more.is_err(), "{more:?}");
    }

    #[test]
    fn what_does_not_fit_is_not_built() {
        for json in [format!("[{}0]", "[],".repeat(1_000)), format!("[\"{}\"]", "x".repeat(60_000))]
        {
            let mut bounds = Bounds::of_memory(50_000);
            assert_eq!(from_json(json.as_bytes(), &mut bounds).err(), Some(ModuleError::TooLarge));
        }
    }

    #[test]
    fn what_takes_too_long_is_not_finished() {
        let json = format!("[{}0]", "[],".repeat(10_000));
        let mut bounds = Bounds::of_memory(1 << 30).until(std::time::Instant::now());
        assert_eq!(from_json(json.as_bytes(), &mut bounds).err(), Some(ModuleError::TooSlow));
    }

    /// Charges that were less than what is allocated would bound nothing.
    #[test]
    fn a_tree_takes_no_more_than_it_is_charged() {
        let trees = [
            json!(vec![json!([]); 1_000]),
            json!(vec![json!({"a": 1}); 1_000]),
            json!(vec![json!({"a": 1, "b": 2, "c": "text", "d": null, "e": []}); 1_000]),
            json!(vec!["some text"; 1_000]),
            json!(vec![json!([[1], [2], [3]]); 300]),
            json!(vec![1; 1_025]),
        ];
        for tree in trees {
            let mut bounds = Bounds::of_memory(1 << 30);
            let read = from_json(tree.to_string().as_bytes(), &mut bounds).expect("fits");
            let (charged, weight) = ((1 << 30) - bounds.bytes(), weight(&read.expect("JSON")));
            assert!(charged * 4 >= weight * 3, "{charged} for {weight}");
        }
    }

    /// The bytes that a tree has allocated, but for what the allocator adds.
    fn weight(tree: &Value) -> usize {
        match tree {
            Value::String(text) => text.capacity(),
            Value::Array(items) => {
                items.capacity() * size_of::<Value>() + items.iter().map(weight).sum::<usize>()
            }
            Value::Object(fields) => {
                // Entries of hash, key and value, and a table of places with spare room.
                let entry = size_of::<Value>() + size_of::<String>() + 2 * size_of::<usize>();
                let room =
                    if fields.is_empty() { 0 } else { fields.len().next_power_of_two().max(4) };
                let inner = fields.iter().map(|(key, value)| key.capacity() + weight(value));
                room * entry + inner.sum::<usize>()
            }
            _ => 0,
        }
    }
}
