//! Whether a spec can be stored: pure, without a look at what is stored.
//!
//! Every refusal is [`Invalid`](crate::ErrorKind::Invalid) and names the field
//! as it is on the wire.

mod billing;
mod bucket;
mod cron;
mod domain;
mod function;
mod headers;
mod input;
mod notification;
mod output;
mod token;

pub(super) use billing::{billing_details, plan_change};
pub(super) use bucket::bucket;
pub(super) use cron::cron;
pub(super) use domain::domain;
pub(super) use function::{function, metadata, variable};
pub(super) use input::{input, input_extensions};
pub(super) use notification::notification;
pub(super) use output::{output, output_extensions};
pub(super) use token::token;

use super::AdminOptions;
use crate::error::Error;

/// A name that must be there.
pub(super) fn name(field: &str, text: &str, options: &AdminOptions) -> Result<(), Error> {
    if text.is_empty() {
        return Err(Error::invalid(field, "must not be empty"));
    }
    optional_name(field, text, options)
}

/// A name that may be empty.
fn optional_name(field: &str, text: &str, options: &AdminOptions) -> Result<(), Error> {
    if text.trim() != text {
        return Err(Error::invalid(field, "must not start or end with blanks"));
    }
    line(field, text, options.max_name_bytes)
}

fn description(value: &str, options: &AdminOptions) -> Result<(), Error> {
    text("description", value, options)
}

/// Text for people, in as many lines as they like.
pub(super) fn text(field: &str, text: &str, options: &AdminOptions) -> Result<(), Error> {
    length(field, text, options.max_description_bytes)?;
    match text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        true => Err(Error::invalid(field, "must not contain control characters")),
        false => Ok(()),
    }
}

/// Text of one line.
fn line(field: &str, text: &str, max_bytes: usize) -> Result<(), Error> {
    length(field, text, max_bytes)?;
    match text.chars().any(char::is_control) {
        true => Err(Error::invalid(field, "must not contain control characters")),
        false => Ok(()),
    }
}

fn length(field: &str, text: &str, max_bytes: usize) -> Result<(), Error> {
    match text.len() > max_bytes {
        true => Err(Error::invalid(
            field,
            format!("must be at most {max_bytes} bytes long, not {}", text.len()),
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
