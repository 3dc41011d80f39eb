//! `jwt`

use piccolo::{Error, Value};

use super::tree;
use crate::{
    lua::vm::call::{Call, Native, Outcome},
    modules::jwt,
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("sign", sign), ("verify", verify)];

/// Fuel for a signature, which takes a millisecond or so with RSA.
const SIGNATURE_FUEL: u64 = 50_000;

/// `sign(claims, key, algorithm)`
fn sign<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let claims = call.check_table(1)?;
    let key = call.check_string(2)?;
    let name = if call.arg(3).is_nil() { "HS256".to_owned() } else { call.check_text(3)? };
    call.charge(SIGNATURE_FUEL);
    let tree = tree::from_lua(call.host, call.ctx, claims.into(), &mut call.bounds());
    let longest = call.host.limits.string_bytes;
    let token = tree.and_then(|mut claims| {
        if claims.as_array().is_some_and(Vec::is_empty) {
            // The empty table stands for no claims.
            claims = serde_json::json!({});
        }
        jwt::sign(&claims, key.as_bytes(), jwt::algorithm(&name)?, longest)
    });
    call.done_bytes(token.map(String::into_bytes))
}

/// `verify(token, key, algorithms)`: the claims, or nil and why not.
fn verify<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let token = call.check_text(1)?;
    let key = call.check_string(2)?;
    let names = names(&call, key.as_bytes())?;
    call.charge(SIGNATURE_FUEL);
    call.charge_bytes(token.len() * 4);
    let algorithms = names.iter().map(|name| jwt::algorithm(name)).collect::<Result<Vec<_>, _>>();
    let now = call.host.clock.now().as_secs();
    let bounds = call.bounds();
    let claims = algorithms
        .and_then(|algorithms| jwt::verify(&token, key.as_bytes(), &algorithms, now, bounds));
    call.done_tree(claims)
}

/// The algorithms that are accepted: a name, a list of names, or those that suit the key.
fn names<'gc>(call: &Call<'gc, '_>, key: &[u8]) -> Result<Vec<String>, Error<'gc>> {
    match call.arg(3) {
        Value::Nil if key.starts_with(b"-----BEGIN") => {
            Ok(vec!["RS256".to_owned(), "ES256".to_owned()])
        }
        Value::Nil => Ok(vec!["HS256".to_owned()]),
        Value::Table(list) => {
            let mut names = Vec::new();
            for index in 1..=list.length().min(16) {
                match list.get_value(Value::Integer(index)) {
                    Value::String(name) => names.push(name.to_str_lossy().into_owned()),
                    _ => return Err(call.bad_argument(3, "expected a list of names")),
                }
            }
            Ok(names)
        }
        _ => Ok(vec![call.check_text(3)?]),
    }
}
