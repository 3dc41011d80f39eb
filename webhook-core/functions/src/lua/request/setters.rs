//! What a script changes of the request and the response.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use percent_encoding::AsciiSet;
use piccolo::Error;
use webhook_core::{function::ScriptResponse, model::Request};

use super::drop_self;
use crate::{
    lua::vm::{
        Limit,
        call::{Call, Native, Outcome},
    },
    modules::request::{self, MAX_HEADERS, MAX_TEXT_BYTES, NOT_IN_PATH, NOT_IN_QUERY},
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

fn change_request<'gc>(call: &Call<'gc, '_>, change: impl FnOnce(&mut Request)) {
    if let Some(request) = &mut call.host.script.borrow_mut().request {
        change(request);
    }
}

fn change_response<'gc, T>(
    call: &Call<'gc, '_>,
    change: impl FnOnce(&mut ScriptResponse) -> T,
) -> T {
    let mut script = call.host.script.borrow_mut();
    script.response_modified = true;
    change(script.response.get_or_insert_default())
}

/// Ends a change: makes `r` forget what it has shown of these fields.
fn changed<'gc>(call: Call<'gc, '_>, fields: &[&'static str]) -> Outcome<'gc> {
    let kept = call.host.kept(call.ctx);
    for field in fields {
        // Not nil, which would leave a dead key behind.
        let _ = kept.set(call.ctx, call.ctx.intern_static(field.as_bytes()), false);
    }
    call.done_all([])
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
    change_request(&call, |request| request.body = body);
    changed(call, &["RequestBody", "RequestFormData", "RequestFormParts"])
}

pub(super) fn set_request_method<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let method = call.check_string(1)?.as_bytes().to_ascii_uppercase();
    let method =
        Method::from_bytes(&method).map_err(|_| call.bad_argument(1, "not a request method"))?;
    change_request(&call, |request| request.method = method);
    changed(call, &["RequestMethod"])
}

pub(super) fn set_request_path<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let path = encoded(&call, NOT_IN_PATH)?;
    let path = if path.is_empty() || path.starts_with('/') { path } else { format!("/{path}") };
    change_request(&call, |request| request.extra_path = path);
    changed(call, &["RequestPath"])
}

pub(super) fn set_request_raw_query<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let query = encoded(&call, NOT_IN_QUERY)?;
    let query = query.strip_prefix('?').unwrap_or(&query).to_owned();
    change_request(&call, |request| request.raw_query = query);
    changed(call, &["RequestRawQuery", "RequestQuery"])
}

/// Argument 1 as it may stand in a request line.
fn encoded<'gc>(call: &Call<'gc, '_>, not: &'static AsciiSet) -> Result<String, Error<'gc>> {
    request::encoded(call.check_string(1)?.as_bytes(), not).ok_or_else(|| too_long(call, 1))
}

fn too_long<'gc>(call: &Call<'gc, '_>, index: usize) -> Error<'gc> {
    call.bad_argument(index, format!("longer than {MAX_TEXT_BYTES} bytes"))
}

fn header_name<'gc>(call: &Call<'gc, '_>) -> Result<HeaderName, Error<'gc>> {
    HeaderName::from_bytes(call.check_string(1)?.as_bytes())
        .map_err(|_| call.bad_argument(1, "not a header name"))
}

fn header<'gc>(call: &Call<'gc, '_>) -> Result<(HeaderName, HeaderValue), Error<'gc>> {
    let name = header_name(call)?;
    let value = call.check_string(2)?;
    if value.as_bytes().len() > MAX_TEXT_BYTES {
        return Err(too_long(call, 2));
    }
    let value = HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| call.bad_argument(2, "control characters in a header's value"))?;
    Ok((name, value))
}

/// Ends setting a header of this field, unless there were too many.
fn header_set<'gc>(call: Call<'gc, '_>, set: bool, field: &'static str) -> Outcome<'gc> {
    if !set {
        return Err(call.fail(format!("too many headers, at most {MAX_HEADERS}")));
    }
    changed(call, &[field])
}

fn set_request_header<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let (name, value) = header(&call)?;
    let set = match &mut call.host.script.borrow_mut().request {
        Some(request) => request::set_header(&mut request.headers, name, value),
        None => true,
    };
    header_set(call, set, "RequestHeader")
}

fn delete_request_header<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let name = header_name(&call)?;
    change_request(&call, |request| drop(request.headers.remove(name)));
    changed(call, &["RequestHeader"])
}

pub(super) fn set_response_body<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let body = body(&mut call)?;
    change_response(&call, |response| response.body = body);
    changed(call, &["ResponseBody"])
}

pub(super) fn set_response_status_code<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let status = call.check_int(1)?;
    let status = u16::try_from(status).ok().filter(|status| (200..=599).contains(status));
    let status = status.ok_or_else(|| call.bad_argument(1, "not a status from 200 to 599"))?;
    change_response(&call, |response| response.status = status);
    changed(call, &["ResponseStatusCode"])
}

fn set_response_header<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    let (name, value) = header(&call)?;
    let set =
        change_response(&call, |response| request::set_header(&mut response.headers, name, value));
    header_set(call, set, "ResponseHeader")
}

fn stop_forwarding<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    drop_self(&mut call);
    call.host.script.borrow_mut().stop_forwarding = true;
    call.done_all([])
}
