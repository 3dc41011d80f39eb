//! `json`, straight between text and tables.

use std::fmt;

use piccolo::{Context, String, Table, Value};
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::{
    building::Building,
    digits::{self, Digits, OfTable},
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
    match decoded(&mut call, text.as_bytes()) {
        Ok(value) => call.done(value),
        Err(error) => call.done_error(&error),
    }
}

/// The value of a JSON text.
pub(super) fn decoded<'gc>(
    call: &mut Call<'gc, '_>,
    json: &[u8],
) -> Result<Value<'gc>, ModuleError> {
    call.charge_bytes(json.len() * 2);
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let mut decoding = Decoding::begin(call);
    let unusual = digits::unusual(json);
    decoding.unusual = unusual.into_iter();
    decoding.next = decoding.unusual.next();
    let value = DeserializeSeed::deserialize(&mut decoding, &mut deserializer);
    value.and_then(|value| deserializer.end().map(|()| value)).map_err(|error| {
        let invalid = || ModuleError::invalid(format!("json: {error}").to_lowercase());
        decoding.exceeded.unwrap_or_else(invalid)
    })
}

/// Reads a format straight into tables. When they do not fit, the error of the
/// format says something or other and `exceeded` says so.
pub(super) struct Decoding<'gc, 'h, 't> {
    building: Building<'gc, 'h>,
    pub(super) exceeded: Option<ModuleError>,
    /// The numbers that Lua would write in another way, from `next` on.
    unusual: std::vec::IntoIter<(usize, &'t str)>,
    next: Option<(usize, &'t str)>,
    numbers: usize,
    /// The text of the number that was read last, if it is one of them.
    text: Option<&'t str>,
}

impl<'gc, 'h> Decoding<'gc, 'h, '_> {
    pub(super) fn begin(call: &Call<'gc, 'h>) -> Self {
        let unusual = Vec::new().into_iter();
        let building = Building::begin(call);
        Self { building, exceeded: None, unusual, next: None, numbers: 0, text: None }
    }

    /// Counts a number.
    fn number<E>(&mut self, value: Value<'gc>) -> Result<Value<'gc>, E> {
        self.numbers += 1;
        if let Some((_, text)) = self.next.filter(|(place, _)| *place == self.numbers) {
            self.text = Some(text);
            self.next = self.unusual.next();
        }
        Ok(value)
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
        self.fits(put)?;
        let Some(text) = self.text.take() else { return Ok(()) };
        let remembered = Digits::remember(&mut self.building, table, key, value, text);
        self.fits(remembered)
    }

    fn table<E: de::Error>(&mut self) -> Result<Table<'gc>, E> {
        let made = self.building.table();
        self.fits(made)
    }
}

impl<'de, 'gc> DeserializeSeed<'de> for &mut Decoding<'gc, '_, '_> {
    type Value = Value<'gc>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Value<'gc>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, 'gc> Visitor<'de> for &mut Decoding<'gc, '_, '_> {
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
        self.number(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'gc>, E> {
        self.number(i64::try_from(value).map_or(Value::Number(value as f64), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value<'gc>, E> {
        self.number(Value::Number(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value<'gc>, E> {
        self.text(value).map(Value::from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'gc>, A::Error> {
        let table = self.table()?;
        let (mut index, before) = (0, self.next);
        while let Some(item) = items.next_element_seed(&mut *self)? {
            index += 1;
            self.put(table, Value::Integer(index), item)?;
        }
        if before != self.next {
            let ended = Digits::end_list(&mut self.building, table, index);
            self.fits(ended)?;
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

struct Key<'d, 'gc, 'h, 't>(&'d mut Decoding<'gc, 'h, 't>);

impl<'de, 'gc> DeserializeSeed<'de> for Key<'_, 'gc, '_, '_> {
    type Value = String<'gc>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<String<'gc>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'gc> Visitor<'_> for Key<'_, 'gc, '_, '_> {
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
    let encoded = encoded(&mut call, value);
    call.done_bytes(encoded.map_err(|error| error.of("json")))
}

/// A value as JSON.
pub(super) fn encoded<'gc>(
    call: &mut Call<'gc, '_>,
    value: Value<'gc>,
) -> Result<Vec<u8>, ModuleError> {
    let out = Output::of_at_most(call.host.limits.string_bytes);
    let digits = Digits::known(call.host, call.ctx);
    let mut writing =
        Writing { host: call.host, ctx: call.ctx, bounds: call.bounds(), out, digits };
    writing.write(value, (None, Value::Nil), 0)?;
    let json = writing.out.finish()?;
    call.charge_bytes(json.len());
    Ok(json)
}

struct Writing<'gc, 'h> {
    host: &'h Host,
    ctx: Context<'gc>,
    /// For the lists of keys, the only thing that is made beside the text.
    bounds: Bounds,
    out: Output,
    digits: Option<Digits<'gc>>,
}

/// The texts of the numbers in a table, and the key of one value there.
type Place<'gc> = (Option<OfTable<'gc>>, Value<'gc>);

impl<'gc> Writing<'gc, '_> {
    fn write(
        &mut self,
        value: Value<'gc>,
        (of_table, key): Place<'gc>,
        depth: usize,
    ) -> Result<(), ModuleError> {
        // Looks at the time now and then.
        self.bounds.take(0)?;
        match value {
            Value::Nil => self.out.push(b"null"),
            Value::Boolean(value) => self.out.push_json(&value),
            Value::Integer(value) => self.out.push_json(&value),
            Value::Number(value) if value.is_finite() => {
                let known = self.digits.map(|digits| digits.text(of_table, key, value));
                match known.transpose()?.flatten() {
                    Some(text) => self.out.push(text.as_bytes()),
                    None => self.out.push_json(&value),
                }
            }
            Value::Number(_) => Err(ModuleError::invalid("NaN and infinity cannot be encoded")),
            Value::String(text) => self.out.push_json(&*text.to_str_lossy()),
            Value::Table(_) if depth >= MAX_DEPTH => Err(tree::too_deep()),
            Value::Table(table) => {
                match tree::shape(self.host, self.ctx, table, &mut self.bounds)? {
                    Shape::List(length) => self.write_list(table, length, depth),
                    Shape::Object(pairs) => self.write_object(table, pairs, depth),
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
        let of_table = self.digits.map(|digits| digits.of_table(table));
        self.out.push(b"[")?;
        for index in 1..=length {
            if index > 1 {
                self.out.push(b",")?;
            }
            let place = (of_table, Value::Integer(index));
            self.write(table.get_value(Value::Integer(index)), place, depth + 1)?;
        }
        self.out.push(b"]")
    }

    fn write_object(
        &mut self,
        table: Table<'gc>,
        pairs: Pairs<'gc>,
        depth: usize,
    ) -> Result<(), ModuleError> {
        let Pairs { pairs, charged } = pairs;
        let of_table = self.digits.map(|digits| digits.of_table(table));
        self.out.push(b"{")?;
        for (index, (key, value)) in pairs.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b",")?;
            }
            self.out.push_json(&key)?;
            self.out.push(b":")?;
            let own = of_table.filter(|_| matches!(value, Value::Number(_)));
            let key = own.map_or(Value::Nil, |_| String::from_slice(&self.ctx, &key).into());
            self.write(value, (of_table, key), depth + 1)?;
        }
        self.bounds.give(charged);
        self.out.push(b"}")
    }
}
