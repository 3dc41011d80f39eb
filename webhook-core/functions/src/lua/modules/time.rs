//! `time`, with the layouts of Go.

use std::time::Duration;

use piccolo::{Error, Value};

use super::waiting::wait;
use crate::lua::{
    bytes::{
        self,
        date::{self, Instant, Zone},
        number::Number,
    },
    vm::call::{Call, Native, Outcome},
    wait::Wish,
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("format", format),
    ("parse", parse),
    ("sleep", sleep),
    ("unix", unix),
    ("unix_nano", unix_nano),
];

const DEFAULT_LAYOUT: &[u8] = b"2006-01-02T15:04:05Z07:00";

fn unix<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let now = call.host.clock.now().as_secs();
    call.done(now)
}

fn unix_nano<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let now = call.host.clock.now().as_millis().saturating_mul(1_000_000);
    call.done(now)
}

/// `sleep(seconds)`
fn sleep<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let seconds = call.check_float(1)?;
    let longest = call.host.limits.total_time.as_secs_f64() + 1.0;
    if seconds.is_nan() || seconds < 0.0 {
        return Err(call.bad_argument(1, "not a number of seconds"));
    }
    // Longer than the call may take is as long as it may take.
    let duration = Duration::from_secs_f64(seconds.min(longest));
    wait(call, Wish::Sleep(duration), |call, _| call.done_all([]))
}

fn zone<'gc>(
    call: &mut Call<'gc, '_>,
    index: usize,
) -> Result<Result<Zone, bytes::Error>, Error<'gc>> {
    Ok(match call.opt_string(index)? {
        None => Ok(Zone::utc()),
        Some(name) => Zone::named(&name.to_str_lossy()),
    })
}

/// `parse(value, layout[, location])`: unix seconds.
fn parse<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (value, layout) = (call.check_string(1)?, call.check_string(2)?);
    let zone = zone(&mut call, 3)?;
    let mut budget = call.budget();
    let instant =
        zone.and_then(|zone| date::parse(value.as_bytes(), layout.as_bytes(), &zone, &mut budget));
    call.charge(budget.steps_used());
    match instant {
        Ok(instant) if instant.nanos == 0 => call.done(instant.seconds),
        Ok(instant) => call.done(instant.to_seconds()),
        Err(error) => failed(call, &error),
    }
}

/// `format(seconds[, layout[, location]])`
fn format<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let instant = match call.check_number(1)? {
        Number::Int(seconds) => Some(Instant { seconds, nanos: 0 }),
        Number::Float(seconds) => Instant::from_seconds(seconds),
    };
    let Some(instant) = instant else {
        return Err(call.bad_argument(1, "not a time"));
    };
    let layout = call.opt_string(2)?;
    let layout = layout.as_ref().map_or(DEFAULT_LAYOUT, |layout| layout.as_bytes());
    let zone = zone(&mut call, 3)?;
    let mut budget = call.budget();
    let text = zone.and_then(|zone| date::format(instant, layout, &zone, &mut budget));
    call.charge(budget.steps_used());
    match text {
        Ok(text) => call.done_text(text),
        Err(error) => failed(call, &error),
    }
}

fn failed<'gc>(mut call: Call<'gc, '_>, error: &bytes::Error) -> Outcome<'gc> {
    match error {
        bytes::Error::Budget(_) => Err(call.bytes_error(error)),
        error => {
            let reason = piccolo::String::from_slice(&call.ctx, error.to_string());
            call.done_all([Value::Nil, reason.into()])
        }
    }
}
