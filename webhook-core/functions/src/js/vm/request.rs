//! What `r` reads and writes, for the part of it that is in the prelude.

use std::rc::Rc;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use rquickjs::{Array, Ctx, Exception, Function, Object, Result};
use webhook_core::model::{Checks, Headers, Request};

use super::host::{Host, Script};
use crate::{js::limit::Limit, modules::form};

/// The longest path, query or header that a script may set, in bytes.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Headers that a script may leave; beyond that no server takes the request.
const MAX_HEADERS: usize = 1_000;

/// Adds the functions that most scripts need to `natives`. Those with the argument
/// `answer` are for the response when it is true and for the request when it is not.
pub(super) fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let function = |name: &str, function: Result<Function<'js>>| natives.set(name, function?);
    let new = || (ctx.clone(), Rc::clone(host));

    let (c, h) = new();
    function(
        "line",
        Function::new(c, move |part: String| {
            read(&h, |s| {
                let Request { method, extra_path, raw_query, .. } = s.request.as_ref()?;
                Some(match part.as_str() {
                    "method" => method.as_str().to_owned(),
                    "path" => extra_path.clone(),
                    _ => raw_query.clone(),
                })
            })
        }),
    )?;
    let (c, h) = new();
    function("stop", Function::new(c, move || write(&h, |s| s.stop_forwarding = true)))?;
    body(ctx, host, natives)?;
    set_header(ctx, host, natives)
}

/// Adds what `fields` needs of the host beside that.
pub(super) fn install_fields<'js>(
    ctx: &Ctx<'js>,
    host: &Rc<Host>,
    natives: &Object<'js>,
) -> Result<()> {
    let function = |name: &str, function: Result<Function<'js>>| natives.set(name, function?);
    let new = || (ctx.clone(), Rc::clone(host));

    let (c, h) = new();
    function(
        "setMethod",
        Function::new(c, move |ctx: Ctx<'js>, text: String| {
            let method = Method::from_bytes(text.to_ascii_uppercase().as_bytes());
            let method =
                method.map_err(|_| fail(&ctx, &format!("{text:?} is not a request method")))?;
            write(&h, |s| {
                if let Some(request) = &mut s.request {
                    request.method = method
                }
            });
            Ok::<_, rquickjs::Error>(())
        }),
    )?;
    let (c, h) = new();
    function(
        "setPath",
        Function::new(c, move |ctx: Ctx<'js>, text: String| {
            let path = encoded(&ctx, "the path", &text, b"?#")?;
            let absolute = path.is_empty() || path.starts_with('/');
            let path = if absolute { path } else { format!("/{path}") };
            write(&h, |s| {
                if let Some(request) = &mut s.request {
                    request.extra_path = path
                }
            });
            Ok::<_, rquickjs::Error>(())
        }),
    )?;
    let (c, h) = new();
    function(
        "setRawQuery",
        Function::new(c, move |ctx: Ctx<'js>, text: String| {
            let query = encoded(&ctx, "the query", text.strip_prefix('?').unwrap_or(&text), b"#")?;
            write(&h, |s| {
                if let Some(request) = &mut s.request {
                    request.raw_query = query
                }
            });
            Ok::<_, rquickjs::Error>(())
        }),
    )?;
    let (c, h) = new();
    function(
        "query",
        Function::new(c, move || {
            let query = read(&h, |s| s.request.as_ref().map(|request| request.raw_query.clone()));
            let pairs =
                url::form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes());
            pairs
                .flat_map(|(key, value)| [key.into_owned(), value.into_owned()])
                .collect::<Vec<_>>()
        }),
    )?;
    let (c, h) = new();
    function(
        "form",
        Function::new(c, move |ctx: Ctx<'js>| {
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
        }),
    )?;
    let (c, h) = new();
    function(
        "utf8",
        Function::new(c, move |ctx: Ctx<'js>, text: String| h.give_bytes(&ctx, text.as_bytes())),
    )?;
    let (c, h) = new();
    function(
        "metadata",
        Function::new(c, move || {
            let script = h.script.borrow();
            let pairs = script.metadata.iter();
            pairs.flat_map(|(key, value)| [key.clone(), value.clone()]).collect::<Vec<_>>()
        }),
    )?;
    let (c, h) = new();
    function(
        "checks",
        Function::new(c, move |ctx: Ctx<'js>| {
            let script = h.script.borrow();
            let Checks { verified, event, duplicate_of, .. } = &script.checks;
            let list = Array::new(ctx)?;
            list.set(0, *verified)?;
            list.set(1, event.as_deref())?;
            list.set(2, duplicate_of.map(|log| log.to_string()))?;
            Ok::<_, rquickjs::Error>(list)
        }),
    )?;
    let (c, h) = new();
    function(
        "status",
        Function::new(c, move || read(&h, |s| s.response.as_ref().map(|response| response.status))),
    )?;
    let (c, h) = new();
    function(
        "setStatus",
        Function::new(c, move |ctx: Ctx<'js>, status: f64| {
            // What is no whole number, or too large for the type, is out of the range as well.
            let whole = (200.0..=599.0).contains(&status) && status.fract() == 0.0;
            if !whole {
                return Err(fail(&ctx, &format!("{status} is not a status from 200 to 599")));
            }
            write(&h, |s| s.answer().status = status as u16);
            Ok(())
        }),
    )?;
    let (c, h) = new();
    function("log", Function::new(c, move |line: String| h.log(&line)))?;
    let (c, h) = new();
    function(
        "config",
        Function::new(c, move |key: String| h.script.borrow().config.get(&key).cloned()),
    )?;
    bytes(ctx, host, natives)?;
    headers(ctx, host, natives)
}

fn body<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let h = Rc::clone(host);
    let text = move |answer: bool| {
        // What is not UTF-8 is shown with U+FFFD; `bytes` gives it as it is.
        read(&h, |s| s.body(answer).map(|body| String::from_utf8_lossy(body).into_owned()))
    };
    natives.set("body", Function::new(ctx.clone(), text)?)?;
    let h = Rc::clone(host);
    let set_text = move |ctx: Ctx<'js>, answer: bool, text: String| {
        h.set_body(&ctx, answer, Bytes::from(text))
    };
    natives.set("setBody", Function::new(ctx.clone(), set_text)?)
}

fn bytes<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let h = Rc::clone(host);
    let bytes = move |ctx: Ctx<'js>, answer: bool| {
        let body = read(&h, |s| s.body(answer).cloned());
        body.map(|body| h.give_bytes(&ctx, &body)).transpose()
    };
    natives.set("bytes", Function::new(ctx.clone(), bytes)?)?;
    let h = Rc::clone(host);
    let set_bytes = move |ctx: Ctx<'js>, answer: bool, base64: String| {
        let bytes = STANDARD.decode(base64).map_err(|_| fail(&ctx, "not bytes"))?;
        h.set_body(&ctx, answer, Bytes::from(bytes))
    };
    natives.set("setBytes", Function::new(ctx.clone(), set_bytes)?)
}

fn set_header<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let h = Rc::clone(host);
    let set = move |ctx: Ctx<'js>, answer: bool, name: String, value: String| {
        let key = header_name(&ctx, &name)?;
        let valid = Some(value.as_bytes()).filter(|value| value.len() <= MAX_TEXT_BYTES);
        let value = valid.and_then(|value| HeaderValue::from_bytes(value).ok());
        let value = value.ok_or_else(|| {
            fail(&ctx, &format!("header {name:?}: control characters or over 65536 bytes"))
        })?;
        let mut script = h.script.borrow_mut();
        let headers = script.headers_mut(answer);
        let full = headers.is_some_and(|headers| {
            let full = headers.len() >= MAX_HEADERS && !headers.contains_key(&key);
            full || headers.try_insert(key, value).is_err()
        });
        drop(script);
        if full {
            return Err(fail(&ctx, &format!("too many headers, at most {MAX_HEADERS}")));
        }
        Ok(())
    };
    natives.set("setHeader", Function::new(ctx.clone(), set)?)
}

fn headers<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let h = Rc::clone(host);
    let get = move |answer: bool, name: String| {
        read(&h, |s| {
            let value = s.headers(answer)?.get(name.as_str())?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
    };
    natives.set("header", Function::new(ctx.clone(), get)?)?;
    let h = Rc::clone(host);
    let names = move |answer: bool| {
        let names = read(&h, |s| {
            let keys = s.headers(answer)?.keys();
            Some(keys.map(Headers::canonical_name).collect::<Vec<_>>())
        });
        names.unwrap_or_default()
    };
    natives.set("headerNames", Function::new(ctx.clone(), names)?)?;
    let h = Rc::clone(host);
    let delete = move |ctx: Ctx<'js>, answer: bool, name: String| {
        let key = header_name(&ctx, &name)?;
        if let Some(headers) = h.script.borrow_mut().headers_mut(answer) {
            headers.remove(key);
        }
        Ok::<_, rquickjs::Error>(())
    };
    natives.set("deleteHeader", Function::new(ctx.clone(), delete)?)
}

fn read<T>(host: &Host, read: impl FnOnce(&Script) -> Option<T>) -> Option<T> {
    read(&host.script.borrow())
}

fn write(host: &Host, write: impl FnOnce(&mut Script)) {
    write(&mut host.script.borrow_mut());
}

fn fail(ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
    Exception::throw_type(ctx, message)
}

fn header_name(ctx: &Ctx<'_>, name: &str) -> Result<HeaderName> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| fail(ctx, &format!("{name:?} is not a header name")))
}

/// Percent-encodes what cannot stand in a request line, and the bytes of `also`.
fn encoded(ctx: &Ctx<'_>, what: &str, text: &str, also: &[u8]) -> Result<String> {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !also.contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
        if out.len() > MAX_TEXT_BYTES {
            return Err(fail(ctx, &format!("{what} is longer than {MAX_TEXT_BYTES} bytes")));
        }
    }
    Ok(out)
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
