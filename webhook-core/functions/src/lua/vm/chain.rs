//! Chains of `__index` and `__newindex` that go round.
//!
//! piccolo follows such a chain for as long as there is fuel. So the host looks
//! for a circle where one can come about: when a table gets a metatable, and
//! when `__index` or `__newindex` is assigned. One table of the circle then gets
//! a copy of its metatable whose two fields are functions of the host, which
//! follow the chain and give up as Lua does. A script sees neither.

use piccolo::{Table, Value};

use super::{
    call::{Call, Outcome},
    guard,
    host::Host,
};

const EVENTS: [&str; 2] = ["__index", "__newindex"];
/// The guard's fields that follow a chain; no name of Lua begins so.
pub(crate) const FOLLOW: [&str; 2] = ["@index", "@newindex"];
/// Links that a chain may have, as in Lua 5.4.
const MAX_LINKS: usize = 2_000;

fn link<'gc>(
    host: &Host,
    ctx: piccolo::Context<'gc>,
    holder: Table<'gc>,
    event: &'static str,
) -> Option<Value<'gc>> {
    let metatable = guard::metatable(host, ctx, holder)?;
    let next = metatable.get_value(ctx.intern_static(event.as_bytes()).into());
    (!next.is_nil()).then_some(next)
}

/// The table on the chain that begins at `first` for which `found` holds.
fn find<'gc>(
    call: &mut Call<'gc, '_>,
    first: Value<'gc>,
    event: &'static str,
    found: impl Fn(&Call<'gc, '_>, Table<'gc>) -> bool,
) -> Option<Table<'gc>> {
    let mut next = first;
    for links in 0..MAX_LINKS {
        let Value::Table(holder) = next else { return None };
        if found(call, holder) {
            call.charge(links as u64);
            return Some(holder);
        }
        next = link(call.host, call.ctx, holder, event)?;
    }
    call.charge(MAX_LINKS as u64);
    None
}

/// Guards a table that has just got a metatable, if a chain leads back to it.
pub(crate) fn metatable_set<'gc>(call: &mut Call<'gc, '_>, table: Table<'gc>) {
    for event in EVENTS {
        let Some(first) = link(call.host, call.ctx, table, event) else { continue };
        if find(call, first, event, |_, holder| holder == table).is_some() {
            follow_by_host(call, table);
        }
    }
}

/// `@chain(metatable, event)`: the script has assigned that field.
pub(crate) fn event_set<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    if let (Value::Table(metatable), Value::String(key)) = (call.arg(1), call.arg(2)) {
        note(&mut call, metatable, key);
    }
    call.done_all([])
}

/// Guards the table whose chain the assigned field closes.
pub(crate) fn note<'gc>(
    call: &mut Call<'gc, '_>,
    metatable: Table<'gc>,
    key: piccolo::String<'gc>,
) {
    let Some(event) = EVENTS.into_iter().find(|event| event.as_bytes() == key.as_bytes()) else {
        return;
    };
    let first = metatable.get_value(key.into());
    let closing = find(call, first, event, |call, holder| {
        guard::metatable(call.host, call.ctx, holder) == Some(metatable)
    });
    if let Some(table) = closing {
        follow_by_host(call, table);
    }
}

fn follow_by_host<'gc>(call: &Call<'gc, '_>, table: Table<'gc>) {
    let (host, ctx) = (call.host, call.ctx);
    let Some(metatable) = guard::metatable(host, ctx, table) else { return };
    let Some(guard) = host.tables.get().map(|tables| ctx.fetch(&tables.guard)) else { return };
    let copy = guard::guarded_copy(host, ctx, metatable, guard);
    for (event, follow) in EVENTS.into_iter().zip(FOLLOW) {
        let name = Value::from(ctx.intern_static(event.as_bytes()));
        if let Value::Table(_) = metatable.get_value(name) {
            // Only nil and NaN are refused as keys.
            let _ = copy.set_value(&ctx, name, guard.get(ctx, follow));
        }
    }
    table.set_metatable(&ctx, Some(copy));
}

/// What comes of following a chain.
enum End<'gc> {
    /// The last table, which has no metatable that says more.
    Table(Table<'gc>),
    Other(Value<'gc>),
}

/// Follows the chain from `table` to a table that has the key, to its end, or to
/// something that is no table.
fn follow<'gc>(
    call: &mut Call<'gc, '_>,
    event: &'static str,
) -> Result<(Value<'gc>, End<'gc>), piccolo::Error<'gc>> {
    let (mut holder, key) = (call.arg(1), call.arg(2));
    for links in 0..MAX_LINKS {
        let Value::Table(table) = holder else { return Ok((holder, End::Other(holder))) };
        let next = match table.get_value(key) {
            Value::Nil => link(call.host, call.ctx, table, event),
            _ => None,
        };
        match next {
            None => {
                call.charge(links as u64);
                return Ok((holder, End::Table(table)));
            }
            Some(next @ Value::Function(_)) => return Ok((holder, End::Other(next))),
            Some(next) => holder = next,
        }
    }
    call.charge(MAX_LINKS as u64);
    Err(call.fail(format!("'{event}' chain too long; possible loop")))
}

/// The guard's `__index`.
pub(crate) fn index<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let key = call.arg(2);
    match follow(&mut call, EVENTS[0])? {
        (_, End::Table(table)) => call.done(table.get_value(key)),
        (holder, End::Other(Value::Function(function))) => {
            call.hand_over(function, [holder, key], None)
        }
        (_, End::Other(value)) => Err(call.index_error(value)),
    }
}

/// The guard's `__newindex`.
pub(crate) fn new_index<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (key, value) = (call.arg(2), call.arg(3));
    match follow(&mut call, EVENTS[1])? {
        (_, End::Table(table)) => {
            call.raw_set(table, key, value)?;
            call.done_all([])
        }
        (holder, End::Other(Value::Function(function))) => {
            call.hand_over(function, [holder, key, value], None)
        }
        (_, End::Other(value)) => Err(call.index_error(value)),
    }
}
