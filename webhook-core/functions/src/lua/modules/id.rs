//! `id`

use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::{ModuleError, id, random},
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("nano_id", nano_id),
    ("ulid", |call| made(call, |call| id::ulid(call.host.clock.now()))),
    ("uuid", |call| made(call, |_| random::uuid())),
    ("uuid_v7", |call| made(call, |call| id::uuid_v7(call.host.clock.now()))),
];

fn made<'gc>(
    mut call: Call<'gc, '_>,
    make: fn(&Call<'gc, '_>) -> Result<String, ModuleError>,
) -> Outcome<'gc> {
    call.charge(16);
    let id = make(&call);
    call.done_bytes(id.map(String::into_bytes))
}

/// `nano_id(length)`
fn nano_id<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let length = call.maybe_int(1)?;
    let length = length.map_or(id::NANO_LENGTH, |length| usize::try_from(length).unwrap_or(0));
    call.charge(16);
    call.done_bytes(id::nano_id(length).map(String::into_bytes))
}
