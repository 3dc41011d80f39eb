//! `csv`

use csv::ByteRecord;
use piccolo::{Error, String, Table, Value};

use super::{building::Building, data::encode};
use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{
        ModuleError,
        csv::{self as rows, Dialect, Rows},
    },
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("decode", decode), ("encode", encode_rows)];

fn decode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let dialect = dialect(&call)?;
    let text = call.check_string(1)?;
    call.charge_bytes(text.as_bytes().len() * 4);
    let building = Building::begin(&call);
    let table = Table::new(&call.ctx);
    let mut tables = Tables { building, table, length: 0, names: None };
    match rows::decode(text.as_bytes(), dialect, call.room(), &mut tables) {
        Ok(()) => call.done(table),
        Err(error) => call.done_error(&error),
    }
}

fn encode_rows<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let dialect = dialect(&call)?;
    encode(call, |tree, longest| rows::encode(tree, dialect, longest))
}

/// Makes each row a table.
struct Tables<'gc, 'h> {
    building: Building<'gc, 'h>,
    /// The list of rows.
    table: Table<'gc>,
    length: i64,
    /// The names of the fields, which all rows share.
    names: Option<Vec<String<'gc>>>,
}

impl Rows for Tables<'_, '_> {
    fn header(&mut self, names: &ByteRecord) -> Result<(), ModuleError> {
        let mut list = Vec::new();
        for name in names {
            list.push(text(&mut self.building, name)?);
        }
        self.names = Some(list);
        Ok(())
    }

    fn row(&mut self, fields: &ByteRecord) -> Result<(), ModuleError> {
        let row = self.building.table()?;
        match &self.names {
            Some(names) => {
                for (name, field) in names.iter().zip(fields) {
                    let field = text(&mut self.building, field)?;
                    self.building.put(row, *name, field)?;
                }
            }
            None => {
                for (index, field) in (1..).zip(fields) {
                    let field = text(&mut self.building, field)?;
                    self.building.put(row, Value::Integer(index), field)?;
                }
            }
        }
        self.length += 1;
        self.building.put(self.table, Value::Integer(self.length), row)?;
        Ok(())
    }
}

/// A field as text; other bytes are replaced.
fn text<'gc>(building: &mut Building<'gc, '_>, field: &[u8]) -> Result<String<'gc>, ModuleError> {
    building.text(std::string::String::from_utf8_lossy(field).as_bytes())
}

/// `{delimiter = ";", header = true}`
fn dialect<'gc>(call: &Call<'gc, '_>) -> Result<Dialect, Error<'gc>> {
    let mut dialect = Dialect::default();
    if call.arg(2).is_nil() {
        return Ok(dialect);
    }
    let options = call.check_table(2)?;
    dialect.header = options.get(call.ctx, "header").to_bool();
    match options.get(call.ctx, "delimiter") {
        Value::Nil => {}
        Value::String(delimiter) => match delimiter.as_bytes() {
            [delimiter] if !matches!(delimiter, b'"' | b'\n' | b'\r') => {
                dialect.delimiter = *delimiter;
            }
            _ => return Err(call.bad_argument(2, "delimiter must be one character")),
        },
        _ => return Err(call.bad_argument(2, "delimiter must be a string")),
    }
    Ok(dialect)
}
