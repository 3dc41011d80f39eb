//! How the processes of a harness speak: each reads orders from standard input,
//! one JSON line each, and answers on standard output.

use std::io::{BufRead, Write};

use serde::{Serialize, de::DeserializeOwned};

use crate::Outcome;

/// The next order; none when the harness has ended.
///
/// # Errors
///
/// When the line is no such order.
pub fn order<T: DeserializeOwned>() -> Outcome<Option<T>> {
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_str(&line)?)),
    }
}

/// Answers an order.
///
/// # Errors
///
/// When the harness has ended.
pub fn say(what: &impl Serialize) -> Outcome<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&line)?;
    Ok(stdout.flush()?)
}
