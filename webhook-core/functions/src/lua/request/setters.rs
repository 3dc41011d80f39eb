//! What a script changes of the request and the response.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use piccolo::{Error, String};
use webhook_core::function::ScriptResponse;

use super::drop_self;
use crate::lua::vm::{
    call::{Call, Native, Outcome},
    host::Script,
    limit::Limit,
};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("DeleteRequestHeader", delete_request_header),
    ("SetRequestBody", set_request_body),
    ("SetRequestHeader", set_request_header),
    ("SetRequestMethod", set_request_method),
    ("SetRequestPath", set_request_path),
    ("SetRequestRawQuery", set_request_raw_query),
    ("SetResponseBody", set_response_body),
    ("SetResponseHeader", set_response_header),
    ("SetResponseStatusCode", set_response_status_code),
    ("StopForwarding", stop_forwarding),
];

/// Makes `r` forget what it has shown of a field.
fn forget<'gc>(call: &Call<'gc, '_>, field: &'static str) {
    let kept = call.host.kept(call.ctx);
    // Not nil, which would leave a dead key behind.
    let _ = kept.set(call.ctx, call.ctx.intern_static(field.as_bytes()), false);
}

fn change_response(script: &mut Script) -> &mut ScriptResponse {
    script.response_modified = true;
    script.response.get_or_insert_default()
}

fn body<'gc>(call: &mut Call<'gc, '_>) -> Result<Bytes, Error<'gc>> {
    let body = call.check_string(1)?;
    let body = body.as_bytes();
    if body.len() > call.host.limits.body_bytes {
        return Err(call.exceed(Limit::BodyBytes));
    }
    call.charge_bytes(body.len());
    Ok(Bytes::copy_from_slice(body))
}

pub(super) fn set_request_body<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let body = body(&mut call)?;
    if let Some(request) = &mut call.host.script.borrow_mut().request {
        request.body = body;
    }
    forget(&call, "RequestBody");
    forget(&call, "RequestFormData");
    forget(&call, "RequestFormParts");
    call.done_all([])
}

pub(super) fn set_request_method<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let method = call.check_string(1)?.as_bytes().to_ascii_uppercase();
    let method =
        Method::from_bytes(&method).map_err(|_| call.bad_argument(1, "not a request method"))?;
    if let Some(request) = &mut call.host.script.borrow_mut().request {
        request.method = method;
    }
    forget(&call, "RequestMethod");
    call.done_all([])
}

pub(super) fn set_request_path<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let path = encoded(call.check_string(1)?, b"?#");
    check_length(&call, &path)?;
    let path = if path.is_empty() || path.starts_with('/') { path } else { format!("/{path}") };
    if let Some(request) = &mut call.host.script.borrow_mut().request {
        request.extra_path = path;
    }
    forget(&call, "RequestPath");
    call.done_all([])
}

pub(super) fn set_request_raw_query<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let query = encoded(call.check_string(1)?, b"#");
    check_length(&call, &query)?;
    let query = query.strip_prefix('?').unwrap_or(&query).to_owned();
    if let Some(request) = &mut call.host.script.borrow_mut().request {
        request.raw_query = query;
    }
    forget(&call, "RequestRawQuery");
    forget(&call, "RequestQuery");
    call.done_all([])
}

/// The longest path or query that a script may set, in bytes.
const MAX_URL_BYTES: usize = 64 << 10;

fn check_length<'gc>(call: &Call<'gc, '_>, text: &str) -> Result<(), Error<'gc>> {
    if text.len() > MAX_URL_BYTES {
        return Err(call.bad_argument(1, format!("longer than {MAX_URL_BYTES} bytes")));
    }
    Ok(())
}

/// Percent-encodes what cannot stand in a request line, and the bytes of `also`.
fn encoded(text: String<'_>, also: &[u8]) -> std::string::String {
    use std::fmt::Write as _;
    let mut out = std::string::String::with_capacity(text.as_bytes().len());
    for byte in text.as_bytes() {
        if byte.is_ascii_graphic() && !also.contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn header_name<'gc>(call: &Call<'gc, '_>) -> Result<HeaderName, Error<'gc>> {
    HeaderName::from_bytes(call.check_string(1)?.as_bytes())
        .map_err(|_| call.bad_argument(1, "not a header name"))
}

fn header<'gc>(call: &Call<'gc, '_>) -> Result<(HeaderName, HeaderValue), Error<'gc>> {
    let name = header_name(call)?;
    let value = call.check_string(2)?;
    if value.as_bytes().len() > MAX_URL_BYTES {
        return Err(call.bad_argument(2, format!("longer than {MAX_URL_BYTES} bytes")));
    }
    let value = HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| call.bad_argument(2, "control characters in a header's value"))?;
    Ok((name, value))
}

/// Headers that a script may leave; beyond that no server takes the request.
const MAX_HEADERS: usize = 1_000;

pub(super) fn set_request_header<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let (name, value) = header(&call)?;
    let mut script = call.host.script.borrow_mut();
    let full = script.request.as_mut().is_some_and(|request| {
        let full = request.headers.len() >= MAX_HEADERS && !request.headers.contains_key(&name);
        full || request.headers.try_insert(name, value).is_err()
    });
    drop(script);
    if full {
        return Err(call.fail(format!("too many headers, at most {MAX_HEADERS}")));
    }
    forget(&call, "RequestHeader");
    call.done_all([])
}

fn delete_request_header<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let name = header_name(&call)?;
    if let Some(request) = &mut call.host.script.borrow_mut().request {
        request.headers.remove(name);
    }
    forget(&call, "RequestHeader");
    call.done_all([])
}

pub(super) fn set_response_body<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let body = body(&mut call)?;
    change_response(&mut call.host.script.borrow_mut()).body = body;
    forget(&call, "ResponseBody");
    call.done_all([])
}

pub(super) fn set_response_status_code<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let status = call.check_int(1)?;
    let status = u16::try_from(status).ok().filter(|status| (200..=599).contains(status));
    let status = status.ok_or_else(|| call.bad_argument(1, "not a status from 200 to 599"))?;
    change_response(&mut call.host.script.borrow_mut()).status = status;
    forget(&call, "ResponseStatusCode");
    call.done_all([])
}

fn set_response_header<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let (name, value) = header(&call)?;
    let mut script = call.host.script.borrow_mut();
    let headers = &mut change_response(&mut script).headers;
    let full = headers.len() >= MAX_HEADERS && !headers.contains_key(&name);
    let full = full || headers.try_insert(name, value).is_err();
    drop(script);
    if full {
        return Err(call.fail(format!("too many headers, at most {MAX_HEADERS}")));
    }
    forget(&call, "ResponseHeader");
    call.done_all([])
}

fn stop_forwarding<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    call.host.script.borrow_mut().stop_forwarding = true;
    call.done_all([])
}
