//! Running a script in its languages and looking for what differs.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header::AUTHORIZATION};
use serde_json::Value;
use webhook_core::{
    AccountId, Clock, FunctionId, Timestamp,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    function::{FunctionRuntime, Invocation, ScriptOutcome},
    model::{Checks, Driver},
};
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};

use crate::{page::Scripts, scenario::Case};

/// Both runtimes, and what they meet.
pub(crate) struct Runtimes {
    lua: LuaRuntime,
    js: JsRuntime,
    upstream: Arc<Upstream>,
    clock: Arc<Moment>,
}

/// A clock that shows when the webhook of a case comes.
#[derive(Debug, Default)]
struct Moment(AtomicI64);

#[async_trait]
impl Clock for Moment {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(self.0.load(Ordering::Relaxed))
    }

    async fn sleep_until(&self, _moment: Timestamp) {}
}

/// Answers only what the case expects to be asked.
#[derive(Debug, Default)]
struct Upstream(Mutex<BTreeMap<String, (u16, &'static str)>>);

#[async_trait]
impl Forwarder for Upstream {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        let token = request.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let key = format!("{} {} {}", request.method, request.url, token.unwrap_or_default());
        let answer = self.0.lock().expect("nobody panics").get(key.trim()).copied();
        let Some((status, body)) = answer else {
            return Err(ForwardError::Connect {
                reason: format!("nobody at {key}"),
                source: None,
                timings: None,
            });
        };
        let status = StatusCode::from_u16(status).expect("a status");
        let mut response = ForwardResponse::empty(status);
        response.body = Bytes::from_static(body.as_bytes());
        Ok(response)
    }
}

impl Runtimes {
    pub(crate) fn start() -> Self {
        let upstream = Arc::new(Upstream::default());
        let clock = Arc::new(Moment::default());
        let lua = LuaRuntime::builder().threads(1).clock(clock.clone());
        let js = JsRuntime::builder().clock(clock.clone());
        Self {
            lua: lua.forwarder(upstream.clone()).build().expect("threads"),
            js: js.forwarder(upstream.clone()).build().expect("threads"),
            upstream,
            clock,
        }
    }

    /// How what the scripts leave differs from what is wanted.
    pub(crate) async fn differences(
        &self,
        scripts: &Scripts,
        title: &str,
        case: Case,
    ) -> Vec<String> {
        *self.upstream.0.lock().expect("nobody panics") = case.given.upstream.clone();
        self.clock.0.store(case.given.now, Ordering::Relaxed);
        let mut differences = Vec::new();
        for (driver, source) in scripts {
            let driver = *driver;
            let place = format!("{title}, {}, in {driver:?}", case.name);
            let invocation = Invocation {
                account_id: AccountId::generate(),
                function_id: FunctionId::generate(),
                revision: 1,
                driver,
                source: Arc::clone(source),
                config: Arc::new(case.given.config.clone()),
                metadata: BTreeMap::from([("bucket_name".to_owned(), "orders".to_owned())]),
                checks: Checks::default(),
                request: case.given.request.clone(),
                response: case.given.response.clone(),
                trial: None,
            };
            let completion = match driver {
                Driver::Js => self.js.run(invocation).await,
                _ => self.lua.run(invocation).await,
            };
            match (&case.wanted, completion.result) {
                (Ok(wanted), Ok(left)) => {
                    let (wanted, left) = (shown(wanted), shown(&left));
                    if wanted != left {
                        differences.push(format!("{place}:\n wanted {wanted}\n left   {left}"));
                    }
                }
                (Err(why), Err(error)) if error.to_string().contains(why) => {}
                (wanted, came) => {
                    differences.push(format!("{place}:\n wanted {wanted:?}\n came {came:?}"));
                }
            }
        }
        differences
    }
}

/// An outcome in which JSON is what it means, so that the order of keys does not count.
fn shown(outcome: &ScriptOutcome) -> Value {
    let ScriptOutcome { request, response, response_modified, stop_forwarding } = outcome;
    let body = |body: &Bytes| match serde_json::from_slice(body) {
        Ok(json @ (Value::Object(_) | Value::Array(_))) => json,
        _ => Value::String(String::from_utf8_lossy(body).into_owned()),
    };
    let headers = |headers: &HeaderMap| {
        let mut pairs: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        pairs.sort();
        Value::from(pairs)
    };
    serde_json::json!({
        "method": request.method.as_str(),
        "path": request.extra_path,
        "query": request.raw_query,
        "headers": headers(&request.headers),
        "body": body(&request.body),
        "response": response.as_ref().map(|response| serde_json::json!({
            "status": response.status,
            "headers": headers(&response.headers),
            "body": body(&response.body),
        })),
        "response_modified": response_modified,
        "stop_forwarding": stop_forwarding,
    })
}
