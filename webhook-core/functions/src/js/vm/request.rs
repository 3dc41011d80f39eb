//! What `r` reads and writes, for the part of it that is in the prelude.

use std::rc::Rc;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use percent_encoding::AsciiSet;
use rquickjs::{Array, Ctx, Exception, Object, Result};
use webhook_core::model::{Checks, Headers, Request};

use super::{
    add,
    host::{Host, Script},
};
use crate::{
    js::limit::Limit,
    modules::{
        form,
        request::{self, MAX_HEADERS, MAX_TEXT_BYTES, NOT_IN_PATH, NOT_IN_QUERY, set_header},
    },
};

/// Adds the functions that most scripts need to `natives`. Those with the argument
/// `answer` are for the response when it is true and for the request when it is not.
pub(super) fn install<'js>(host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let h = Rc::clone(host);
    add(natives, "line", move |part: String| {
        read(&h, |s| {
            let Request { method, extra_path, raw_query, .. } = s.request.as_ref()?;
            Some(match part.as_str() {
                "method" => method.as_str().to_owned(),
                "path" => extra_path.clone(),
                _ => raw_query.clone(),
            })
        })
    })?;
    let h = Rc::clone(host);
    add(natives, "stop", move || h.script.borrow_mut().stop_forwarding = true)?;
    let h = Rc::clone(host);
    add(natives, "body", move |answer: bool| {
        // What is not UTF-8 is shown with U+FFFD; `bytes` gives it as it is.
        read(&h, |s| s.body(answer).map(|body| String::from_utf8_lossy(body).into_owned()))
    })?;
    let h = Rc::clone(host);
    add(natives, "setBody", move |ctx: Ctx<'js>, answer: bool, text: String| {
        h.set_body(&ctx, answer, Bytes::from(text))
    })?;
    let h = Rc::clone(host);
    add(natives, "setHeader", move |ctx: Ctx<'js>, answer: bool, name: String, value: String| {
        let name_and_value = (header_name(&ctx, &name)?, header_value(&ctx, &name, &value)?);
        let mut script = h.script.borrow_mut();
        let set = script.headers_mut(answer).is_none_or(|headers| {
            let (name, value) = name_and_value;
            set_header(headers, name, value)
        });
        drop(script);
        if set {
            Ok(())
        } else {
            Err(fail(&ctx, &format!("too many headers, at most {MAX_HEADERS}")))
        }
    })
}

/// Adds the functions of the host that `fields` needs as well.
pub(super) fn install_fields<'js>(host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let h = Rc::clone(host);
    add(natives, "setMethod", move |ctx: Ctx<'js>, text: String| {
        let method = Method::from_bytes(text.to_ascii_uppercase().as_bytes())
            .map_err(|_| fail(&ctx, &format!("{text:?} is not a request method")))?;
        change_request(&h, |request| request.method = method)
    })?;
    let h = Rc::clone(host);
    add(natives, "setPath", move |ctx: Ctx<'js>, text: String| {
        let path = encoded(&ctx, "the path", &text, NOT_IN_PATH)?;
        let absolute = path.is_empty() || path.starts_with('/');
        let path = if absolute { path } else { format!("/{path}") };
        change_request(&h, |request| request.extra_path = path)
    })?;
    let h = Rc::clone(host);
    add(natives, "setRawQuery", move |ctx: Ctx<'js>, text: String| {
        let text = text.strip_prefix('?').unwrap_or(&text);
        let query = encoded(&ctx, "the query", text, NOT_IN_QUERY)?;
        change_request(&h, |request| request.raw_query = query)
    })?;
    let h = Rc::clone(host);
    add(natives, "query", move || {
        let query = read(&h, |s| s.request.as_ref().map(|request| request.raw_query.clone()));
        let pairs = url::form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes());
        pairs.flat_map(|(key, value)| [key.into_owned(), value.into_owned()]).collect::<Vec<_>>()
    })?;
    let h = Rc::clone(host);
    add(natives, "form", move |ctx: Ctx<'js>| {
        let mut bounds = h.bounds();
        let form = read(&h, |s| {
            let request = s.request.as_ref()?;
            Some(form::parse(&request.headers, &request.body, &mut bounds))
        });
        let form = form.transpose().map_err(|error| h.refuse(&ctx, &error))?;
        let flat = Array::new(ctx.clone())?;
        for (index, part) in form.unwrap_or_default().into_iter().enumerate() {
            flat.set(4 * index, String::from_utf8_lossy(&part.name).into_owned())?;
            flat.set(4 * index + 1, part.file_name)?;
            flat.set(4 * index + 2, part.content_type)?;
            match String::from_utf8(part.body) {
                Ok(text) => flat.set(4 * index + 3, text)?,
                Err(bytes) => {
                    flat.set(4 * index + 3, h.give_bytes(&ctx, bytes.as_bytes())?)?;
                }
            }
        }
        Ok::<_, rquickjs::Error>(flat)
    })?;
    let h = Rc::clone(host);
    add(natives, "utf8", move |ctx: Ctx<'js>, text: String| h.give_bytes(&ctx, text.as_bytes()))?;
    let h = Rc::clone(host);
    add(natives, "metadata", move || {
        let script = h.script.borrow();
        let pairs = script.metadata.iter();
        pairs.flat_map(|(key, value)| [key.clone(), value.clone()]).collect::<Vec<_>>()
    })?;
    let h = Rc::clone(host);
    add(natives, "checks", move |ctx: Ctx<'js>| {
        let script = h.script.borrow();
        let Checks { verified, event, duplicate_of, .. } = &script.checks;
        let list = Array::new(ctx)?;
        list.set(0, *verified)?;
        list.set(1, event.as_deref())?;
        list.set(2, duplicate_of.map(|log| log.to_string()))?;
        Ok::<_, rquickjs::Error>(list)
    })?;
    let h = Rc::clone(host);
    add(natives, "status", move || {
        read(&h, |s| s.response.as_ref().map(|response| response.status))
    })?;
    let h = Rc::clone(host);
    add(natives, "setStatus", move |ctx: Ctx<'js>, status: f64| {
        // A number with a fraction, or one that the type cannot hold, is out of the range as well.
        let whole = (200.0..=599.0).contains(&status) && status.fract() == 0.0;
        if !whole {
            return Err(fail(&ctx, &format!("{status} is not a status from 200 to 599")));
        }
        h.script.borrow_mut().answer().status = status as u16;
        Ok(())
    })?;
    let h = Rc::clone(host);
    add(natives, "log", move |line: String| h.log(&line))?;
    let h = Rc::clone(host);
    add(natives, "config", move |key: String| h.script.borrow().config.get(&key).cloned())?;
    let h = Rc::clone(host);
    add(natives, "bytes", move |ctx: Ctx<'js>, answer: bool| {
        let body = read(&h, |s| s.body(answer).cloned());
        body.map(|body| h.give_bytes(&ctx, &body)).transpose()
    })?;
    let h = Rc::clone(host);
    add(natives, "setBytes", move |ctx: Ctx<'js>, answer: bool, base64: String| {
        let bytes = STANDARD.decode(base64).map_err(|_| fail(&ctx, "not bytes"))?;
        h.set_body(&ctx, answer, Bytes::from(bytes))
    })?;
    let h = Rc::clone(host);
    add(natives, "header", move |answer: bool, name: String| {
        read(&h, |s| {
            let value = s.headers(answer)?.get(name.as_str())?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
    })?;
    let h = Rc::clone(host);
    add(natives, "headerNames", move |answer: bool| {
        let names = read(&h, |s| {
            let keys = s.headers(answer)?.keys();
            Some(keys.map(Headers::canonical_name).collect::<Vec<_>>())
        });
        names.unwrap_or_default()
    })?;
    let h = Rc::clone(host);
    add(natives, "deleteHeader", move |ctx: Ctx<'js>, answer: bool, name: String| {
        let key = header_name(&ctx, &name)?;
        if let Some(headers) = h.script.borrow_mut().headers_mut(answer) {
            headers.remove(key);
        }
        Ok::<_, rquickjs::Error>(())
    })
}

fn read<T>(host: &Host, read: impl FnOnce(&Script) -> Option<T>) -> Option<T> {
    read(&host.script.borrow())
}

fn change_request(host: &Host, change: impl FnOnce(&mut Request)) -> Result<()> {
    if let Some(request) = &mut host.script.borrow_mut().request {
        change(request);
    }
    Ok(())
}

fn fail(ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
    Exception::throw_type(ctx, message)
}

fn header_name(ctx: &Ctx<'_>, name: &str) -> Result<HeaderName> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| fail(ctx, &format!("{name:?} is not a header name")))
}

fn header_value(ctx: &Ctx<'_>, name: &str, value: &str) -> Result<HeaderValue> {
    let valid = Some(value.as_bytes()).filter(|value| value.len() <= MAX_TEXT_BYTES);
    valid.and_then(|value| HeaderValue::from_bytes(value).ok()).ok_or_else(|| {
        fail(ctx, &format!("header {name:?}: control characters or over 65536 bytes"))
    })
}

/// A text as it may stand in a request line.
fn encoded(ctx: &Ctx<'_>, what: &str, text: &str, not: &'static AsciiSet) -> Result<String> {
    let encoded = request::encoded(text.as_bytes(), not);
    encoded.ok_or_else(|| fail(ctx, &format!("{what} is longer than {MAX_TEXT_BYTES} bytes")))
}

impl Script {
    fn answer(&mut self) -> &mut webhook_core::function::ScriptResponse {
        self.response_modified = true;
        self.response.get_or_insert_default()
    }

    fn body(&self, answer: bool) -> Option<&Bytes> {
        match answer {
            true => self.response.as_ref().map(|response| &response.body),
            false => self.request.as_ref().map(|request| &request.body),
        }
    }

    fn headers(&self, answer: bool) -> Option<&HeaderMap> {
        match answer {
            true => self.response.as_ref().map(|response| &response.headers),
            false => self.request.as_ref().map(|request| &request.headers),
        }
    }

    fn headers_mut(&mut self, answer: bool) -> Option<&mut HeaderMap> {
        match answer {
            true => Some(&mut self.answer().headers),
            false => self.request.as_mut().map(|request| &mut request.headers),
        }
    }
}

impl Host {
    fn set_body(&self, ctx: &Ctx<'_>, answer: bool, body: Bytes) -> Result<()> {
        if body.len() > self.limits.body_bytes {
            return Err(self.exceed(ctx, Limit::BodyBytes));
        }
        let mut script = self.script.borrow_mut();
        match (answer, &mut script.request) {
            (true, _) => script.answer().body = body,
            (false, Some(request)) => request.body = body,
            (false, None) => {}
        }
        Ok(())
    }
}
