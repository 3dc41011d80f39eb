//! The objects `r` and `cfg`.

mod fields;
mod setters;

pub(super) use self::fields::header_table as headers_table;

use std::rc::Rc;

use piccolo::{Context, Table, UserData, Value};

use super::vm::{
    call::{Call, Native, Outcome, library, native, set_field},
    host::Host,
};

/// The field of a metatable that holds what `@method` finds without asking `__index`.
pub(super) const METHODS: &str = "@methods";

/// What `r` and `cfg` are made of; the state is the host's.
struct Handle;

/// The names of all that `r` and `cfg` have, for the reference.
#[cfg(all(test, feature = "js"))]
pub(super) fn names() -> Vec<String> {
    let fields = fields::FIELDS.iter().chain(setters::FUNCTIONS.iter().map(|(name, _)| name));
    let r = fields.map(|name| format!("r.{name}"));
    r.chain(CONFIG.iter().map(|(name, _)| format!("cfg.{name}"))).collect()
}

/// Makes `r`, `cfg` and the metatable of header tables, by those names.
pub(super) fn open<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Table<'gc> {
    let objects = Table::new(&ctx);
    let methods = library(ctx, host, setters::FUNCTIONS);
    let r = object(ctx, host, "r", methods, fields::index, fields::new_index);
    set_field(ctx, objects, "r", r);
    let methods = library(ctx, host, CONFIG);
    let cfg = object(ctx, host, "cfg", methods, config_index, config_new_index);
    set_field(ctx, objects, "cfg", cfg);
    let headers = Table::new(&ctx);
    set_field(ctx, headers, "__index", native(ctx, host, "index", fields::header));
    set_field(ctx, headers, "__metatable", false);
    set_field(ctx, objects, "headers", headers);
    objects
}

fn object<'gc>(
    ctx: Context<'gc>,
    host: &Rc<Host>,
    name: &'static str,
    methods: Table<'gc>,
    index: Native,
    new_index: Native,
) -> UserData<'gc> {
    let metatable = Table::new(&ctx);
    set_field(ctx, metatable, METHODS, methods);
    set_field(ctx, metatable, "__index", native(ctx, host, "index", index));
    set_field(ctx, metatable, "__newindex", native(ctx, host, "newindex", new_index));
    set_field(ctx, metatable, "__name", ctx.intern_static(name.as_bytes()));
    set_field(ctx, metatable, "__metatable", false);
    let object = UserData::new_static(&ctx, Handle);
    object.set_metatable(&ctx, Some(metatable));
    object
}

/// Whether a value is one of the objects: `cfg.GetValue(k)` works as `cfg:GetValue(k)` does.
pub(super) fn is_object(value: Value<'_>) -> bool {
    matches!(value, Value::UserData(data) if data.is_static::<Handle>())
}

/// Drops the object before the arguments.
fn drop_self<'gc>(call: &mut Call<'gc, '_>) {
    if is_object(call.arg(1)) {
        call.stack.pop_front();
    }
}

/// A method of an object by its name.
fn method_named<'gc>(call: &Call<'gc, '_>) -> Value<'gc> {
    let Value::UserData(object) = call.arg(1) else { return Value::Nil };
    let methods = object.metatable().map(|metatable| metatable.get(call.ctx, METHODS));
    match methods {
        Some(Value::Table(methods)) => methods.get_value(call.arg(2)),
        _ => Value::Nil,
    }
}

const CONFIG: &[(&str, Native)] = &[("GetValue", get_value)];

fn config_index<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let method = method_named(&call);
    call.done(method)
}

fn config_new_index<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    Err(call.fail("cfg cannot be changed"))
}

fn get_value<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let key = call.check_string(1)?;
    let value = {
        let script = call.host.script.borrow();
        let value = key.to_str().ok().and_then(|key| script.config.get(key));
        value.map(|value| value.as_bytes().to_vec())
    };
    match value {
        Some(value) => call.done_string(value),
        None => call.done(Value::Nil),
    }
}
