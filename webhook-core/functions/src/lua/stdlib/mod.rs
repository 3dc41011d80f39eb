//! The standard library, and the environment that a script starts with.

mod base;
mod compare;
mod concat;
mod coroutine;
mod iterate;
mod math;
mod method;
mod numbers;
mod operators;
mod os;
mod path;
mod protected;
mod sequence;
mod sort;
mod string;
mod table;
mod text;
mod utf8;

use std::rc::Rc;

use piccolo::{Callback, Context, Table, Value};

pub(super) use self::sequence::metamethod;
use self::{
    compare::compare,
    numbers::{Arithmetic, shift},
    operators::{bits, calculate},
};
use super::{
    compile::{GlobalUse, Helper},
    modules, request,
    vm::{
        call::{Native, library, native, set_field},
        chain, guard,
        host::{Host, Tables},
    },
};

/// Makes what all calls of a VM share, as far as its source uses it.
pub(super) fn open<'gc>(ctx: Context<'gc>, host: &Rc<Host>) {
    let used = |name: &str| host.program.globals.usage(name.as_bytes()).is_some();
    let globals = Table::new(&ctx);
    for functions in [base::FUNCTIONS, protected::FUNCTIONS, iterate::FUNCTIONS] {
        for (name, function) in functions.iter().filter(|(name, _)| used(name)) {
            set_field(ctx, globals, name, native(ctx, host, name, *function));
        }
    }
    set_field(ctx, globals, "_VERSION", ctx.intern_static(b"Lua 5.4"));
    let methods = host.program.helpers.contains(&Helper::Method);
    let strings = methods || used("string") || used("getmetatable");
    let string = library(ctx, host, if strings { string::FUNCTIONS } else { &[] });
    set_field(ctx, globals, "string", string);
    if used("unpack") {
        set_field(ctx, globals, "unpack", native(ctx, host, "unpack", table::unpack));
    }
    if used("table") {
        let table = library(ctx, host, table::FUNCTIONS);
        set_field(ctx, table, "sort", native(ctx, host, "sort", sort::sort));
        set_field(ctx, globals, "table", table);
    }
    if used("math") {
        set_field(ctx, globals, "math", math::open(ctx, host));
    }
    if used("utf8") {
        set_field(ctx, globals, "utf8", utf8::open(ctx, host));
    }
    for (name, functions) in [("coroutine", coroutine::FUNCTIONS), ("os", os::FUNCTIONS)] {
        if used(name) {
            set_field(ctx, globals, name, library(ctx, host, functions));
        }
    }
    let guard = Table::new(&ctx);
    set_field(ctx, guard, "__newindex", native(ctx, host, "newindex", guard::new_index));
    for (name, function) in
        chain::FOLLOW.into_iter().zip([chain::index as Native, chain::new_index])
    {
        set_field(ctx, guard, name, native(ctx, host, name, function));
    }
    let request = request::open(ctx, host);
    for name in ["r", "cfg"] {
        set_field(ctx, globals, name, request.get(ctx, name));
    }
    let tables = Tables {
        null: ctx.stash(modules::null(ctx, host)),
        globals: ctx.stash(globals),
        string: ctx.stash(string),
        modules: ctx.stash(Table::new(&ctx)),
        guard: ctx.stash(guard),
        object: ctx.stash(object_mark(ctx, guard)),
        request: ctx.stash(request),
    };
    // A VM is opened once.
    let _ = host.tables.set(tables);
}

/// The metatable of a table that is a JSON object though it is empty. It guards as well.
fn object_mark<'gc>(ctx: Context<'gc>, guard: Table<'gc>) -> Table<'gc> {
    let object = Table::new(&ctx);
    set_field(ctx, object, "__newindex", guard.get(ctx, "__newindex"));
    object
}

/// Drops what the library remembers of a call.
pub(super) fn forget(ctx: Context<'_>) {
    coroutine::forget(ctx);
}

/// The global variables of one call: those that the source mentions, with
/// copies of the tables that it could change.
pub(super) fn environment<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Table<'gc> {
    let environment = Table::new(&ctx);
    let Some(tables) = host.tables.get() else { return environment };
    let used = &host.program.globals;
    for (key, value) in ctx.fetch(&tables.globals) {
        let Value::String(name) = key else { continue };
        let value = match (used.usage(name.as_bytes()), value) {
            (None, _) => continue,
            (Some(GlobalUse::Bare), Value::Table(table)) => {
                let copy = copy(ctx, table);
                if name.as_bytes() == b"string" {
                    host.script.borrow_mut().string = Some(ctx.stash(copy));
                }
                copy.into()
            }
            (Some(_), value) => value,
        };
        // Only nil and NaN are refused as keys.
        let _ = environment.set_value(&ctx, key, value);
    }
    if used.usage(b"_G").is_some() {
        set_field(ctx, environment, "_G", environment);
    }
    environment
}

/// A table with the same fields.
pub(super) fn copy<'gc>(ctx: Context<'gc>, table: Table<'gc>) -> Table<'gc> {
    let copy = Table::new(&ctx);
    for (key, value) in table {
        let _ = copy.set_value(&ctx, key, value);
    }
    copy
}

/// The function behind a hidden variable.
pub(super) fn helper<'gc>(ctx: Context<'gc>, host: &Rc<Host>, helper: Helper) -> Callback<'gc> {
    let (name, function): (&'static str, Native) = match helper {
        // The line is no function; the script never calls it.
        Helper::Line | Helper::All => ("all", method::all),
        Helper::Rest => ("rest", method::rest),
        Helper::First => ("first", method::first),
        Helper::Path => ("path", path::path),
        Helper::Call => ("call", path::call),
        Helper::Tail => ("tail", path::tail),
        Helper::Method => ("method", method::method),
        Helper::Chain => ("chain", chain::event_set),
        Helper::Pack => ("pack", table::pack),
        Helper::Delete => ("delete", guard::delete),
        Helper::For => ("for", operators::for_prepare),
        Helper::Concat => ("concat", concat::concat),
        Helper::Add => ("add", |call| calculate(call, Arithmetic::Add, "__add")),
        Helper::Sub => ("sub", |call| calculate(call, Arithmetic::Sub, "__sub")),
        Helper::Mul => ("mul", |call| calculate(call, Arithmetic::Mul, "__mul")),
        Helper::Div => ("div", |call| calculate(call, Arithmetic::Div, "__div")),
        Helper::Mod => ("mod", |call| calculate(call, Arithmetic::Mod, "__mod")),
        Helper::Pow => ("pow", |call| calculate(call, Arithmetic::Pow, "__pow")),
        Helper::IDiv => ("idiv", |call| calculate(call, Arithmetic::FloorDiv, "__idiv")),
        Helper::Unm => ("unm", operators::negate),
        Helper::BAnd => ("band", |call| bits(call, "__band", |left, right| left & right)),
        Helper::BOr => ("bor", |call| bits(call, "__bor", |left, right| left | right)),
        Helper::BXor => ("bxor", |call| bits(call, "__bxor", |left, right| left ^ right)),
        Helper::Shl => ("shl", |call| bits(call, "__shl", shift)),
        Helper::Shr => {
            ("shr", |call| bits(call, "__shr", |left, right| shift(left, right.saturating_neg())))
        }
        Helper::BNot => ("bnot", operators::bit_not),
        Helper::Lt => ("lt", |call| compare(call, false, false)),
        Helper::Le => ("le", |call| compare(call, false, true)),
        Helper::Gt => ("gt", |call| compare(call, true, false)),
        Helper::Ge => ("ge", |call| compare(call, true, true)),
    };
    native(ctx, host, name, function)
}
