//! The modules that `require` finds, and only those.
//!
//! A function that fails because of its input returns nil and a message; one
//! that is called with values of the wrong types raises an error.

mod crypto;
mod data;
mod encoding;
mod http;
mod json;
mod jwt;
mod time;
mod tree;
mod url;
mod waiting;

use std::rc::Rc;

use piccolo::{Context, Table, UserData, Value};

use super::{
    stdlib,
    vm::{
        call::{Call, Native, Outcome, library, native, set_field},
        host::Host,
        limit::Limit,
    },
};
use crate::function::modules::{Bounds, ModuleError};

/// What `json.null` is made of.
struct Null;

/// Makes `json.null`.
pub(super) fn null<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> UserData<'gc> {
    let metatable = Table::new(&ctx);
    set_field(ctx, metatable, "__tostring", native(ctx, host, "tostring", null_text));
    set_field(ctx, metatable, "__metatable", false);
    let null = UserData::new_static(&ctx, Null);
    null.set_metatable(&ctx, Some(metatable));
    null
}

fn null_text<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let text = call.ctx.intern_static(b"null");
    call.done(text)
}

/// Makes all modules, by name.
pub(super) fn open<'gc>(ctx: Context<'gc>, host: &Rc<Host>, null: UserData<'gc>) -> Table<'gc> {
    let modules = Table::new(&ctx);
    let simple: [(&'static str, &[(&'static str, Native)]); 10] = [
        ("base64", encoding::BASE64),
        ("crypto", crypto::FUNCTIONS),
        ("csv", data::CSV),
        ("hex", encoding::HEX),
        ("http", http::FUNCTIONS),
        ("jwt", jwt::FUNCTIONS),
        ("time", time::FUNCTIONS),
        ("url", url::FUNCTIONS),
        ("xml", data::XML),
        ("yaml", data::YAML),
    ];
    for (name, functions) in simple {
        set_field(ctx, modules, name, library(ctx, host, functions));
    }
    let json = library(ctx, host, json::FUNCTIONS);
    set_field(ctx, json, "null", null);
    set_field(ctx, modules, "json", json);
    modules
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
        _ => {
            let shown: String = name.to_str_lossy().chars().take(64).collect();
            Err(call.fail(format!("module '{shown}' not found")))
        }
    }
}

impl<'gc> Call<'gc, '_> {
    /// Returns nil and why, or ends the script when its memory would not do.
    fn done_error(mut self, error: &ModuleError) -> Outcome<'gc> {
        match error {
            ModuleError::Invalid(message) => self.done_failed(message),
            ModuleError::TooLarge => Err(self.exceed(Limit::Memory)),
        }
    }

    /// Returns a string, or nil and why not.
    fn done_bytes(mut self, bytes: Result<Vec<u8>, ModuleError>) -> Outcome<'gc> {
        match bytes {
            Ok(bytes) => {
                let text = self.string(bytes)?;
                self.done(text)
            }
            Err(error) => self.done_error(&error),
        }
    }

    /// What a decoder may make.
    fn bounds(&self) -> Bounds {
        Bounds::of_memory(self.host.limits.memory_bytes)
    }
}
