//! Tables from which keys were removed.
//!
//! piccolo 0.3.3 leaves a dead key behind when nil is stored under a string, a
//! table or another collected key, and panics when a map that holds one grows.
//! So the compiler routes every store of nil through the host, which puts a
//! hidden metatable on the table: from then on new keys come through the host
//! too, which drops the dead ones before the map can grow. A table that has a
//! metatable gets a copy of it with that one field more. Scripts see neither.
//!
//! Because piccolo grows a full map even for a key that is in it, such a table
//! always has room for one more; see [`walk`](super::walk) for what that means
//! to a script that walks over it.

use piccolo::{CallbackReturn, Context, InvalidTableKey, Table, Value, table::RawTable};

use super::{
    call::{Call, Outcome},
    host::Host,
    walk,
};

const NEW_INDEX: &[u8] = b"__newindex";
/// Where a copy of a metatable keeps the original.
const ORIGINAL: &[u8] = b"@original";

/// Stores in a table without asking its metatable.
pub(in super::super) fn raw_set<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    key: Value<'gc>,
    value: Value<'gc>,
) -> Result<(), InvalidTableKey> {
    if value.is_nil() {
        let old = table.set_value(&ctx, key, Value::Nil)?;
        if !old.is_nil() && leaves_dead_key(key) {
            if protect(host, ctx, table) {
                walk::remember(host, ctx, table, key);
            }
            make_room(ctx, table, 1);
        }
        return Ok(());
    }
    if table.metatable().is_some() {
        make_room(ctx, table, 2);
    }
    table.set_value(&ctx, key, value).map(drop)
}

/// The metatable that a script may see.
pub(in super::super) fn metatable<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
) -> Option<Table<'gc>> {
    let metatable = table.metatable()?;
    let hidden = host.tables.get().is_some_and(|tables| {
        metatable == ctx.fetch(&tables.guard) || metatable == ctx.fetch(&tables.object)
    });
    if hidden {
        return None;
    }
    match metatable.get(ctx, ctx.intern_static(ORIGINAL)) {
        Value::Table(original) => Some(original),
        _ => Some(metatable),
    }
}

/// Gives a table another metatable, and says how many fields were moved for that.
pub(in super::super) fn set_metatable<'gc>(
    ctx: Context<'gc>,
    table: Table<'gc>,
    metatable: Option<Table<'gc>>,
) -> u64 {
    let moved = if table.metatable().is_some() { rebuild(ctx, table) } else { 0 };
    table.set_metatable(&ctx, metatable);
    moved
}

/// The guard's `__newindex`.
pub(in super::super) fn new_index<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (key, value) = (call.arg(2), call.arg(3));
    if let Value::Table(table) = call.arg(1)
        && let Err(error) = raw_set(call.host, call.ctx, table, key, value)
    {
        return Err(call.fail(key_error(&error)));
    }
    call.done_all([])
}

pub(in super::super) fn key_error(error: &InvalidTableKey) -> &'static str {
    match error {
        InvalidTableKey::IsNaN => "table index is NaN",
        InvalidTableKey::IsNil => "table index is nil",
    }
}

fn leaves_dead_key(key: Value<'_>) -> bool {
    !matches!(key, Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Number(_))
}

/// Makes sure that the next keys do not make the map grow, with dead keys in it
/// or under a walk.
pub(super) fn make_room<'gc>(ctx: Context<'gc>, table: Table<'gc>, keys: usize) {
    table.into_inner().borrow_mut(&ctx).raw_table.reserve_map(keys);
}

fn rebuild<'gc>(ctx: Context<'gc>, table: Table<'gc>) -> u64 {
    let mut raw = RawTable::new(&ctx);
    let mut moved = 0;
    for (key, value) in table {
        moved += 1;
        // The keys are those of a table, so none is refused.
        let _ = raw.set(key, value);
    }
    table.into_inner().borrow_mut(&ctx).raw_table = raw;
    moved
}

/// Makes new keys come through the host; `false` when they do already.
fn protect<'gc>(host: &Host, ctx: Context<'gc>, table: Table<'gc>) -> bool {
    let Some(tables) = host.tables.get() else { return false };
    let guard = ctx.fetch(&tables.guard);
    let Some(metatable) = table.metatable() else {
        table.set_metatable(&ctx, Some(guard));
        return true;
    };
    // With a `__newindex`, new keys come through the host's `rawset` anyway.
    let unguarded = metatable.get(ctx, ctx.intern_static(NEW_INDEX)).is_nil();
    if unguarded {
        let copy = guarded_copy(host, ctx, metatable, guard);
        table.set_metatable(&ctx, Some(copy));
    }
    unguarded
}

pub(super) fn guarded_copy<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    metatable: Table<'gc>,
    guard: Table<'gc>,
) -> Table<'gc> {
    let kept = host.kept(ctx);
    if let Value::Table(copy) = kept.get_value(metatable.into()) {
        return copy;
    }
    let copy = Table::new(&ctx);
    for (key, value) in metatable {
        let _ = copy.set_value(&ctx, key, value);
    }
    let name = ctx.intern_static(NEW_INDEX);
    let _ = copy.set(ctx, name, guard.get(ctx, name));
    let _ = copy.set(ctx, ctx.intern_static(ORIGINAL), metatable);
    let _ = kept.set(ctx, metatable, copy);
    copy
}

/// Nil, stored under a key as an assignment does it: `@delete(table, key)`.
pub(in super::super) fn delete<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (target, key) = (call.arg(1), call.arg(2));
    if let Value::Table(table) = target {
        let absent = table.get_value(key).is_nil();
        let own = table.metatable().filter(|_| absent).is_some_and(|metatable| {
            !metatable.get(call.ctx, call.ctx.intern_static(NEW_INDEX)).is_nil()
        });
        if !own {
            if key.is_nil() {
                return Err(call.fail("table index is nil"));
            }
            return match raw_set(call.host, call.ctx, table, key, Value::Nil) {
                Ok(()) => call.done_all([]),
                Err(error) => Err(call.fail(key_error(&error))),
            };
        }
    }
    match piccolo::meta_ops::new_index(call.ctx, target, key, Value::Nil) {
        Ok(Some(meta)) => {
            call.stack.clear();
            call.stack.extend(meta.args);
            Ok(CallbackReturn::Call { function: meta.function, then: None })
        }
        Ok(None) => call.done_all([]),
        Err(_) => Err(call.index_error(target)),
    }
}
