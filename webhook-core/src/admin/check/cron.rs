//! Crons.

use http::{Method, header::HOST};

use super::{headers, length, optional_name};
use crate::{
    admin::AdminOptions, clock::Timestamp, cron::Timetable, error::Error, model::CronSpec,
};

const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
];

/// What can be said without a look at the store; the timetable of the cron.
/// Its destination is checked with its output.
pub(in crate::admin) fn cron(
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
    if timetable.shortest_period() < shortest {
        let reason = format!("must leave at least {shortest:?} between two runs");
        return Err(Error::invalid("schedule", reason));
    }
    if !METHODS.contains(method) {
        let reason = "must be one of GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS";
        return Err(Error::invalid("method", reason));
    }
    if destination.is_empty() {
        return Err(Error::invalid("destination", "must not be empty"));
    }
    length("payload", payload, options.max_cron_payload_bytes)?;
    headers::sendable(&own_headers.0, options)?;
    match own_headers.0.contains_key(HOST) {
        true => Err(Error::invalid(
            "headers.Host",
            "cannot be set here: it follows from the destination; set it on the bucket's output",
        )),
        false => Ok(timetable),
    }
}
