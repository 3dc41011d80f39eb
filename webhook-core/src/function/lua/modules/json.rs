//! `json`, straight between text and tables.

use std::fmt;

use piccolo::{Context, String, Table, Value};
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::tree::{self, Shape};
use crate::function::{
    lua::vm::{
        call::{Call, Native, Outcome, new_string},
        host::Host,
        limit::Limit,
    },
    modules::ModuleError,
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("decode", decode), ("encode", encode)];

fn decode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.charge_bytes(text.as_bytes().len() * 2);
    let mut deserializer = serde_json::Deserializer::from_slice(text.as_bytes());
    let mut decoding = Decoding { host: call.host, ctx: call.ctx, values: 0, too_large: false };
    let value = DeserializeSeed::deserialize(&mut decoding, &mut deserializer);
    let too_large = decoding.too_large;
    match value.and_then(|value| deserializer.end().map(|()| value)) {
        _ if too_large => Err(call.exceed(Limit::Memory)),
        Ok(value) => call.done(value),
        Err(error) => call.done_failed(&format!("json: {error}").to_lowercase()),
    }
}

/// Values between two looks at the memory.
const VALUES_PER_LOOK: u32 = 4_096;

struct Decoding<'gc, 'h> {
    host: &'h Host,
    ctx: Context<'gc>,
    values: u32,
    too_large: bool,
}

impl<'gc> Decoding<'gc, '_> {
    fn count<E: de::Error>(&mut self) -> Result<(), E> {
        self.values += 1;
        if self.values.is_multiple_of(VALUES_PER_LOOK) {
            // Garbage is not collected meanwhile, so twice the limit is no proof of less.
            let used = self.ctx.metrics().total_allocation();
            if used > self.host.limits.memory_bytes.saturating_mul(2) {
                self.too_large = true;
                return Err(E::custom("too many values"));
            }
        }
        Ok(())
    }
}

impl<'de, 'gc> DeserializeSeed<'de> for &mut Decoding<'gc, '_> {
    type Value = Value<'gc>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Value<'gc>, D::Error> {
        self.count()?;
        from.deserialize_any(self)
    }
}

impl<'de, 'gc> Visitor<'de> for &mut Decoding<'gc, '_> {
    type Value = Value<'gc>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value<'gc>, E> {
        Ok(tree::null(self.host, self.ctx))
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

    fn visit_str<E>(self, value: &str) -> Result<Value<'gc>, E> {
        Ok(new_string(self.ctx, value.as_bytes().to_vec()).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'gc>, A::Error> {
        let table = Table::new(&self.ctx);
        let mut index = 0;
        while let Some(item) = items.next_element_seed(&mut *self)? {
            index += 1;
            // Integers are never refused as keys.
            let _ = table.set_value(&self.ctx, Value::Integer(index), item);
        }
        Ok(table.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value<'gc>, A::Error> {
        let table = Table::new(&self.ctx);
        let mut empty = true;
        while let Some(key) = fields.next_key_seed(Key(self.ctx))? {
            empty = false;
            let value = fields.next_value_seed(&mut *self)?;
            let _ = table.set_value(&self.ctx, key.into(), value);
        }
        if empty {
            tree::mark_object(self.host, self.ctx, table);
        }
        Ok(table.into())
    }
}

struct Key<'gc>(Context<'gc>);

impl<'de, 'gc> DeserializeSeed<'de> for Key<'gc> {
    type Value = String<'gc>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<String<'gc>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'gc> Visitor<'_> for Key<'gc> {
    type Value = String<'gc>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<String<'gc>, E> {
        Ok(String::from_slice(&self.0, key))
    }
}

fn encode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    let mut out = Vec::new();
    let limit = call.host.limits.string_bytes;
    let writing = Writing { host: call.host, ctx: call.ctx, limit };
    match writing.write(value, 0, &mut out) {
        Ok(()) => {
            call.charge_bytes(out.len());
            let text = call.string(out)?;
            call.done(text)
        }
        Err(ModuleError::TooLarge) => Err(call.exceed(Limit::StringBytes)),
        Err(ModuleError::Invalid(reason)) => call.done_failed(&format!("json: {reason}")),
    }
}

struct Writing<'gc, 'h> {
    host: &'h Host,
    ctx: Context<'gc>,
    limit: usize,
}

impl<'gc> Writing<'gc, '_> {
    fn write(&self, value: Value<'gc>, depth: usize, out: &mut Vec<u8>) -> Result<(), ModuleError> {
        if out.len() > self.limit {
            return Err(ModuleError::TooLarge);
        }
        match value {
            Value::Nil => out.extend_from_slice(b"null"),
            Value::Boolean(true) => out.extend_from_slice(b"true"),
            Value::Boolean(false) => out.extend_from_slice(b"false"),
            Value::Integer(value) => plain(&value, out),
            Value::Number(value) if value.is_finite() => plain(&value, out),
            Value::Number(_) => {
                return Err(ModuleError::invalid("NaN and infinity cannot be encoded"));
            }
            Value::String(text) => plain(&text.to_str_lossy(), out),
            Value::Table(table) => {
                if depth >= tree::MAX_DEPTH {
                    return Err(tree::too_deep());
                }
                match tree::shape(self.host, self.ctx, table)? {
                    Shape::List(length) => {
                        out.push(b'[');
                        for index in 1..=length {
                            if index > 1 {
                                out.push(b',');
                            }
                            self.write(table.get_value(Value::Integer(index)), depth + 1, out)?;
                        }
                        out.push(b']');
                    }
                    Shape::Object(pairs) => {
                        out.push(b'{');
                        for (index, (key, value)) in pairs.into_iter().enumerate() {
                            if index > 0 {
                                out.push(b',');
                            }
                            plain(&key, out);
                            out.push(b':');
                            self.write(value, depth + 1, out)?;
                        }
                        out.push(b'}');
                    }
                }
            }
            value if tree::is_null(value) => out.extend_from_slice(b"null"),
            other => return Err(tree::unencodable(other)),
        }
        Ok(())
    }
}

fn plain(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    // Plain values are always written, and a vector takes everything.
    let _ = serde_json::to_writer(out, value);
}
