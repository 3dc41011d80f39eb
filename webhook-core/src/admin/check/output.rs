//! Outputs and their rules.

use std::time::Duration;

use http::{HeaderMap, header::HOST, uri::Authority};

use super::{description, headers, length, optional_name};
use crate::{
    admin::AdminOptions,
    error::Error,
    model::{Durability, OutputSpec, RetrySchedule, Throttle, ThrottleMode},
    rule::Rules,
};

mod destination;

pub(in crate::admin) fn output(spec: &OutputSpec, options: &AdminOptions) -> Result<(), Error> {
    let OutputSpec {
        name,
        description: text,
        destination,
        function_id: _,
        response_function_id: _,
        headers: own_headers,
        rules: own_rules,
        internal,
        disabled: _,
        lock_path: _,
        retries,
        timeout,
        tls_verification: _,
        throttle: own_throttle,
        durability: own_durability,
    } = spec;
    optional_name("name", name, options)?;
    description(text, options)?;
    destination::check(destination, *internal, options)?;
    headers::sendable(&own_headers.0, options)?;
    host(&own_headers.0)?;
    rules(own_rules, options)?;
    if !(-1..=options.max_retries).contains(retries) {
        let reason = format!("must be from -1 to {}, not {retries}", options.max_retries);
        return Err(Error::invalid("retries", reason));
    }
    let max_timeout = options.max_timeout.as_secs();
    if u64::from(*timeout) > max_timeout {
        let reason = format!("must be from 0 to {max_timeout} seconds, not {timeout}");
        return Err(Error::invalid("timeout", reason));
    }
    throttle(own_throttle, options)?;
    durability(own_durability, options)
}

pub(in crate::admin) fn rules(rules: &Rules, options: &AdminOptions) -> Result<(), Error> {
    let text = serde_json::to_string(rules).map_err(Error::internal)?;
    length("rules", &text, options.max_rules_bytes)
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

fn durability(durability: &Durability, options: &AdminOptions) -> Result<(), Error> {
    let Durability { enabled, schedule, custom_delays, deadline, handoff_after } = durability;
    at_most("durability.deadline", *deadline, options.max_deadline)?;
    at_most("durability.handoff_after", *handoff_after, options.max_deadline)?;
    let max = options.max_custom_delays;
    if custom_delays.len() > max {
        let reason = format!("at most {max} are possible, not {}", custom_delays.len());
        return Err(Error::invalid("durability.custom_delays", reason));
    }
    for (index, delay) in custom_delays.iter().enumerate() {
        let field = format!("durability.custom_delays[{index}]");
        at_most(&field, *delay, options.max_deadline)?;
        if *delay < options.min_custom_delay {
            let min = options.min_custom_delay.as_nanos();
            return Err(Error::invalid(&field, format!("must be at least {min} nanoseconds")));
        }
    }
    if *enabled && *schedule == RetrySchedule::Custom {
        if custom_delays.is_empty() {
            let reason = "must not be empty for the schedule custom";
            return Err(Error::invalid("durability.custom_delays", reason));
        }
        if deadline.is_zero() {
            let reason = "must be set for the schedule custom, in nanoseconds";
            return Err(Error::invalid("durability.deadline", reason));
        }
    }
    Ok(())
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
