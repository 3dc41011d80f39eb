//! `jmespath`

use piccolo::Value;

use super::json::{decoded, encoded};
use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{ModuleError, jmespath},
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("search", search)];

/// `search(expression, value)`, in either order: the expression is the text.
fn search<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let swapped = !matches!(call.arg(1), Value::String(_));
    let (place, other) = if swapped { (2, 1) } else { (1, 2) };
    let expression = call.check_text(place)?;
    let value = call.check_any(other)?;
    let longest = call.host.limits.string_bytes;
    let found = encoded(&mut call, value)
        .map_err(|error| error.of("jmespath"))
        .and_then(|json| {
            call.charge_bytes(json.len() * 4);
            let json =
                String::from_utf8(json).map_err(|_| ModuleError::invalid("jmespath: not UTF-8"))?;
            jmespath::search(&expression, &json, call.bounds(), longest)
        })
        .and_then(|json| decoded(&mut call, &json));
    match found {
        Ok(value) => call.done(value),
        Err(error) => call.done_error(&error),
    }
}
