//! The part of `os` that is about time. All times are UTC.

use piccolo::{Error, Table, Value};

use super::string::argument;
use crate::lua::{
    bytes::date::{self, Date, DateTable, Zone},
    vm::call::{Call, Native, Outcome},
};

pub(super) const FUNCTIONS: &[(&str, Native)] =
    &[("clock", clock), ("date", date), ("difftime", difftime), ("time", time)];

/// The time that this call has computed so far, in seconds.
fn clock<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let seconds = call.host.script.borrow().compute_time.as_secs_f64();
    call.done(seconds)
}

fn difftime<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let later = call.check_float(1)?;
    let earlier = if call.arg(2).is_nil() { 0.0 } else { call.check_float(2)? };
    call.done(later - earlier)
}

fn date<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let format = call.opt_string(1)?;
    let format = format.as_ref().map_or(&b"%c"[..], |format| format.as_bytes());
    let now = call.host.clock.now().as_secs();
    let seconds = call.opt_int(2, now)?;
    match call.compute(|budget| date::date(format, seconds, &Zone::utc(), budget))? {
        Date::Text(text) => call.done_text(text),
        Date::Table(fields) => {
            let table = Table::new(&call.ctx);
            store(&call, table, &fields)?;
            call.done(table)
        }
    }
}

fn time<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    if call.arg(1).is_nil() {
        let now = call.host.clock.now().as_secs();
        return call.done(now);
    }
    let table = call.check_table(1)?;
    let ctx = call.ctx;
    let field = |name: &'static str| argument(table.get(ctx, ctx.intern_static(name.as_bytes())));
    let (seconds, fields) = call.compute(|budget| date::time(field, &Zone::utc(), budget))?;
    // As in Lua, the fields are brought into their ranges.
    store(&call, table, &fields)?;
    call.done(seconds)
}

fn store<'gc>(
    call: &Call<'gc, '_>,
    table: Table<'gc>,
    fields: &DateTable,
) -> Result<(), Error<'gc>> {
    let DateTable { year, month, day, hour, min, sec, wday, yday, isdst } = *fields;
    let numbers = [
        ("year", year),
        ("month", month),
        ("day", day),
        ("hour", hour),
        ("min", min),
        ("sec", sec),
        ("wday", wday),
        ("yday", yday),
    ];
    for (name, value) in numbers {
        let key = call.ctx.intern_static(name.as_bytes());
        call.raw_set(table, key.into(), Value::Integer(value))?;
    }
    call.raw_set(table, call.ctx.intern_static(b"isdst").into(), Value::Boolean(isdst))
}
