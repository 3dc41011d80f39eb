//! Running what was written with the runtime that will run it.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header::CONTENT_TYPE};
use webhook_core::{
    AccountId, FunctionId,
    function::{FunctionRuntime, Invocation},
    model::{Checks, Driver, Request},
};

use super::Validate;

/// Runs written functions in a runtime, under the limits that functions have.
#[derive(Clone, Debug)]
pub struct InRuntime(pub Arc<dyn FunctionRuntime>);

#[async_trait]
impl Validate for InRuntime {
    async fn check(&self, driver: Driver, source: &str) -> Result<(), String> {
        self.0.check(driver, source).await.map_err(|error| error.to_string())
    }

    async fn run(
        &self,
        driver: Driver,
        source: &str,
        body: &[u8],
        content_type: &str,
    ) -> Result<Vec<u8>, String> {
        run(&*self.0, invocation(driver, source, body, content_type)).await
    }
}

/// The body that a call makes, or why it fails.
pub(crate) async fn run(
    runtime: &dyn FunctionRuntime,
    call: Invocation,
) -> Result<Vec<u8>, String> {
    let completion = runtime.run(call).await;
    completion.result.map(|left| left.request.body.to_vec()).map_err(|error| error.to_string())
}

/// One call of a source that is not stored: no account owns it yet, so it waits for its own turn only.
pub(crate) fn invocation(
    driver: Driver,
    source: &str,
    body: &[u8],
    content_type: &str,
) -> Invocation {
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::try_from(content_type) {
        headers.insert(CONTENT_TYPE, value);
    }
    let mut revision = DefaultHasher::new();
    source.hash(&mut revision);
    Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::from_uuid(uuid::Uuid::nil()),
        revision: revision.finish(),
        driver,
        source: Arc::from(source),
        config: Arc::new(BTreeMap::new()),
        metadata: BTreeMap::new(),
        checks: Checks::default(),
        request: Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers,
            body: Bytes::copy_from_slice(body),
        },
        response: None,
        trial: None,
    }
}
