//! Outputs.

use std::time::Duration;

use http::{HeaderMap, header::HOST, uri::Authority};
use url::Url;

use super::{description, length, optional_name, sendable};
use crate::{
    admin::AdminOptions,
    clock::Timestamp,
    error::{Error, invalid_if},
    forward::guard::AddressGuard,
    model::{Durability, OutputSpec, ReplayMissing, Throttle, ThrottleMode, credentials::Invalid},
    retry,
};

pub(crate) fn output(spec: &OutputSpec, options: &AdminOptions) -> Result<(), Error> {
    let OutputSpec {
        name,
        description: text,
        destination,
        function_id: _,
        response_function_id: _,
        headers: own_headers,
        // Read within the bounds of `rule`, or not at all.
        rules: _,
        internal,
        disabled: _,
        on_disabled: _,
        lock_path: _,
        retries: _,
        timeout,
        tls_verification: _,
        throttle: own_throttle,
        durability: own_durability,
        replay_missing,
        // Checked when it is known what is stored: `output_extensions`.
        signing: _,
        auth: _,
        health: _,
    } = spec;
    optional_name("name", name, options)?;
    description(text, options)?;
    destination_url("destination", destination, *internal, options)?;
    sendable(&own_headers.0, options)?;
    host(&own_headers.0)?;
    retry::validate(spec)?;
    if let Some(timeout) = timeout {
        let (most, secs) = (options.max_timeout.as_secs(), timeout.as_secs());
        let reason = format_args!("must be from 0 to {most} seconds, not {secs}");
        invalid_if(secs > most, "timeout", reason)?;
        invalid_if(timeout.subsec_nanos() > 0, "timeout", "must be whole seconds")?;
    }
    throttle(own_throttle, options)?;
    durability(own_durability, options)?;
    let ReplayMissing { enabled, lookback, limit: _ } = replay_missing;
    at_most("replay_missing.lookback", *lookback, options.max_deadline)?;
    invalid_if(*enabled && !internal, "replay_missing", "is for internal outputs only")
}

/// The extension fields as they are going to be stored.
pub(crate) fn output_extensions(
    spec: &OutputSpec,
    now: Timestamp,
    options: &AdminOptions,
) -> Result<(), Error> {
    let named = |Invalid { field, reason }: Invalid| Error::invalid(&field, reason);
    if let Some(signing) = spec.signing.set() {
        signing.check(now.as_secs()).map_err(named)?;
    }
    if let Some(health) = spec.health.set() {
        health.check()?;
    }
    let Some(auth) = spec.auth.set() else { return Ok(()) };
    auth.check().map_err(named)?;
    match auth.token_url.is_empty() {
        true => Ok(()),
        false => destination_url("auth.token_url", &auth.token_url, false, options),
    }
}

/// A `Host` of one's own must be one that a server can be asked for.
fn host(headers: &HeaderMap) -> Result<(), Error> {
    let mut values = headers.get_all(HOST).iter();
    let Some(value) = values.next() else { return Ok(()) };
    let authority = Authority::try_from(value.as_bytes());
    match authority {
        Ok(authority) if values.next().is_none() && !authority.as_str().contains('@') => Ok(()),
        _ => Err(Error::invalid("headers.Host", "must be a single host name with or without port")),
    }
}

fn throttle(throttle: &Throttle, options: &AdminOptions) -> Result<(), Error> {
    let Throttle { enabled, mode, rate, interval: _, max_concurrent, max_queue_depth: _, deadline } =
        throttle;
    at_most("throttle.deadline", *deadline, options.max_deadline)?;
    let max = options.max_concurrent;
    match mode {
        ThrottleMode::Rate if *enabled && *rate == 0 => {
            Err(Error::invalid("throttle.rate", "must be at least 1 in the mode rate"))
        }
        ThrottleMode::Concurrency if *enabled && !(1..=max).contains(max_concurrent) => {
            Err(Error::invalid(
                "throttle.max_concurrent",
                format!("must be from 1 to {max} in the mode concurrency, not {max_concurrent}"),
            ))
        }
        _ => Ok(()),
    }
}

/// What `retry::validate` leaves: it looks at what is in force.
fn durability(durability: &Durability, options: &AdminOptions) -> Result<(), Error> {
    let Durability { enabled: _, schedule: _, custom_delays, deadline, handoff_after } = durability;
    let max = retry::MAX_CUSTOM_DELAYS;
    let reason = format_args!("at most {max} are possible, not {}", custom_delays.len());
    invalid_if(custom_delays.len() > max, "durability.custom_delays", reason)?;
    at_most("durability.deadline", *deadline, retry::MAX_DEADLINE)?;
    at_most("durability.handoff_after", *handoff_after, options.max_deadline)
}

fn at_most(field: &str, duration: Duration, max: Duration) -> Result<(), Error> {
    match duration > max {
        true => Err(Error::invalid(
            field,
            format!("must be at most {} nanoseconds ({} s)", max.as_nanos(), max.as_secs()),
        )),
        false => Ok(()),
    }
}

/// An absolute `http` or `https` URL. The destination of an internal output is
/// its client's business: it may be absent, and lead to a private address.
fn destination_url(
    field: &str,
    text: &str,
    internal: bool,
    options: &AdminOptions,
) -> Result<(), Error> {
    if text.is_empty() {
        return match internal {
            true => Ok(()),
            false => Err(Error::invalid(field, "must not be empty unless the output is internal")),
        };
    }
    length(field, text, options.max_destination_bytes)?;
    // `Url` drops these in silence.
    let reason = "must not contain blanks or control characters";
    invalid_if(text.chars().any(|c| c.is_control() || c == ' '), field, reason)?;
    // `Url` also reads `http:example.com`.
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let reason = "must be an absolute url that starts with http:// or https://";
    invalid_if(!matches!(scheme.as_deref(), Some("http" | "https")), field, reason)?;
    let url = Url::parse(text).map_err(|error| Error::invalid(field, error))?;
    let checked = match internal {
        true => AddressGuard::allow_all().check_url(&url),
        false => options.guard.check_url(&url),
    };
    checked.map_err(|error| Error::invalid(field, error))
}
