//! Running a script as the relay would.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, FunctionId,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    function::{Completion, FunctionError, FunctionRuntime, Invocation, ScriptOutcome},
    model::{Checks, Driver, Request},
};
use webhook_functions::lua::LuaRuntime;

/// A request with a JSON body.
pub(crate) fn request(body: &str) -> Request {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", "application/json".parse().expect("a header value"));
    headers.insert("x-github-event", "push".parse().expect("a header value"));
    Request {
        method: Method::POST,
        extra_path: "/a/b".to_owned(),
        raw_query: "k=v&k=w&x=1%202".to_owned(),
        headers,
        body: Bytes::copy_from_slice(body.as_bytes()),
    }
}

/// A call of `source` by an account and a function of their own.
pub(crate) fn invocation(source: &str) -> Invocation {
    Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::generate(),
        revision: 1,
        driver: Driver::Lua,
        source: Arc::from(source),
        config: Arc::new(BTreeMap::from([("TOKEN".to_owned(), "secret".to_owned())])),
        metadata: BTreeMap::from([("bucket_name".to_owned(), "orders".to_owned())]),
        checks: Checks::default(),
        request: request(r#"{"a":1}"#),
        response: None,
        trial: None,
    }
}

pub(crate) fn runtime() -> LuaRuntime {
    LuaRuntime::builder().threads(1).build().expect("threads")
}

/// Runs a script once in a runtime of its own.
pub(crate) async fn complete(source: &str) -> Completion {
    runtime().run(invocation(source)).await
}

/// What a script leaves; panics with its error.
pub(crate) async fn outcome(source: &str) -> ScriptOutcome {
    let completion = complete(source).await;
    completion.result.unwrap_or_else(|error| panic!("{error}\nlogs: {:?}", completion.logs))
}

/// What a script prints; panics with its error.
pub(crate) async fn output(source: &str) -> Vec<String> {
    let completion = complete(source).await;
    if let Err(error) = &completion.result {
        panic!("{error}\nlogs: {:?}", completion.logs);
    }
    completion.logs
}

/// Why a script fails.
pub(crate) async fn failure(source: &str) -> FunctionError {
    complete(source).await.result.expect_err("the script should fail")
}

/// Answers every request in the same way.
#[derive(Debug)]
pub(crate) struct StubForwarder {
    body: &'static str,
    /// What was sent.
    pub(crate) requests: Mutex<Vec<ForwardRequest>>,
}

impl StubForwarder {
    pub(crate) fn answering(body: &'static str) -> Arc<Self> {
        Arc::new(Self { body, requests: Mutex::default() })
    }
}

#[async_trait]
impl Forwarder for StubForwarder {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        let host = request.url.host().unwrap_or_default().to_owned();
        let limit = request.max_response_bytes;
        self.requests.lock().expect("nobody panics").push(request);
        match host.as_str() {
            "refused.example" => Err(ForwardError::Refused("10.0.0.1 is private".to_owned())),
            "slow.example" => std::future::pending().await,
            _ => {
                let mut headers = HeaderMap::new();
                headers.insert("x-answer", "yes".parse().expect("a header value"));
                headers.append("set-cookie", "a=1; Path=/".parse().expect("a header value"));
                let body =
                    if host == "large.example" { vec![b'x'; limit] } else { self.body.into() };
                let mut response = ForwardResponse::empty(http::StatusCode::CREATED);
                response.headers = headers;
                response.body = Bytes::from(body);
                response.truncated = host == "large.example";
                Ok(response)
            }
        }
    }
}
