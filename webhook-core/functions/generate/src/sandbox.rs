//! Running a function of unknown origin: with keys of its own, which are gone afterwards.

use std::sync::Arc;

use async_trait::async_trait;
use webhook_core::{
    AccountId, FunctionId, Timestamp,
    function::{FunctionRuntime, Invocation},
    model::{Driver, Function, FunctionSpec},
    store::DocumentStore,
};

use super::Validate;
use super::validate::{InRuntime, invocation, run};

/// Runs written functions in a runtime whose values are in `store`. Before each run the function is stored, so that
/// `kv` works; after it the function and its values are removed.
///
/// Give it a runtime without a forwarder and with [`http_calls`](webhook_core::function::ScriptLimits::http_calls) 0:
/// then a function that sends a request ends at its limit. It sees no variables.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The runtime, with this store.
    pub runtime: Arc<dyn FunctionRuntime>,
    /// A store of its own, such as [`MemoryStore`](webhook_core::store::memory::MemoryStore).
    pub store: Arc<dyn DocumentStore>,
}

#[async_trait]
impl Validate for Sandbox {
    async fn check(&self, driver: Driver, source: &str) -> Result<(), String> {
        InRuntime(Arc::clone(&self.runtime)).check(driver, source).await
    }

    async fn run(
        &self,
        driver: Driver,
        source: &str,
        body: &[u8],
        content_type: &str,
    ) -> Result<Vec<u8>, String> {
        let call = invocation(driver, source, body, content_type);
        // A task of its own: a caller that stops waiting leaves no values behind.
        let ended = tokio::spawn(self.clone().once(call));
        ended.await.map_err(|error| error.to_string())?
    }
}

impl Sandbox {
    async fn once(self, mut call: Invocation) -> Result<Vec<u8>, String> {
        let (account_id, id) = (AccountId::generate(), FunctionId::generate());
        let mut spec = FunctionSpec::default();
        spec.driver = call.driver;
        let now = Timestamp::default();
        let function = Function::new(id, account_id, now, spec);
        let failed = |error: webhook_core::Error| error.to_string();
        self.store.create(account_id, &function).await.map_err(failed)?;
        call.account_id = account_id;
        call.function_id = id;
        let made = run(&*self.runtime, call).await;
        self.store.delete::<Function>(account_id, id.as_uuid()).await.map_err(failed)?;
        made
    }
}
