//! Calls of scripts as tests make them.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, FunctionId,
    function::{
        Completion, FunctionError, FunctionRuntime, Invocation, ScriptLimits, ScriptOutcome,
    },
    model::{Checks, Driver, Request},
};

use crate::js::JsRuntime;

pub(super) fn runtime() -> JsRuntime {
    JsRuntime::builder().build().expect("threads")
}

pub(super) fn limited(change: impl FnOnce(&mut ScriptLimits)) -> JsRuntime {
    let mut limits = ScriptLimits::default();
    change(&mut limits);
    JsRuntime::builder().limits(limits).build().expect("threads")
}

pub(super) fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).parse().expect("a name"), (*value).parse().expect("a value")))
        .collect()
}

pub(super) fn invocation(source: &str) -> Invocation {
    Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::generate(),
        revision: 1,
        driver: Driver::Js,
        source: Arc::from(source),
        config: Arc::new(BTreeMap::from([("TOKEN".to_owned(), "secret".to_owned())])),
        metadata: BTreeMap::from([("bucket_name".to_owned(), "orders".to_owned())]),
        checks: Checks::default(),
        request: Request {
            method: Method::POST,
            extra_path: "/in".to_owned(),
            raw_query: "a=1&a=2&b=x%20y".to_owned(),
            headers: headers(&[("content-type", "application/json"), ("x-token", "t")]),
            body: Bytes::from_static(br#"{"name":"Ada","n":[1,2]}"#),
        },
        response: None,
        trial: None,
    }
}

pub(super) async fn complete(runtime: &JsRuntime, source: &str) -> Completion {
    runtime.run(invocation(source)).await
}

pub(super) async fn run(source: &str) -> ScriptOutcome {
    complete(&runtime(), source).await.result.expect(source)
}

pub(super) async fn fails(source: &str) -> FunctionError {
    complete(&runtime(), source).await.result.expect_err(source)
}

/// What the script leaves as the body.
pub(super) async fn body(source: &str) -> String {
    let body = run(source).await.request.body;
    String::from_utf8(body.to_vec()).expect("UTF-8")
}
