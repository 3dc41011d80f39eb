//! Whether a spec can be stored: pure, without a look at what is stored.
//!
//! Every refusal is [`Invalid`](crate::ErrorKind::Invalid) and names the field
//! as it is on the wire. Specs with few fields are checked here.

mod billing;
mod domain;
mod input;
mod output;

pub(super) use billing::{billing_details, plan_change};
pub(super) use domain::domain;
pub(super) use input::{input, input_extensions};
pub(super) use output::{output, output_extensions};

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use http::{
    HeaderMap, HeaderName, Method,
    header::{
        CONNECTION, CONTENT_LENGTH, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
        TRANSFER_ENCODING, UPGRADE,
    },
};

use super::AdminOptions;
use crate::{
    clock::Timestamp,
    cron::Timetable,
    error::{Error, invalid_if},
    model::{
        AuthType, BucketAuth, BucketSpec, CronSpec, FunctionSpec, Headers, NotificationSpec,
        Secret, TokenScopes, TokenSpec,
    },
};

pub(super) fn bucket(spec: &BucketSpec, options: &AdminOptions) -> Result<(), Error> {
    let BucketSpec {
        name,
        description: text,
        stream: _,
        ephemeral: _,
        large_webhooks: _,
        static_ip: _,
        auth,
        // Against the account's plan.
        retention: _,
    } = spec;
    optional_name("name", name, options)?;
    description(text, options)?;
    credentials(auth, options)
}

fn credentials(auth: &BucketAuth, options: &AdminOptions) -> Result<(), Error> {
    let BucketAuth { id: _, created_at: _, updated_at: _, kind, username, password, token } = auth;
    let limit = options.max_credential_bytes;
    line("auth.username", username, limit)?;
    line("auth.password", password.expose(), limit)?;
    length("auth.token", token.expose(), limit)?;
    match kind {
        AuthType::None => Ok(()),
        AuthType::Basic if username.is_empty() && password.is_empty() => {
            Err(Error::invalid("auth.username", "basic credentials need a user name or a password"))
        }
        AuthType::Basic if username.contains(':') => {
            Err(Error::invalid("auth.username", "must not contain a colon (RFC 7617)"))
        }
        AuthType::Basic => Ok(()),
        AuthType::Token if token.is_empty() => {
            Err(Error::invalid("auth.token", "must not be empty for the type token"))
        }
        AuthType::Token if !token.expose().bytes().all(|byte| byte.is_ascii_graphic()) => {
            Err(Error::invalid("auth.token", "must be printable ASCII without blanks"))
        }
        AuthType::Token => Ok(()),
    }
}

pub(super) fn token(spec: &TokenSpec, options: &AdminOptions) -> Result<(), Error> {
    let TokenSpec { description: text, scopes, api_access: _ } = spec;
    let TokenScopes { buckets, tunnels } = scopes;
    description(text, options)?;
    for (field, names) in [("scopes.buckets", buckets), ("scopes.tunnels", tunnels)] {
        let limit = options.max_token_scopes;
        invalid_if(names.len() > limit, field, format_args!("must have at most {limit} entries"))?;
        for (index, entry) in names.iter().enumerate() {
            name(&format!("{field}[{index}]"), entry, options)?;
        }
    }
    Ok(())
}

/// All but the payload, which only a compiler can check.
pub(super) fn function(spec: &FunctionSpec, options: &AdminOptions) -> Result<(), Error> {
    let FunctionSpec { name, driver: _, payload, metadata: labels } = spec;
    optional_name("name", name, options)?;
    invalid_if(payload.trim().is_empty(), "payload", "must not be empty")?;
    metadata(labels, options)
}

pub(super) fn metadata(
    labels: &BTreeMap<String, String>,
    options: &AdminOptions,
) -> Result<(), Error> {
    let limit = options.max_metadata;
    let reason = format_args!("must have at most {limit} entries");
    invalid_if(labels.len() > limit, "metadata", reason)?;
    let bytes: usize = labels.iter().map(|(key, value)| key.len() + value.len()).sum();
    let limit = options.max_metadata_bytes;
    let reason = format_args!("must be at most {limit} bytes together, not {bytes}");
    invalid_if(bytes > limit, "metadata", reason)?;
    match labels.keys().find(|key| key.is_empty() || key.chars().any(char::is_control)) {
        Some(key) => Err(Error::invalid("metadata", format!("{key:?} cannot be a name"))),
        None => Ok(()),
    }
}

pub(super) fn variable(key: &str, value: &Secret, options: &AdminOptions) -> Result<(), Error> {
    invalid_if(key.is_empty(), "key", "must not be empty")?;
    line("key", key, options.max_name_bytes)?;
    length("value", value.expose(), options.max_variable_bytes)?;
    invalid_if(value.expose().contains('\0'), "value", "must not contain NUL characters")
}

/// How long after one webhook of a notification the next one follows at the earliest.
const MIN_INTERVALS: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
/// With how many webhooks a queue can be deep at most.
const DEEPEST: u32 = 1_000_000;

/// Checks the fields that need no look at the store, and sorts the events without repetition.
pub(super) fn notification(
    spec: &mut NotificationSpec,
    options: &AdminOptions,
) -> Result<(), Error> {
    let NotificationSpec { events, buckets, to_bucket, disabled: _, min_interval, queue_deep_at } =
        spec;
    events.sort_unstable();
    events.dedup();
    invalid_if(events.is_empty(), "events", "must have at least one")?;
    invalid_if(to_bucket.is_empty(), "to_bucket", "must not be empty")?;
    let limit = options.max_notified_buckets;
    invalid_if(buckets.len() > limit, "buckets", format_args!("must be at most {limit}"))?;
    let (least, most) = (MIN_INTERVALS.start().as_nanos(), MIN_INTERVALS.end().as_nanos());
    let reason = format_args!("must be from {least} to {most} nanoseconds");
    invalid_if(!MIN_INTERVALS.contains(min_interval), "min_interval", reason)?;
    let reason = format_args!("must be from 1 to {DEEPEST}");
    invalid_if(!(1..=DEEPEST).contains(queue_deep_at), "queue_deep_at", reason)
}

const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
];

/// Checks the fields that need no look at the store, and answers the timetable of the cron. The
/// check of its output includes the destination.
pub(super) fn cron(
    spec: &CronSpec,
    created_at: Timestamp,
    options: &AdminOptions,
) -> Result<Timetable, Error> {
    let CronSpec {
        name,
        enabled: _,
        recurring: _,
        schedule: _,
        timezone: _,
        method,
        destination,
        payload,
        headers: own_headers,
        function_id: _,
        starts_at: _,
        ends_at: _,
    } = spec;
    optional_name("name", name, options)?;
    let timetable = Timetable::new(spec, created_at)?;
    let shortest = options.min_cron_period;
    let reason = format_args!("must leave at least {shortest:?} between two runs");
    invalid_if(timetable.shortest_period() < shortest, "schedule", reason)?;
    let reason = "must be one of GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS";
    invalid_if(!METHODS.contains(method), "method", reason)?;
    invalid_if(destination.is_empty(), "destination", "must not be empty")?;
    length("payload", payload, options.max_cron_payload_bytes)?;
    sendable(&own_headers.0, options)?;
    match own_headers.0.contains_key(HOST) {
        true => Err(Error::invalid(
            "headers.Host",
            "cannot be set here: it follows from the destination; set it on the bucket's output",
        )),
        false => Ok(timetable),
    }
}

/// A name that must be there.
pub(super) fn name(field: &str, text: &str, options: &AdminOptions) -> Result<(), Error> {
    invalid_if(text.is_empty(), field, "must not be empty")?;
    optional_name(field, text, options)
}

/// A name that may be empty.
fn optional_name(field: &str, text: &str, options: &AdminOptions) -> Result<(), Error> {
    invalid_if(text.trim() != text, field, "must not start or end with blanks")?;
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
    invalid_if(text.chars().any(char::is_control), field, "must not contain control characters")
}

fn length(field: &str, text: &str, max_bytes: usize) -> Result<(), Error> {
    let reason = format_args!("must be at most {max_bytes} bytes long, not {}", text.len());
    invalid_if(text.len() > max_bytes, field, reason)
}

/// Whether every header can be sent as it is. The forwarder itself sets the headers of one hop
/// (RFC 9110, section 7.6.1) and the length.
fn sendable(headers: &HeaderMap, options: &AdminOptions) -> Result<(), Error> {
    let (max, max_bytes) = (options.max_headers, options.max_headers_bytes);
    let reason = format_args!("at most {max} are possible, not {}", headers.len());
    invalid_if(headers.len() > max, "headers", reason)?;
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    let reason = format_args!("must be at most {max_bytes} bytes together, not {bytes}");
    invalid_if(bytes > max_bytes, "headers", reason)?;
    match headers.keys().find(|name| is_set_by_the_sender(name)) {
        Some(name) => Err(Error::invalid(
            &format!("headers.{}", Headers::canonical_name(name)),
            "cannot be set: it belongs to the connection",
        )),
        None => Ok(()),
    }
}

fn is_set_by_the_sender(name: &HeaderName) -> bool {
    [
        CONNECTION,
        CONTENT_LENGTH,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ]
    .contains(name)
        || matches!(name.as_str(), "keep-alive" | "proxy-connection")
}

#[cfg(test)]
mod tests;
