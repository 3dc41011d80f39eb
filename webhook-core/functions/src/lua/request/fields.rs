//! What a script reads of `r`. Nothing is made before it is read.

use http::HeaderMap;
use piccolo::{String, Table, Value};
use webhook_core::{
    function::ScriptResponse,
    model::{Headers, Request},
};

use super::{method_named, setters};
use crate::{
    list::list_of,
    lua::vm::{
        Limit,
        call::{Call, Native, Outcome, new_string},
    },
    modules::form::{self, Part},
};

/// What can be read, besides methods.
pub(super) const FIELDS: [&str; 15] = list_of(
    "RequestBody RequestMethod RequestPath RequestRawQuery RequestHeader RequestQuery \
    RequestFormData RequestFormParts Metadata Verified EventType DuplicateOf ResponseBody \
    ResponseStatusCode ResponseHeader",
);

/// `r.name`
pub(super) fn index<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let Value::String(name) = call.arg(2) else { return call.done(Value::Nil) };
    if !FIELDS.iter().any(|field| field.as_bytes() == name.as_bytes()) {
        let method = method_named(&call);
        return call.done(method);
    }
    let kept = call.host.kept(call.ctx);
    // What was set since is marked by false.
    let known = kept.get(call.ctx, name);
    if known.to_bool() {
        return call.done(known);
    }
    let value = match name.as_bytes() {
        b"RequestBody" => text(&call, request(&call, |request| request.body.to_vec())),
        b"RequestMethod" => text(&call, request(&call, |request| request.method.to_string())),
        b"RequestPath" => text(&call, request(&call, |request| request.extra_path.clone())),
        b"RequestRawQuery" => text(&call, request(&call, |request| request.raw_query.clone())),
        b"RequestHeader" => {
            let headers = request(&call, |request| request.headers.clone());
            headers.map(|headers| header_table(&call, &headers))
        }
        b"RequestQuery" => {
            let query = request(&call, |request| request.raw_query.clone());
            query.map(|query| query_table(&call, &query))
        }
        b"RequestFormData" | b"RequestFormParts" => {
            let mut bounds = call.bounds();
            let form =
                request(&call, |request| form::parse(&request.headers, &request.body, &mut bounds));
            let table = if name.as_bytes() == b"RequestFormData" { form_table } else { part_list };
            match form.transpose() {
                Ok(form) => form.map(|form| table(&call, form)),
                Err(error) => return call.done_error(&error),
            }
        }
        b"Metadata" => Some(metadata_table(&call)),
        b"Verified" => call.host.script.borrow().checks.verified.map(Value::Boolean),
        b"EventType" => {
            let event = call.host.script.borrow().checks.event.clone();
            text(&call, event)
        }
        b"DuplicateOf" => {
            let log = call.host.script.borrow().checks.duplicate_of;
            text(&call, log.map(|log| log.to_string()))
        }
        b"ResponseBody" => text(&call, response(&call, |response| response.body.to_vec())),
        b"ResponseStatusCode" => {
            response(&call, |response| Value::Integer(i64::from(response.status)))
        }
        b"ResponseHeader" => {
            let headers = response(&call, |response| response.headers.clone());
            headers.map(|headers| header_table(&call, &headers))
        }
        _ => None,
    };
    let value = value.unwrap_or_default();
    if call.room() == 0 {
        return Err(call.exceed(Limit::Memory));
    }
    if let Value::String(text) = value {
        call.charge_bytes(text.as_bytes().len());
    }
    if !value.is_nil() {
        // The name is no nil.
        let _ = kept.set(call.ctx, name, value);
    }
    call.done(value)
}

/// `r.name = value`, which does the same as `r:SetName(value)`.
pub(super) fn new_index<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (name, value) = (call.arg(2), call.arg(3));
    let setter: Native = match &name {
        Value::String(name) => match name.as_bytes() {
            b"RequestBody" => setters::set_request_body,
            b"RequestMethod" => setters::set_request_method,
            b"RequestPath" => setters::set_request_path,
            b"RequestRawQuery" => setters::set_request_raw_query,
            b"ResponseBody" => setters::set_response_body,
            b"ResponseStatusCode" => setters::set_response_status_code,
            _ => return Err(call.fail(format!("r has no field '{name}' that can be set"))),
        },
        _ => return Err(call.fail("r has no such field")),
    };
    call.stack.clear();
    call.stack.push_back(value);
    setter(call)
}

fn request<T>(call: &Call<'_, '_>, read: impl FnOnce(&Request) -> T) -> Option<T> {
    call.host.script.borrow().request.as_ref().map(read)
}

fn response<T>(call: &Call<'_, '_>, read: impl FnOnce(&ScriptResponse) -> T) -> Option<T> {
    call.host.script.borrow().response.as_ref().map(read)
}

fn text<'gc>(call: &Call<'gc, '_>, text: Option<impl Into<Vec<u8>>>) -> Option<Value<'gc>> {
    text.map(|text| new_string(call.ctx, text.into()).into())
}

fn put<'gc>(call: &Call<'gc, '_>, table: Table<'gc>, key: &[u8], value: impl Into<Value<'gc>>) {
    let key = String::from_slice(&call.ctx, key);
    // Only nil and NaN are refused as keys.
    let _ = table.set_value(&call.ctx, key.into(), value.into());
}

pub(crate) fn header_table<'gc>(call: &Call<'gc, '_>, headers: &HeaderMap) -> Value<'gc> {
    let table = Table::new(&call.ctx);
    for name in headers.keys() {
        if let Some(value) = headers.get(name) {
            let value = String::from_slice(&call.ctx, value.as_bytes());
            put(call, table, Headers::canonical_name(name).as_bytes(), value);
        }
    }
    if let Some(tables) = call.host.tables.get()
        && let Value::Table(metatable) = call.ctx.fetch(&tables.request).get(call.ctx, "headers")
    {
        table.set_metatable(&call.ctx, Some(metatable));
    }
    table.into()
}

/// `headers[name]` for a name that is not written in the canonical way.
pub(super) fn header<'gc>(call: Call<'gc, '_>) -> Outcome<'gc> {
    let (Value::Table(table), Value::String(name)) = (call.arg(1), call.arg(2)) else {
        return call.done(Value::Nil);
    };
    let canonical =
        http::HeaderName::from_bytes(name.as_bytes()).map(|name| Headers::canonical_name(&name));
    let value = match canonical {
        Ok(canonical) => table.get_value(String::from_slice(&call.ctx, canonical).into()),
        Err(_) => Value::Nil,
    };
    call.done(value)
}

fn query_table<'gc>(call: &Call<'gc, '_>, query: &str) -> Value<'gc> {
    let table = Table::new(&call.ctx);
    for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let key = String::from_slice(&call.ctx, key.as_bytes());
        if table.get_value(key.into()).is_nil() {
            let value = String::from_slice(&call.ctx, value.as_bytes());
            put(call, table, key.as_bytes(), value);
        }
    }
    table.into()
}

fn form_table<'gc>(call: &Call<'gc, '_>, form: Vec<Part>) -> Value<'gc> {
    let table = Table::new(&call.ctx);
    for Part { name, body, .. } in form {
        let key = String::from_slice(&call.ctx, &name);
        let list = match table.get_value(key.into()) {
            Value::Table(list) => list,
            _ => {
                let list = Table::new(&call.ctx);
                put(call, table, key.as_bytes(), list);
                list
            }
        };
        let index = Value::Integer(list.length().wrapping_add(1));
        let _ = list.set_value(&call.ctx, index, new_string(call.ctx, body).into());
    }
    table.into()
}

/// A table for each part, in the order of the body.
fn part_list<'gc>(call: &Call<'gc, '_>, form: Vec<Part>) -> Value<'gc> {
    let list = Table::new(&call.ctx);
    for (index, part) in (1..).zip(form) {
        let table = Table::new(&call.ctx);
        put(call, table, b"name", String::from_slice(&call.ctx, &part.name));
        if let Some(file_name) = part.file_name {
            put(call, table, b"file_name", String::from_slice(&call.ctx, file_name));
        }
        if let Some(content_type) = part.content_type {
            put(call, table, b"type", String::from_slice(&call.ctx, content_type));
        }
        put(call, table, b"body", new_string(call.ctx, part.body));
        let _ = list.set_value(&call.ctx, Value::Integer(index), table.into());
    }
    list.into()
}

fn metadata_table<'gc>(call: &Call<'gc, '_>) -> Value<'gc> {
    let table = Table::new(&call.ctx);
    for (key, value) in &call.host.script.borrow().metadata {
        put(call, table, key.as_bytes(), String::from_slice(&call.ctx, value));
    }
    table.into()
}
