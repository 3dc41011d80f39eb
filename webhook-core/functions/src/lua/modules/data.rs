//! `xml` and `yaml`.

use super::{json::Decoding, tree};
use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{ModuleError, xml, yaml},
};

pub(super) const XML: &[(&str, Native)] =
    &[("decode", xml_decode), ("encode", |call| encode(call, xml::encode))];
pub(super) const YAML: &[(&str, Native)] =
    &[("decode", yaml_decode), ("encode", |call| encode(call, yaml::encode))];

fn text<'t>(bytes: &'t [u8], what: &str) -> Result<&'t str, ModuleError> {
    std::str::from_utf8(bytes).map_err(|_| ModuleError::invalid(format!("{what}: not UTF-8")))
}

/// Encodes argument 1, in at most so many bytes as the last argument says.
pub(super) fn encode<'gc>(
    mut call: Call<'gc, '_>,
    encode: impl FnOnce(&serde_json::Value, usize) -> Result<Vec<u8>, ModuleError>,
) -> Outcome<'gc> {
    let value = call.check_any(1)?;
    let longest = call.host.limits.string_bytes;
    let tree = tree::from_lua(call.host, call.ctx, value, &mut call.bounds());
    let encoded = tree.and_then(|tree| encode(&tree, longest));
    if let Ok(encoded) = &encoded {
        call.charge_bytes(encoded.len() * 4);
    }
    call.done_bytes(encoded)
}

fn xml_decode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let bytes = call.check_string(1)?;
    call.charge_bytes(bytes.as_bytes().len() * 4);
    let bounds = call.bounds();
    let tree = text(bytes.as_bytes(), "xml").and_then(|text| xml::decode(text, bounds));
    call.done_tree(tree)
}

fn yaml_decode<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let bytes = call.check_string(1)?;
    call.charge_bytes(bytes.as_bytes().len() * 4);
    let mut decoding = Decoding::begin(&call);
    let room = call.room();
    let value =
        text(bytes.as_bytes(), "yaml").and_then(|text| yaml::decode(text, room, &mut decoding));
    match value {
        Ok(value) => call.done(value),
        Err(error) => call.done_error(&decoding.exceeded.unwrap_or(error)),
    }
}
