//! `template`

use super::json::encoded;
use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{ModuleError, template},
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("render", render)];

/// `render(template, values[, escape])`
fn render<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (text, values) = (call.check_text(1)?, call.check_any(2)?);
    let escape = if call.arg(3).is_nil() { String::new() } else { call.check_text(3)? };
    let longest = call.host.limits.string_bytes;
    let rendered =
        encoded(&mut call, values).map_err(|error| error.of("template")).and_then(|json| {
            call.charge_bytes((text.len() + json.len()) * 4);
            let json =
                String::from_utf8(json).map_err(|_| ModuleError::invalid("template: not UTF-8"))?;
            template::render(&text, &json, &escape, call.bounds(), longest)
        });
    call.done_bytes(rendered)
}
