//! Numbers of JSON texts that leave with the digits with which they came.
//!
//! The texts of numbers that Lua would write in another way are kept in tables of the call: by the
//! table and the key at which they were put, and by their value for those that are put elsewhere.

use piccolo::{Context, String, Table, Value};

use super::building::Building;
use crate::{
    lua::vm::host::Host,
    modules::{ModuleError, digits},
};

/// What a call remembers of numbers.
#[derive(Clone, Copy)]
pub(super) struct Digits<'gc> {
    /// The texts in each table, by its keys; those of a list have its length at 0.
    places: Table<'gc>,
    /// The text of each value, false where there are several.
    values: Table<'gc>,
}

/// The texts of one table.
#[derive(Clone, Copy)]
pub(super) struct OfTable<'gc> {
    table: Table<'gc>,
    texts: Option<Table<'gc>>,
}

impl<'gc> Digits<'gc> {
    /// The tables of this call, once a number is remembered.
    pub(super) fn known(host: &Host, ctx: Context<'gc>) -> Option<Self> {
        let kept = host.kept(ctx);
        match (kept.get(ctx, "digits by place"), kept.get(ctx, "digits by value")) {
            (Value::Table(places), Value::Table(values)) => Some(Self { places, values }),
            _ => None,
        }
    }

    fn of_call(building: &mut Building<'gc, '_>) -> Result<Self, ModuleError> {
        let (host, ctx) = (building.host, building.ctx);
        if let Some(known) = Self::known(host, ctx) {
            return Ok(known);
        }
        let made = Self { places: building.table()?, values: building.table()? };
        let kept = host.kept(ctx);
        building.put(kept, ctx.intern(b"digits by place"), made.places)?;
        building.put(kept, ctx.intern(b"digits by value"), made.values)?;
        Ok(made)
    }

    /// Remembers the text of a number that was put into a table.
    pub(super) fn remember(
        building: &mut Building<'gc, '_>,
        table: Table<'gc>,
        key: Value<'gc>,
        value: Value<'gc>,
        text: &str,
    ) -> Result<(), ModuleError> {
        let digits = Self::of_call(building)?;
        let text = building.text(text.as_bytes())?;
        let texts = match digits.places.get_value(table.into()) {
            Value::Table(texts) => texts,
            _ => {
                let texts = building.table()?;
                building.put(digits.places, table, texts)?;
                texts
            }
        };
        building.put(texts, key, text)?;
        // A whole number that is exact is the same without its text.
        if matches!(value, Value::Number(number) if number.fract() != 0.0 || number.abs() >= EXACT)
        {
            let known = digits.values.get_value(value);
            let same = known.is_nil() || matches!(known, Value::String(known) if known == text);
            building.put(
                digits.values,
                value,
                if same { text.into() } else { Value::Boolean(false) },
            )?;
        }
        Ok(())
    }

    /// Remembers the length of a list, if numbers in it are remembered.
    pub(super) fn end_list(
        building: &mut Building<'gc, '_>,
        table: Table<'gc>,
        length: i64,
    ) -> Result<(), ModuleError> {
        let digits = Self::of_call(building)?;
        match digits.places.get_value(table.into()) {
            Value::Table(texts) => building.put(texts, Value::Integer(0), Value::Integer(length)),
            _ => Ok(()),
        }
    }

    /// The texts of the numbers in a table.
    pub(super) fn of_table(self, table: Table<'gc>) -> OfTable<'gc> {
        let texts = match self.places.get_value(table.into()) {
            Value::Table(texts) => Some(texts),
            _ => None,
        };
        OfTable { table, texts }
    }

    /// The text of a number that is in a place of a table.
    ///
    /// # Errors
    /// When it stands for several numbers and is not where it was.
    pub(super) fn text(
        self,
        of: Option<OfTable<'gc>>,
        key: Value<'gc>,
        number: f64,
    ) -> Result<Option<String<'gc>>, ModuleError> {
        let elsewhere = self.values.get_value(Value::Number(number));
        let several = matches!(elsewhere, Value::Boolean(false));
        let here = of.and_then(|of| of.text(key, number).filter(|_| !several || of.stays()));
        match (here, elsewhere) {
            (Some(text), _) | (None, Value::String(text)) => Ok(Some(text)),
            (None, Value::Boolean(false)) => Err(ModuleError::invalid(format!(
                "the number {number} stands for several numbers of the text with other digits: \
                leave it in the table that it was decoded into, or write a string"
            ))),
            _ => Ok(None),
        }
    }
}

impl<'gc> OfTable<'gc> {
    fn text(self, key: Value<'gc>, number: f64) -> Option<String<'gc>> {
        match self.texts?.get_value(key) {
            Value::String(text) if reads_as(text, number) => Some(text),
            _ => None,
        }
    }

    /// Whether nothing was moved in a list.
    fn stays(self) -> bool {
        let Some(texts) = self.texts else { return false };
        let Value::Integer(length) = texts.get_value(Value::Integer(0)) else { return true };
        self.table.length() == length
            && texts.into_iter().all(|(key, text)| match (self.table.get_value(key), text) {
                (Value::Number(number), Value::String(text)) => reads_as(text, number),
                (_, text) => !matches!(text, Value::String(_)),
            })
    }
}

/// From where on a whole number may stand for others.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn reads_as(text: String<'_>, number: f64) -> bool {
    let read = serde_json::from_slice::<f64>(text.as_bytes());
    read.is_ok_and(|read| read.to_bits() == number.to_bits())
}

/// The numbers of a JSON text that Lua would write in another way, each with its place among all
/// numbers.
pub(super) fn unusual(json: &[u8]) -> Vec<(usize, &str)> {
    let numbers = (1..).zip(digits::numbers(json));
    numbers.filter(|(_, number)| !digits::is_plain_in_lua(number)).collect()
}
