//! Walks over tables that the script changes meanwhile.
//!
//! Lua lets a script assign to fields that are there. piccolo grows a full map
//! even then, and with it the order of the keys changes under the walk; so a
//! walk begins by making room.
//!
//! Lua also lets a script set the field that `next` has just returned to nil. The
//! first time that happens to a table, the host makes room in it, which may put
//! its keys in another order, so the rest of the walk is remembered.

use std::cell::Cell;

use gc_arena::{Collect, Gc, Rootable, lock::RefLock};
use piccolo::{Context, Singleton, Table, Value, table::NextValue};

use super::{guard::make_room, host::Host};

/// The rest of a walk, from the key on that was removed.
#[derive(Collect)]
#[collect(no_drop)]
struct Rest<'gc> {
    table: Table<'gc>,
    keys: Vec<Value<'gc>>,
    /// Where the walk is.
    #[collect(require_static)]
    at: Cell<usize>,
}

#[derive(Clone, Copy, Collect)]
#[collect(no_drop)]
struct Walk<'gc>(Gc<'gc, RefLock<Option<Rest<'gc>>>>);

impl<'gc> Singleton<'gc> for Walk<'gc> {
    fn create(ctx: Context<'gc>) -> Self {
        Self(Gc::new(&ctx, RefLock::new(None)))
    }
}

fn walk<'gc>(ctx: Context<'gc>) -> Gc<'gc, RefLock<Option<Rest<'gc>>>> {
    ctx.singleton::<Rootable![Walk<'_>]>().0
}

/// Notes what lies behind a key whose value has just become nil; the last walk counts.
pub(super) fn remember<'gc>(host: &Host, ctx: Context<'gc>, table: Table<'gc>, key: Value<'gc>) {
    let mut keys = vec![key];
    let mut last = key;
    loop {
        match table.next(last) {
            NextValue::Found { key, .. } => {
                keys.push(key);
                last = key;
            }
            NextValue::Last => break,
            // The key does not come from `next`, so no walk is at it.
            NextValue::NotFound => return,
        }
    }
    host.walking.set(true);
    walk(ctx).borrow_mut(&ctx).replace(Rest { table, keys, at: Cell::new(0) });
}

/// Forgets everything: the call has ended.
pub(super) fn forget(ctx: Context<'_>) {
    walk(ctx).borrow_mut(&ctx).take();
}

/// The pair behind `key`, which may have been removed since `next` returned it.
pub(crate) fn next<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    table: Table<'gc>,
    key: Value<'gc>,
) -> NextValue<'gc> {
    if key.is_nil() {
        make_room(ctx, table, 1);
    }
    if host.walking.get() {
        let walk = walk(ctx);
        let mut walk = walk.borrow_mut(&ctx);
        match walk.as_ref().filter(|rest| rest.table == table) {
            // Another walk begins.
            Some(_) if key.is_nil() => {
                walk.take();
                host.walking.set(false);
            }
            Some(rest) => {
                if let Some(next) = rest.next(key) {
                    return next;
                }
            }
            None => {}
        }
    }
    table.next(key)
}

impl<'gc> Rest<'gc> {
    /// What comes behind `key`, when the walk has come by there.
    fn next(&self, key: Value<'gc>) -> Option<NextValue<'gc>> {
        let from = self.at.get();
        let keys = self.keys.get(from..)?;
        let offset = keys.iter().position(|known| same_key(*known, key))?;
        for (index, key) in (from + offset + 1..).zip(keys.get(offset + 1..)?) {
            let value = self.table.get_value(*key);
            if !value.is_nil() {
                self.at.set(index);
                return Some(NextValue::Found { key: *key, value });
            }
        }
        Some(NextValue::Last)
    }
}

/// Whether two values are the same key; integers and floats are told apart.
pub(crate) fn same_key<'gc>(left: Value<'gc>, right: Value<'gc>) -> bool {
    match (left, right) {
        (Value::Boolean(left), Value::Boolean(right)) => left == right,
        (Value::Integer(left), Value::Integer(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => left == right,
        (Value::String(left), Value::String(right)) => left.as_bytes() == right.as_bytes(),
        (Value::Table(left), Value::Table(right)) => left == right,
        (Value::Function(left), Value::Function(right)) => left == right,
        (Value::Thread(left), Value::Thread(right)) => left == right,
        (Value::UserData(left), Value::UserData(right)) => left == right,
        _ => false,
    }
}
