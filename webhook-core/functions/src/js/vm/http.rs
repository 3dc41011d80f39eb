//! `http` and `time.sleep`, for the part of them that is in the prelude.

use std::{rc::Rc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use rquickjs::{Ctx, Exception, Object, Result as JsResult, Value};
use serde::Deserialize;
use serde_json::{Value as Tree, json};
use webhook_core::{
    forward::{ForwardError, ForwardRequest, ForwardResponse},
    model::Headers,
};

use super::{add, host::Host};
use crate::{
    js::limit::Limit,
    modules::{
        Bounds, ModuleError,
        http::{RequestOptions, cookies, request},
        tree::from_json,
    },
};

/// A request as the prelude asks for it.
#[derive(Deserialize)]
struct Wish {
    method: String,
    url: String,
    query: Option<Tree>,
    headers: Option<Tree>,
    cookies: Option<Tree>,
    form: Option<Tree>,
    /// Text, or base64 when `bytes` is set.
    body: Option<String>,
    #[serde(default)]
    bytes: bool,
    timeout_seconds: Option<f64>,
    auth: Option<(String, String)>,
}

/// Adds `send`, `answer` and `sleep`.
pub(super) fn install<'js>(host: &Rc<Host>, natives: &Object<'js>) -> JsResult<()> {
    let h = Rc::clone(host);
    add(natives, "send", move |ctx: Ctx<'js>, wishes: String| -> JsResult<Value<'js>> {
        let mut bounds = h.bounds();
        let failed = |error| Exception::throw_type(&ctx, &format!("http: {error}"));
        let read = from_json(wishes.as_bytes(), &mut bounds);
        let tree = read.map_err(|error| h.refuse(&ctx, &error))?.map_err(failed)?;
        let wishes: Vec<Wish> = serde_json::from_value(tree).map_err(failed)?;
        let calls = h.count_requests(wishes.len());
        if calls > h.limits.http_calls {
            return Err(h.exceed(&ctx, Limit::HttpCalls));
        }
        let built = wishes.into_iter().map(|wish| match h.build(wish, &mut bounds) {
            Ok(request) => Ok(Ok(request)),
            Err(ModuleError::Invalid(message)) => Ok(Err(message)),
            Err(error) => Err(h.refuse(&ctx, &error)),
        });
        let built = built.collect::<JsResult<Vec<_>>>()?;
        ctx.json_parse(Tree::Array(h.fulfil(built)).to_string())
    })?;
    let h = Rc::clone(host);
    add(natives, "answer", move |ctx: Ctx<'js>, index: usize| {
        let body = h.script.borrow().answers.get(index).cloned();
        body.map(|body| h.give_bytes(&ctx, &body)).transpose()
    })?;
    let h = Rc::clone(host);
    add(natives, "sleep", move |ctx: Ctx<'js>, seconds: f64| {
        if seconds.is_nan() || seconds < 0.0 {
            return Err(Exception::throw_type(&ctx, "not a number of seconds"));
        }
        // Longer than the call may take is as long as it may take.
        let longest = h.limits.total_time.as_secs_f64() + 1.0;
        h.sleep(Duration::from_secs_f64(seconds.min(longest)));
        Ok(())
    })
}

impl Host {
    fn count_requests(&self, requests: usize) -> usize {
        let mut script = self.script.borrow_mut();
        script.http_calls = script.http_calls.saturating_add(requests);
        script.http_calls
    }

    /// Sends what can be sent; each wish gets an answer or an `error`.
    fn fulfil(&self, built: Vec<Result<ForwardRequest, String>>) -> Vec<Tree> {
        let ready = built.iter().filter_map(|built| built.as_ref().ok().cloned()).collect();
        let mut sent = self.send(ready).into_iter();
        let answers = built.into_iter().map(|built| {
            let request = built?;
            let sent = sent
                .next()
                .unwrap_or_else(|| Err(ForwardError::Unsendable("the sender stopped".to_owned())));
            self.show(&request, sent.map_err(|error| format!("http: {error}"))?)
        });
        answers
            .map(|answer| answer.unwrap_or_else(|error: String| json!({ "error": error })))
            .collect()
    }

    fn build(&self, wish: Wish, bounds: &mut Bounds) -> Result<ForwardRequest, ModuleError> {
        let Wish { method, url, query, headers, cookies, form, body, bytes, timeout_seconds, auth } =
            wish;
        let body = match body {
            Some(base64) if bytes => {
                Some(STANDARD.decode(base64).map_err(|_| ModuleError::invalid("not bytes"))?)
            }
            text => text.map(String::into_bytes),
        };
        let timeout = match timeout_seconds {
            // Longer than any call lasts is as good as an hour.
            Some(seconds) => match Duration::try_from_secs_f64(seconds.min(3600.0)) {
                Ok(timeout) if !timeout.is_zero() => Some(timeout),
                _ => return Err(ModuleError::invalid("http: timeout must be a number of seconds")),
            },
            None => None,
        };
        let options = RequestOptions { query, headers, cookies, body, form, timeout, auth };
        let hops = self.script.borrow().checks.hops;
        request(&method, &url, options, hops, &self.limits, bounds)
    }

    fn show(&self, request: &ForwardRequest, response: ForwardResponse) -> Result<Tree, String> {
        if response.truncated {
            let limit = self.limits.http_response_bytes;
            return Err(format!("http: the answer's body is over the limit of {limit} bytes"));
        }
        let headers = response.headers.keys().filter_map(|name| {
            let value = response.headers.get(name)?;
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            Some((Headers::canonical_name(name), Tree::String(value)))
        });
        let jar = cookies(&response).into_iter().map(|(name, value)| (name, Tree::String(value)));
        let answer = json!({
            "body": String::from_utf8_lossy(&response.body),
            "body_size": response.body.len(),
            "status_code": response.status.as_u16(),
            "headers": Tree::Object(headers.collect()),
            "cookies": Tree::Object(jar.collect()),
            "url": request.url.to_string(),
            "index": self.script.borrow().answers.len(),
        });
        // At most as many as there may be calls.
        self.script.borrow_mut().answers.push(response.body);
        Ok(answer)
    }
}
