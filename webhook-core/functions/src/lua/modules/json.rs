//! `json`, straight between text and tables.

use std::fmt;

use piccolo::{Context, String, Table, Value};
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::{
    building::Building,
    tree::{self, Pairs, Shape},
};
use crate::{
    lua::vm::{
        call::{Call, Native, Outcome},
        host::Host,
    },
    modules::{Bounds, MAX_DEPTH, ModuleError, Output},
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("decode", decode), ("encode", encode)];

fn decode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.charge_bytes(text.as_bytes().len() * 2);
    let mut deserializer = serde_json::Deserializer::from_slice(text.as_bytes());
    let mut decoding = Decoding::begin(&call);
    let value = DeserializeSeed::deserialize(&mut decoding, &mut deserializer);
    match value.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => call.done(value),
        Err(error) => {
            let invalid = || ModuleError::invalid(format!("json: {error}").to_lowercase());
            call.done_error(&decoding.exceeded.unwrap_or_else(invalid))
        }
    }
}

/// Reads a format straight into tables. When they do not fit, the error of the
/// format says something or other and `exceeded` says so.
pub(super) struct Decoding<'gc, 'h> {
    building: Building<'gc, 'h>,
    pub(super) exceeded: Option<ModuleError>,
}

impl<'gc, 'h> Decoding<'gc, 'h> {
    pub(super) fn begin(call: &Call<'gc, 'h>) -> Self {
        Self { building: Building::begin(call), exceeded: None }
    }

    fn fits<T, E: de::Error>(&mut self, made: Result<T, ModuleError>) -> Result<T, E> {
        made.map_err(|error| {
            let message = E::custom(&error);
            self.exceeded = Some(error);
            message
        })
    }

    fn text<E: de::Error>(&mut self, text: &str) -> Result<String<'gc>, E> {
        let made = self.building.text(text.as_bytes());
        self.fits(made)
    }

    fn put<E: de::Error>(
        &mut self,
        table: Table<'gc>,
        key: Value<'gc>,
        value: Value<'gc>,
    ) -> Result<(), E> {
        let put = self.building.put(table, key, value);
        self.fits(put)
    }

    fn table<E: de::Error>(&mut self) -> Result<Table<'gc>, E> {
        let made = self.building.table();
        self.fits(made)
    }
}

impl<'de, 'gc> DeserializeSeed<'de> for &mut Decoding<'gc, '_> {
    type Value = Value<'gc>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Value<'gc>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, 'gc> Visitor<'de> for &mut Decoding<'gc, '_> {
    type Value = Value<'gc>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value<'gc>, E> {
        Ok(tree::null(self.building.host, self.building.ctx))
    }

    fn visit_none<E>(self) -> Result<Value<'gc>, E> {
        Ok(tree::null(self.building.host, self.building.ctx))
    }

    fn visit_some<D: de::Deserializer<'de>>(self, from: D) -> Result<Value<'gc>, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'gc>, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value<'gc>, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'gc>, E> {
        Ok(i64::try_from(value).map_or(Value::Number(value as f64), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value<'gc>, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value<'gc>, E> {
        self.text(value).map(Value::from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'gc>, A::Error> {
        let table = self.table()?;
        let mut index = 0;
        while let Some(item) = items.next_element_seed(&mut *self)? {
            index += 1;
            self.put(table, Value::Integer(index), item)?;
        }
        Ok(table.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value<'gc>, A::Error> {
        let table = self.table()?;
        let mut empty = true;
        while let Some(key) = fields.next_key_seed(Key(self))? {
            empty = false;
            let value = fields.next_value_seed(&mut *self)?;
            self.put(table, key.into(), value)?;
        }
        if empty {
            tree::mark_object(self.building.host, self.building.ctx, table);
        }
        Ok(table.into())
    }
}

struct Key<'d, 'gc, 'h>(&'d mut Decoding<'gc, 'h>);

impl<'de, 'gc> DeserializeSeed<'de> for Key<'_, 'gc, '_> {
    type Value = String<'gc>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<String<'gc>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'gc> Visitor<'_> for Key<'_, 'gc, '_> {
    type Value = String<'gc>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<String<'gc>, E> {
        self.0.text(key)
    }
}

fn encode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    let out = Output::of_at_most(call.host.limits.string_bytes);
    let mut writing = Writing { host: call.host, ctx: call.ctx, bounds: call.bounds(), out };
    let written = writing.write(value, 0).and_then(|()| writing.out.finish());
    match written {
        Ok(out) => {
            call.charge_bytes(out.len());
            call.done_string(out)
        }
        Err(ModuleError::Invalid(reason)) => call.done_failed(&format!("json: {reason}")),
        Err(error) => call.done_error(&error),
    }
}

struct Writing<'gc, 'h> {
    host: &'h Host,
    ctx: Context<'gc>,
    /// For the lists of keys, the only thing that is made beside the text.
    bounds: Bounds,
    out: Output,
}

impl<'gc> Writing<'gc, '_> {
    fn write(&mut self, value: Value<'gc>, depth: usize) -> Result<(), ModuleError> {
        // Looks at the time now and then.
        self.bounds.take(0)?;
        match value {
            Value::Nil => self.out.push(b"null"),
            Value::Boolean(value) => self.out.push_json(&value),
            Value::Integer(value) => self.out.push_json(&value),
            Value::Number(value) if value.is_finite() => self.out.push_json(&value),
            Value::Number(_) => Err(ModuleError::invalid("NaN and infinity cannot be encoded")),
            Value::String(text) => self.out.push_json(&*text.to_str_lossy()),
            Value::Table(_) if depth >= MAX_DEPTH => Err(tree::too_deep()),
            Value::Table(table) => {
                match tree::shape(self.host, self.ctx, table, &mut self.bounds)? {
                    Shape::List(length) => self.write_list(table, length, depth),
                    Shape::Object(pairs) => self.write_object(pairs, depth),
                }
            }
            value if tree::is_null(value) => self.out.push(b"null"),
            other => Err(tree::unencodable(other)),
        }
    }

    fn write_list(
        &mut self,
        table: Table<'gc>,
        length: i64,
        depth: usize,
    ) -> Result<(), ModuleError> {
        self.out.push(b"[")?;
        for index in 1..=length {
            if index > 1 {
                self.out.push(b",")?;
            }
            self.write(table.get_value(Value::Integer(index)), depth + 1)?;
        }
        self.out.push(b"]")
    }

    fn write_object(&mut self, pairs: Pairs<'gc>, depth: usize) -> Result<(), ModuleError> {
        let Pairs { pairs, charged } = pairs;
        self.out.push(b"{")?;
        for (index, (key, value)) in pairs.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b",")?;
            }
            self.out.push_json(&key)?;
            self.out.push(b":")?;
            self.write(value, depth + 1)?;
        }
        self.bounds.give(charged);
        self.out.push(b"}")
    }
}
