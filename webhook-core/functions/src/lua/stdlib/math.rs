//! The `math` library.

use std::{cell::RefCell, cmp::Ordering, rc::Rc};

use piccolo::{Callback, Context, Error, Table, Value};

use super::{
    compare::order,
    numbers::{Arithmetic, arithmetic},
};
use crate::lua::{
    bytes::number::{Number, float_to_integer},
    vm::{
        call::{Call, Native, Outcome, library, number_value, set_field},
        host::Host,
    },
};

pub(super) fn open<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Table<'gc> {
    let table = library(ctx, host, FUNCTIONS);
    set_field(ctx, table, "huge", f64::INFINITY);
    set_field(ctx, table, "pi", std::f64::consts::PI);
    set_field(ctx, table, "maxinteger", i64::MAX);
    set_field(ctx, table, "mininteger", i64::MIN);
    let rng = Rc::new(RefCell::new(fastrand::Rng::new()));
    set_field(ctx, table, "random", random(ctx, host, &rng));
    set_field(ctx, table, "randomseed", randomseed(ctx, host, &rng));
    table
}

const FUNCTIONS: &[(&str, Native)] = &[
    ("abs", abs),
    ("acos", |call| float(call, f64::acos)),
    ("asin", |call| float(call, f64::asin)),
    ("atan", atan),
    ("atan2", atan),
    ("ceil", |call| round(call, f64::ceil)),
    ("cos", |call| float(call, f64::cos)),
    ("cosh", |call| float(call, f64::cosh)),
    ("deg", |call| float(call, |value| value * (180.0 / std::f64::consts::PI))),
    ("exp", |call| float(call, f64::exp)),
    ("floor", |call| round(call, f64::floor)),
    ("fmod", fmod),
    ("frexp", frexp),
    ("ldexp", ldexp),
    ("log", log),
    ("log10", |call| float(call, f64::log10)),
    ("max", |call| extreme(call, Ordering::Greater)),
    ("min", |call| extreme(call, Ordering::Less)),
    ("modf", modf),
    ("pow", pow),
    ("rad", |call| float(call, |value| value * (std::f64::consts::PI / 180.0))),
    ("sin", |call| float(call, f64::sin)),
    ("sinh", |call| float(call, f64::sinh)),
    ("sqrt", |call| float(call, f64::sqrt)),
    ("tan", |call| float(call, f64::tan)),
    ("tanh", |call| float(call, f64::tanh)),
    ("tointeger", tointeger),
    ("type", type_of),
    ("ult", ult),
];

fn float<'gc>(call: Call<'gc, '_>, function: fn(f64) -> f64) -> Outcome<'gc> {
    let value = call.check_float(1)?;
    call.done(function(value))
}

fn abs<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    match call.check_number(1)? {
        Number::Int(value) => call.done(value.wrapping_abs()),
        Number::Float(value) => call.done(value.abs()),
    }
}

fn atan<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let y = call.check_float(1)?;
    let x = if call.arg(2).is_nil() { 1.0 } else { call.check_float(2)? };
    call.done(y.atan2(x))
}

fn round<'gc>(call: Call<'gc, '_>, round: fn(f64) -> f64) -> Outcome<'gc> {
    match call.check_number(1)? {
        Number::Int(value) => call.done(value),
        Number::Float(value) => {
            let value = round(value);
            call.done(float_to_integer(value).map_or(Value::Number(value), Value::Integer))
        }
    }
}

fn fmod<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    match (call.check_number(1)?, call.check_number(2)?) {
        (Number::Int(_), Number::Int(0)) => Err(call.bad_argument(2, "zero")),
        (Number::Int(left), Number::Int(right)) => call.done(left.wrapping_rem(right)),
        (left, right) => call.done(left.to_float() % right.to_float()),
    }
}

/// `frexp(x)`: `m` from 0.5 to below 1 and `e` with `x = m * 2^e`; what has none stays as it is, with 0.
fn frexp<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_float(1)?;
    if value == 0.0 || !value.is_finite() {
        return call.done_all([Value::Number(value), Value::Integer(0)]);
    }
    // What is below the normal range is brought into it first.
    let (normal, moved) = if value.is_normal() { (value, 0) } else { (value * 2_f64.powi(64), 64) };
    let bits = normal.to_bits();
    let exponent = i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0) - 1_022 - moved;
    let mantissa = f64::from_bits((bits & !(0x7ff << 52)) | (1_022 << 52));
    call.done_all([Value::Number(mantissa), Value::Integer(exponent)])
}

fn ldexp<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (value, exponent) = (call.check_float(1)?, call.check_int(2)?);
    let exponent = i32::try_from(exponent.clamp(-5_000, 5_000)).unwrap_or(0);
    // In two steps: the power alone may not be representable.
    let half = exponent / 2;
    call.done(value * 2_f64.powi(half) * 2_f64.powi(exponent - half))
}

fn log<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = call.check_float(1)?;
    if call.arg(2).is_nil() {
        return call.done(value.ln());
    }
    let base = call.check_float(2)?;
    call.done(if base == 2.0 {
        value.log2()
    } else if base == 10.0 {
        value.log10()
    } else {
        value.ln() / base.ln()
    })
}

fn extreme<'gc>(call: Call<'gc, '_>, wanted: Ordering) -> Outcome<'gc> {
    call.check_any(1)?;
    let mut best = number_value(call.check_number(1)?);
    for index in 2..=call.stack.len() {
        let value = number_value(call.check_number(index)?);
        if order(value, best).flatten() == Some(wanted) {
            best = value;
        }
    }
    call.done(best)
}

fn modf<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let value = match call.check_number(1)? {
        Number::Int(value) => {
            return call.done_all([Value::Integer(value), Value::Number(0.0)]);
        }
        Number::Float(value) => value,
    };
    let whole = value.trunc();
    let fraction = if value.is_infinite() { 0.0 } else { value - whole };
    let whole = float_to_integer(whole).map_or(Value::Number(whole), Value::Integer);
    call.done_all([whole, Value::Number(fraction)])
}

fn pow<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (base, exponent) = (call.check_number(1)?, call.check_number(2)?);
    match arithmetic(Arithmetic::Pow, base, exponent) {
        Ok(number) => call.done(number_value(number)),
        Err(message) => Err(call.fail(message)),
    }
}

fn tointeger<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let number = match call.check_any(1)? {
        Value::Integer(value) => Some(value),
        Value::Number(value) => float_to_integer(value),
        value @ Value::String(_) => {
            crate::lua::vm::call::to_number(value).and_then(Number::to_integer)
        }
        _ => None,
    };
    call.done(number.map_or(Value::Nil, Value::Integer))
}

fn type_of<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let name = match call.check_any(1)? {
        Value::Integer(_) => "integer",
        Value::Number(_) => "float",
        _ => return call.done(Value::Nil),
    };
    let name = call.ctx.intern_static(name.as_bytes());
    call.done(name)
}

fn ult<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (left, right) = (call.check_int(1)?, call.check_int(2)?);
    call.done(left.cast_unsigned() < right.cast_unsigned())
}

type SharedRng = Rc<RefCell<fastrand::Rng>>;

fn random<'gc>(ctx: Context<'gc>, host: &Rc<Host>, rng: &SharedRng) -> Callback<'gc> {
    let (host, rng) = (Rc::clone(host), Rc::clone(rng));
    Callback::from_fn(&ctx, move |ctx, exec, stack| {
        let call = Call::of(&host, "random", ctx, exec, stack);
        let call = Call { origin: host.origin.take(), ..call };
        let rng = &mut *rng.borrow_mut();
        let (low, high) = match call.stack.len() {
            0 => return call.done(rng.f64()),
            1 => match call.check_int(1)? {
                0 => return call.done(rng.i64(..)),
                high => (1, high),
            },
            2 => (call.check_int(1)?, call.check_int(2)?),
            _ => return Err(call.fail("wrong number of arguments")),
        };
        if low > high {
            let index = if call.stack.len() == 1 { 1 } else { 2 };
            return Err(call.bad_argument(index, "interval is empty"));
        }
        call.done(rng.i64(low..=high))
    })
}

fn randomseed<'gc>(ctx: Context<'gc>, host: &Rc<Host>, rng: &SharedRng) -> Callback<'gc> {
    let (host, rng) = (Rc::clone(host), Rc::clone(rng));
    Callback::from_fn(&ctx, move |ctx, exec, stack| {
        let call = Call::of(&host, "randomseed", ctx, exec, stack);
        let call = Call { origin: host.origin.take(), ..call };
        let seed = if call.stack.is_empty() { None } else { Some(seed(&call)?) };
        let seed = seed.unwrap_or_else(|| fastrand::u64(..));
        rng.borrow_mut().seed(seed);
        call.done_all([])
    })
}

fn seed<'gc>(call: &Call<'gc, '_>) -> Result<u64, Error<'gc>> {
    Ok(match call.check_number(1)? {
        Number::Int(seed) => seed.cast_unsigned(),
        Number::Float(seed) => seed.to_bits(),
    })
}
