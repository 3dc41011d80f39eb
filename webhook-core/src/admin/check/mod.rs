//! Whether a spec can be stored: pure, without a look at what is stored. The declarations of the
//! fields ([`config`](crate::model::config)) say most of it; here is the rest: checks that need the
//! options of the server or the time.
//!
//! Every refusal is [`Invalid`](crate::ErrorKind::Invalid) and names the field as it is on the
//! wire.

mod billing;
mod output;

pub(super) use billing::{billing_details, plan_change};
pub(super) use output::output;

use std::collections::BTreeMap;

use crate::wire::described::{self, Described, Field, Value};

use super::AdminOptions;
use crate::{
    clock::Timestamp,
    cron::Timetable,
    error::{Error, invalid_if},
    model::{
        CronSpec, InputSpec, NotificationSpec, Secret, TokenScopes, TokenSpec,
        config::{
            MAX_DESCRIPTION, MAX_NAME,
            function::{MAX_LABEL_BYTES, MAX_LABELS},
        },
    },
};

/// What the declaration of its fields says.
pub(super) fn fields(spec: &dyn Described) -> Result<(), Error> {
    Ok(described::check(spec, "")?)
}

/// An input as it is going to be stored. A signature that stays as it was `stored` was checked
/// then: secrets may have expired since.
pub(super) fn input(spec: &InputSpec, stored: &InputSpec, now: Timestamp) -> Result<(), Error> {
    fields(spec)?;
    match spec.signature.set().filter(|_| stored.signature != spec.signature) {
        Some(signature) => Ok(signature.check(now)?),
        None => Ok(()),
    }
}

pub(super) fn token(spec: &TokenSpec, options: &AdminOptions) -> Result<(), Error> {
    let TokenSpec { description: text, scopes, api_access: _ } = spec;
    let TokenScopes { buckets, tunnels } = scopes;
    self::text("description", text)?;
    for (field, names) in [("scopes.buckets", buckets), ("scopes.tunnels", tunnels)] {
        let limit = options.max_token_scopes;
        invalid_if(names.len() > limit, field, format_args!("must have at most {limit} entries"))?;
        for (index, entry) in names.iter().enumerate() {
            name(&format!("{field}[{index}]"), entry)?;
        }
    }
    Ok(())
}

/// The labels of one run of a function.
pub(super) fn metadata(labels: &BTreeMap<String, String>) -> Result<(), Error> {
    let mut field = Field::new("metadata", "");
    (field.max, field.max_bytes) = (MAX_LABELS, MAX_LABEL_BYTES);
    Ok(labels.check(&field).map_err(|invalid| invalid.below("metadata"))?)
}

pub(super) fn variable(key: &str, value: &Secret, options: &AdminOptions) -> Result<(), Error> {
    invalid_if(key.is_empty(), "key", "must not be empty")?;
    line("key", key, MAX_NAME)?;
    let value = value.expose();
    typed("value", value, Field { max: options.max_variable_bytes, raw: true, ..PLAIN })?;
    invalid_if(value.contains('\0'), "value", "must not contain NUL characters")
}

/// Checks the fields that need no look at the store, and sorts the events without repetition.
pub(super) fn notification(spec: &mut NotificationSpec) -> Result<(), Error> {
    spec.events.sort_unstable();
    spec.events.dedup();
    fields(spec)
}

/// Checks the fields that need no look at the store, and answers the timetable of the cron. The
/// check of its output includes the destination.
pub(super) fn cron(
    spec: &CronSpec,
    created_at: Timestamp,
    options: &AdminOptions,
) -> Result<Timetable, Error> {
    fields(spec)?;
    let timetable = Timetable::new(spec, created_at)?;
    let shortest = options.min_cron_period;
    let reason = format_args!("must leave at least {shortest:?} between two runs");
    invalid_if(timetable.shortest_period() < shortest, "schedule", reason)?;
    let payload = Field { max: options.max_cron_payload_bytes, raw: true, ..PLAIN };
    typed("payload", &spec.payload, payload)?;
    Ok(timetable)
}

const PLAIN: Field = Field::new("", "");

/// A name that is not empty.
pub(super) fn name(field: &str, text: &str) -> Result<(), Error> {
    typed(field, text, Field { max: MAX_NAME, is_name: true, required: true, ..PLAIN })
}

/// Text for people, in as many lines as they like.
pub(super) fn text(field: &str, text: &str) -> Result<(), Error> {
    typed(field, text, Field { max: MAX_DESCRIPTION, lines: 2, ..PLAIN })
}

/// A text of one line.
fn line(field: &str, text: &str, max: usize) -> Result<(), Error> {
    typed(field, text, Field { max, ..PLAIN })
}

/// A text with bounds of its own.
fn typed(name: &str, text: &str, field: Field) -> Result<(), Error> {
    Ok(text.to_owned().check(&field).map_err(|invalid| invalid.below(name))?)
}

#[cfg(test)]
mod tests;
