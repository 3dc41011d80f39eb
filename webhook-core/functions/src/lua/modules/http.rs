//! `http`: requests that the script waits for and its thread does not.

use std::time::Duration;

use piccolo::{Error, String, Table, Value};
use webhook_core::forward::{ForwardError, ForwardRequest, ForwardResponse};

use super::{tree, waiting::wait};
use crate::{
    lua::{
        request::headers_table,
        vm::{
            Limit,
            call::{Call, Native, Outcome, new_string, set_field, to_string},
        },
        wait::{Answer, Wish},
    },
    modules::{
        Bounds, ModuleError,
        http::{RequestOptions, cookies, request as build},
    },
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("delete", |call| send(call, "DELETE")),
    ("get", |call| send(call, "GET")),
    ("head", |call| send(call, "HEAD")),
    ("patch", |call| send(call, "PATCH")),
    ("post", |call| send(call, "POST")),
    ("put", |call| send(call, "PUT")),
    ("request", request),
    ("request_batch", request_batch),
];

/// `http.get(url, options)`
fn send<'gc>(mut call: Call<'gc, '_>, method: &str) -> Outcome<'gc> {
    let url = call.check_text(1)?;
    let (options, mut bounds) = (call.arg(2), call.bounds());
    send_one(&mut call, method, &url, options, &mut bounds).and_then(|built| finish(call, built))
}

/// `http.request(method, url, options)`
fn request<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (method, url) = (call.check_text(1)?, call.check_text(2)?);
    let (options, mut bounds) = (call.arg(3), call.bounds());
    send_one(&mut call, &method, &url, options, &mut bounds).and_then(|built| finish(call, built))
}

fn finish<'gc>(
    mut call: Call<'gc, '_>,
    built: Result<ForwardRequest, ModuleError>,
) -> Outcome<'gc> {
    match built {
        Ok(request) => {
            count(&mut call, 1)?;
            wait(call, Wish::Send(vec![request]), one)
        }
        Err(error) => call.done_error(&error),
    }
}

/// `http.request_batch({{method, url, options}, …})`: the answers, and nil or
/// the messages of those that failed; a failed one has `false` among the answers.
fn request_batch<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let list = call.check_table(1)?;
    let length = list.length();
    count(&mut call, usize::try_from(length).unwrap_or(usize::MAX))?;
    let mut requests = Vec::new();
    let mut bounds = call.bounds();
    for index in 1..=length {
        let Value::Table(entry) = list.get_value(Value::Integer(index)) else {
            return Err(call.bad_argument(1, format!("entry {index} is not a table")));
        };
        let part = |part| to_string(call.ctx, entry.get_value(Value::Integer(part)));
        let (Some(method), Some(url)) = (part(1), part(2)) else {
            let reason = format!("entry {index} must have a method and an address");
            return Err(call.bad_argument(1, reason));
        };
        let (method, url) = (method.to_str_lossy(), url.to_str_lossy());
        let options = entry.get_value(Value::Integer(3));
        match send_one(&mut call, &method, &url, options, &mut bounds)? {
            Ok(request) => requests.push(request),
            Err(error) => return call.done_error(&error),
        }
    }
    if requests.is_empty() {
        let none = Table::new(&call.ctx);
        return call.done_all([none.into(), Value::Nil]);
    }
    wait(call, Wish::Send(requests), all)
}

/// Counts requests against the limit.
fn count<'gc>(call: &mut Call<'gc, '_>, requests: usize) -> Result<(), Error<'gc>> {
    let most = call.host.limits.http_calls;
    call.count(|script| &mut script.http_calls, requests, most, Limit::HttpCalls)
}

type Built = Result<ForwardRequest, ModuleError>;

fn send_one<'gc>(
    call: &mut Call<'gc, '_>,
    method: &str,
    url: &str,
    options: Value<'gc>,
    bounds: &mut Bounds,
) -> Result<Built, Error<'gc>> {
    let options = match options {
        Value::Nil => RequestOptions::default(),
        Value::Table(table) => match read_options(call, table, bounds)? {
            Ok(options) => options,
            Err(error) => return Ok(Err(error)),
        },
        other => {
            return Err(
                call.fail(format!("http options must be a table, got {}", other.type_name()))
            );
        }
    };
    let hops = call.host.script.borrow().checks.hops;
    Ok(build(method, url, options, hops, &call.host.limits, bounds))
}

fn read_options<'gc>(
    call: &mut Call<'gc, '_>,
    table: Table<'gc>,
    bounds: &mut Bounds,
) -> Result<Result<RequestOptions, ModuleError>, Error<'gc>> {
    let field = |name: &'static str| table.get(call.ctx, call.ctx.intern_static(name.as_bytes()));
    let mut tree = |name: &'static str| match field(name) {
        Value::Nil => Ok(None),
        value => tree::from_lua(call.host, call.ctx, value, bounds).map(Some),
    };
    let mut trees = || {
        Ok::<_, ModuleError>([tree("query")?, tree("headers")?, tree("cookies")?, tree("form")?])
    };
    let [query, headers, cookies, form] = match trees() {
        Ok(trees) => trees,
        Err(error) => return Ok(Err(error)),
    };
    let body = match field("body") {
        Value::Nil => None,
        value => match to_string(call.ctx, value) {
            Some(body) => Some(body.as_bytes().to_vec()),
            None => return Err(call.fail("http option 'body' must be a string")),
        },
    };
    let timeout = match field("timeout") {
        Value::Nil => None,
        value => match seconds(value) {
            Some(timeout) => Some(timeout),
            None => return Err(call.fail("http option 'timeout' must be a number of seconds")),
        },
    };
    let auth = match field("auth") {
        Value::Nil => None,
        Value::Table(auth) => {
            let part = |name: &'static str| {
                let value = auth.get(call.ctx, call.ctx.intern_static(name.as_bytes()));
                to_string(call.ctx, value).map(|text| text.to_str_lossy().into_owned())
            };
            Some((part("user").unwrap_or_default(), part("pass").unwrap_or_default()))
        }
        _ => return Err(call.fail("http option 'auth' must be a table")),
    };
    Ok(Ok(RequestOptions { query, headers, cookies, body, form, timeout, auth }))
}

/// `5`, `0.5`, `"5s"` or `"500ms"`
fn seconds(value: Value<'_>) -> Option<Duration> {
    let seconds = match value {
        Value::Integer(seconds) => seconds as f64,
        Value::Number(seconds) => seconds,
        Value::String(text) => {
            let text = text.to_str().ok()?;
            match text.strip_suffix("ms") {
                Some(millis) => millis.trim().parse::<f64>().ok()? / 1000.0,
                None => text.strip_suffix('s').unwrap_or(text).trim().parse().ok()?,
            }
        }
        _ => return None,
    };
    // Longer than any call lasts is as good as an hour.
    Duration::try_from_secs_f64(seconds.min(3600.0)).ok().filter(|time| !time.is_zero())
}

type Sent = (std::string::String, Result<ForwardResponse, ForwardError>);

fn one<'gc>(mut call: Call<'gc, '_>, answer: Answer) -> Outcome<'gc> {
    let sent = match answer {
        Answer::Sent(mut sent) => sent.pop(),
        Answer::Slept | Answer::Kv(_) => None,
    };
    match sent {
        Some(sent) => match response(&mut call, sent) {
            Ok(table) => call.done(table),
            Err(reason) => call.done_failed(&reason),
        },
        None => call.done_failed("http: no answer"),
    }
}

fn all<'gc>(mut call: Call<'gc, '_>, answer: Answer) -> Outcome<'gc> {
    let sent = match answer {
        Answer::Sent(sent) => sent,
        Answer::Slept | Answer::Kv(_) => Vec::new(),
    };
    let (answers, messages) = (Table::new(&call.ctx), Table::new(&call.ctx));
    let mut failed = false;
    for (index, sent) in (1..).zip(sent) {
        let value = match response(&mut call, sent) {
            Ok(table) => table.into(),
            Err(reason) => {
                failed = true;
                let reason = String::from_slice(&call.ctx, reason);
                // Integers are never refused as keys.
                let _ = messages.set_value(&call.ctx, Value::Integer(index), reason.into());
                Value::Boolean(false)
            }
        };
        let _ = answers.set_value(&call.ctx, Value::Integer(index), value);
    }
    let messages = if failed { messages.into() } else { Value::Nil };
    call.done_all([answers.into(), messages])
}

/// An answer as a table, or why there is none.
fn response<'gc>(call: &mut Call<'gc, '_>, sent: Sent) -> Result<Table<'gc>, std::string::String> {
    let (address, sent) = sent;
    let response = sent.map_err(|error| format!("http: {error}"))?;
    if response.truncated {
        let limit = call.host.limits.http_response_bytes;
        return Err(format!("http: the answer's body is over the limit of {limit} bytes"));
    }
    call.charge_bytes(response.body.len());
    let ctx = call.ctx;
    let table = Table::new(&ctx);
    let size = i64::try_from(response.body.len()).unwrap_or(i64::MAX);
    set_field(ctx, table, "body", new_string(ctx, response.body.to_vec()));
    set_field(ctx, table, "body_size", size);
    set_field(ctx, table, "status_code", i64::from(response.status.as_u16()));
    set_field(ctx, table, "headers", headers_table(call, &response.headers));
    set_field(ctx, table, "url", new_string(ctx, address.into_bytes()));
    let jar = Table::new(&ctx);
    for (name, value) in cookies(&response) {
        let (name, value) = (String::from_slice(&ctx, name), String::from_slice(&ctx, value));
        let _ = jar.set_value(&ctx, name.into(), value.into());
    }
    set_field(ctx, table, "cookies", jar);
    Ok(table)
}
