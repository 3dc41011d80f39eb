//! Tables from which keys were removed.
//!
//! piccolo 0.3.3 leaves a dead key behind when nil is stored under a string, a
//! table or another collected key, and panics when a map that holds one grows.
//! So the compiler routes every store of nil through the host, which puts a
//! hidden metatable on the table: from then on new keys come through the host
//! too, which drops the dead ones before the map can grow. A table that has a
//! metatable gets a copy of it with that one field more. Scripts see neither.
//!
//! piccolo knows a dead key by its address only. Without its object another object could get that
//! address, and a script that looks for that one would find the dead key. So the object lives
//! until the call ends.
//!
//! Because piccolo grows a full map even for a key that is in it, such a table
//! always has room for one more; see [`walk`](super::walk) for what that means
//! to a script that walks over it.

use gc_arena::Gc;
use piccolo::{Context, Error, Function, InvalidTableKey, Table, Value, table::RawTable};

use super::{
    call::{Call, Outcome},
    host::Host,
    walk,
};

const NEW_INDEX: &[u8] = b"__newindex";
/// Where a copy of a metatable keeps the original.
const ORIGINAL: &[u8] = b"@original";

/// Stores in a table without asking its metatable.
pub(crate) fn raw_set<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    key: Value<'gc>,
    value: Value<'gc>,
) -> Result<(), InvalidTableKey> {
    if value.is_nil() {
        let old = table.set_value(&ctx, key, Value::Nil)?;
        if let Some(address) = address(key).filter(|_| !old.is_nil()) {
            host.kept(ctx).set_value(&ctx, Value::Integer(address), key)?;
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
pub(crate) fn metatable<'gc>(
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
pub(crate) fn set_metatable<'gc>(
    ctx: Context<'gc>,
    table: Table<'gc>,
    metatable: Option<Table<'gc>>,
) -> u64 {
    let moved = if table.metatable().is_some() { rebuild(ctx, table) } else { 0 };
    table.set_metatable(&ctx, metatable);
    moved
}

/// The guard's `__newindex`.
pub(crate) fn new_index<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (key, value) = (call.arg(2), call.arg(3));
    if let Value::Table(table) = call.arg(1) {
        call.raw_set(table, key, value)?;
    }
    call.done_all([])
}

impl<'gc> Call<'gc, '_> {
    /// Stores in a table without asking its metatable.
    pub(crate) fn raw_set(
        &self,
        table: Table<'gc>,
        key: Value<'gc>,
        value: Value<'gc>,
    ) -> Result<(), Error<'gc>> {
        raw_set(self.host, self.ctx, table, key, value)
            .map_err(|error| self.fail(key_error(&error)))
    }
}

pub(super) fn key_error(error: &InvalidTableKey) -> &'static str {
    match error {
        InvalidTableKey::IsNaN => "table index is NaN",
        InvalidTableKey::IsNil => "table index is nil",
    }
}

/// The address of a key that piccolo keeps after its removal; none for plain values.
fn address(key: Value<'_>) -> Option<i64> {
    let address = match key {
        Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => return None,
        Value::String(key) => Gc::as_ptr(key.into_inner()).addr(),
        Value::Table(key) => Gc::as_ptr(key.into_inner()).addr(),
        Value::Function(Function::Closure(key)) => Gc::as_ptr(key.into_inner()).addr(),
        Value::Function(Function::Callback(key)) => Gc::as_ptr(key.into_inner()).addr(),
        Value::Thread(key) => Gc::as_ptr(key.into_inner()).addr(),
        Value::UserData(key) => Gc::as_ptr(key.into_inner()).addr(),
    };
    Some(i64::from_ne_bytes(address.to_ne_bytes()))
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
pub(crate) fn delete<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
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
            call.raw_set(table, key, Value::Nil)?;
            return call.done_all([]);
        }
    }
    match piccolo::meta_ops::new_index(call.ctx, target, key, Value::Nil) {
        Ok(Some(meta)) => call.hand_over(meta.function, meta.args, None),
        Ok(None) => call.done_all([]),
        Err(_) => Err(call.index_error(target)),
    }
}
