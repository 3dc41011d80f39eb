//! The modules that `require` finds, and only those.
//!
//! A function that fails because of its input returns nil and a message; one
//! that is called with values of the wrong types raises an error.

mod building;
mod crypto;
mod csv;
mod data;
mod digits;
mod encoding;
mod gzip;
mod http;
mod id;
mod jmespath;
mod json;
mod jwt;
mod kv;
mod template;
mod time;
mod tree;
mod url;
mod waiting;

use std::rc::Rc;

use piccolo::{Context, Error, Table, UserData, Value};
use serde_json::Value as Tree;

use self::building::Building;
use super::{
    stdlib,
    vm::{
        Limit,
        call::{Call, Native, Outcome, library, native, set_field},
        host::{Host, Script},
    },
};
use crate::{
    foreign,
    modules::{Bounds, ModuleError},
};

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

/// The modules by name, and their functions.
pub(super) const MODULES: &[(&str, &[(&str, Native)])] = &[
    ("base64", encoding::BASE64),
    ("crypto", crypto::FUNCTIONS),
    ("csv", csv::FUNCTIONS),
    ("gzip", gzip::FUNCTIONS),
    ("hex", encoding::HEX),
    ("http", http::FUNCTIONS),
    ("id", id::FUNCTIONS),
    ("jmespath", jmespath::FUNCTIONS),
    ("json", json::FUNCTIONS),
    ("jwt", jwt::FUNCTIONS),
    ("kv", kv::FUNCTIONS),
    ("template", template::FUNCTIONS),
    ("time", time::FUNCTIONS),
    ("url", url::FUNCTIONS),
    ("xml", data::XML),
    ("yaml", data::YAML),
];

/// Makes a module.
fn open<'gc>(ctx: Context<'gc>, host: &Rc<Host>, name: &[u8]) -> Option<Table<'gc>> {
    let (_, functions) = MODULES.iter().find(|(module, _)| module.as_bytes() == name)?;
    let module = library(ctx, host, functions);
    if name == b"json" {
        set_field(ctx, module, "null", tree::null(host, ctx));
    }
    Some(module)
}

/// `require(name)`: the script's own copy of the module's table.
pub(super) fn require<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (ctx, host) = (call.ctx, call.host);
    let name = call.check_string(1)?;
    let kept = host.kept(ctx);
    let key = [b"module ", name.as_bytes()].concat();
    let key = piccolo::String::from_slice(&ctx, key);
    let loaded = kept.get_value(key.into());
    if !loaded.is_nil() {
        return call.done(loaded);
    }
    // Made once for a VM; each call gets a copy.
    let modules = host.tables.get().map_or_else(|| Table::new(&ctx), |all| ctx.fetch(&all.modules));
    let module = match modules.get_value(name.into()) {
        Value::Table(module) => Some(module),
        _ => open(ctx, host, name.as_bytes()),
    };
    let Some(module) = module else {
        let shown: String = name.to_str_lossy().chars().take(64).collect();
        let here = match foreign::module_in_lua(&shown) {
            Some(here) => here.to_owned(),
            None => {
                let names: Vec<_> = MODULES.iter().map(|(name, _)| *name).collect();
                format!("the modules are {}", names.join(", "))
            }
        };
        return Err(call.fail(format!("module '{shown}' not found: {here}")));
    };
    // The keys are strings.
    let _ = modules.set_value(&ctx, name.into(), module.into());
    let copy = stdlib::copy(ctx, module);
    let _ = kept.set_value(&ctx, key.into(), copy.into());
    call.done(copy)
}

impl<'gc> Call<'gc, '_> {
    /// Returns nil and why, or ends the script when its memory would not do.
    pub(super) fn done_error(mut self, error: &ModuleError) -> Outcome<'gc> {
        match error {
            ModuleError::Invalid(message) => self.done_failed(message),
            ModuleError::TooLarge => Err(self.exceed(Limit::Memory)),
            ModuleError::TooLong => Err(self.exceed(Limit::StringBytes)),
            ModuleError::TooSlow => Err(self.exceed(Limit::ComputeTime)),
        }
    }

    /// Returns a string, or nil and why not.
    fn done_bytes(self, bytes: Result<Vec<u8>, ModuleError>) -> Outcome<'gc> {
        match bytes {
            Ok(bytes) => self.done_string(bytes),
            Err(error) => self.done_error(&error),
        }
    }

    /// Returns a tree as tables, or nil and why there is none.
    fn done_tree(self, tree: Result<Tree, ModuleError>) -> Outcome<'gc> {
        let mut building = Building::begin(&self);
        match tree.and_then(|tree| tree::to_lua(&mut building, tree)) {
            Ok(value) => self.done(value),
            Err(error) => self.done_error(&error),
        }
    }

    /// Counts what a script does against a limit of `most`.
    fn count(
        &mut self,
        done: impl FnOnce(&mut Script) -> &mut usize,
        more: usize,
        most: usize,
        limit: Limit,
    ) -> Result<(), Error<'gc>> {
        let count = {
            let mut script = self.host.script.borrow_mut();
            let done = done(&mut script);
            *done = done.saturating_add(more);
            *done
        };
        if count > most { Err(self.exceed(limit)) } else { Ok(()) }
    }

    /// What a decoder may make.
    pub(super) fn bounds(&self) -> Bounds {
        Bounds::of_memory(self.room()).until(self.compute_deadline())
    }
}
