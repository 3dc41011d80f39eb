//! The modules that `require` finds, and only those.

use std::rc::Rc;

use piccolo::{Context, Table, Value};

use super::{
    stdlib,
    vm::{
        call::{Call, Outcome},
        host::Host,
    },
};

/// Makes all modules, by name.
pub(super) fn open<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Table<'gc> {
    let _ = host;
    Table::new(&ctx)
}

/// `require(name)`: the script's own copy of the module's table.
pub(super) fn require<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let name = call.check_string(1)?;
    let kept = call.host.kept(call.ctx);
    let key = [b"module ", name.as_bytes()].concat();
    let key = piccolo::String::from_slice(&call.ctx, key);
    let loaded = kept.get_value(key.into());
    if !loaded.is_nil() {
        return call.done(loaded);
    }
    let modules = call.host.tables.get().map(|tables| call.ctx.fetch(&tables.modules));
    match modules.map(|modules| modules.get_value(name.into())) {
        Some(Value::Table(module)) => {
            let module = stdlib::copy(call.ctx, module);
            // The key is a string.
            let _ = kept.set_value(&call.ctx, key.into(), module.into());
            call.done(module)
        }
        _ => Err(call.fail(format!("module '{name}' not found"))),
    }
}
