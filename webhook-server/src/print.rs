//! Standard output.

use std::io::Write;

use crate::failure::Failure;

/// Writes `text` at once, so that whoever reads it line by line does not wait.
/// A reader that has gone away is an error rather than a panic.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::io("cannot write to standard output", error))
}
