//! `gzip`

use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{Bounds, ModuleError, compression::Format},
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("compress", |call| change(call, Format::compress)),
    ("decompress", |call| change(call, Format::decompress)),
];

type Change = fn(Format, &[u8], &mut Bounds, usize) -> Result<Vec<u8>, ModuleError>;

/// `compress(data[, format])`
fn change<'gc>(mut call: Call<'gc, '_>, change: Change) -> Outcome<'gc> {
    let data = call.check_string(1)?;
    let format = call.opt_string(2)?.map(|name| name.to_str_lossy().into_owned());
    let format = Format::named(format.as_deref().unwrap_or("gzip"));
    call.charge_bytes(data.as_bytes().len());
    let (mut bounds, longest) = (call.bounds(), call.host.limits.string_bytes);
    let made = format.and_then(|format| change(format, data.as_bytes(), &mut bounds, longest));
    if let Ok(made) = &made {
        call.charge_bytes(made.len() * 4);
    }
    call.done_bytes(made.map_err(|error| error.of("gzip")))
}
