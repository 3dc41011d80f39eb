//! `xml`, `yaml` and `csv`.

use piccolo::{Error, Value};
use serde_json::Value as Tree;

use super::tree;
use crate::function::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{Bounds, ModuleError, csv, xml, yaml},
};

pub(super) const XML: &[(&str, Native)] = &[("decode", xml_decode), ("encode", xml_encode)];
pub(super) const YAML: &[(&str, Native)] = &[("decode", yaml_decode), ("encode", yaml_encode)];
pub(super) const CSV: &[(&str, Native)] = &[("decode", csv_decode), ("encode", csv_encode)];

fn decode<'gc>(
    mut call: Call<'gc, '_>,
    decode: impl FnOnce(&[u8], Bounds) -> Result<Tree, ModuleError>,
) -> Outcome<'gc> {
    let text = call.check_string(1)?;
    call.charge_bytes(text.as_bytes().len() * 4);
    match decode(text.as_bytes(), call.bounds()) {
        Ok(tree) => {
            let value = tree::to_lua(call.host, call.ctx, &tree);
            call.done(value)
        }
        Err(error) => call.done_error(&error),
    }
}

fn text<'t>(bytes: &'t [u8], what: &str) -> Result<&'t str, ModuleError> {
    std::str::from_utf8(bytes).map_err(|_| ModuleError::invalid(format!("{what}: not UTF-8")))
}

fn encode<'gc>(
    mut call: Call<'gc, '_>,
    encode: impl FnOnce(&Tree) -> Result<Vec<u8>, ModuleError>,
) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    let tree = tree::from_lua(call.host, call.ctx, value, &mut call.bounds());
    let encoded = tree.and_then(|tree| encode(&tree));
    if let Ok(encoded) = &encoded {
        call.charge_bytes(encoded.len() * 4);
    }
    call.done_bytes(encoded)
}

fn xml_decode<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    decode(call, |bytes, bounds| xml::decode(text(bytes, "xml")?, bounds))
}

fn xml_encode<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let longest = call.host.limits.string_bytes;
    encode(call, |tree| xml::encode(tree, longest).map(String::into_bytes))
}

fn yaml_decode<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    decode(call, |bytes, bounds| yaml::decode(text(bytes, "yaml")?, bounds))
}

fn yaml_encode<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    encode(call, |tree| yaml::encode(tree).map(String::into_bytes))
}

fn csv_decode<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let dialect = dialect(&call)?;
    decode(call, |bytes, bounds| csv::decode(bytes, dialect, bounds))
}

fn csv_encode<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let dialect = dialect(&call)?;
    encode(call, |tree| csv::encode(tree, dialect))
}

/// `{delimiter = ";", header = true}`
fn dialect<'gc>(call: &Call<'gc, '_>) -> Result<csv::Dialect, Error<'gc>> {
    let mut dialect = csv::Dialect::default();
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
