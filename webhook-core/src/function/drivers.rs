//! One runtime for all languages.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;

use super::{Completion, FunctionError, FunctionRuntime, Invocation};
use crate::model::Driver;

/// Gives each function to the runtime of its language. A language that has
/// none is refused as [`FunctionError::NoDriver`].
///
/// ```
/// use std::sync::Arc;
/// use webhook_core::{
///     function::{Drivers, FunctionRuntime},
///     model::Driver,
/// };
///
/// // For instance the `LuaRuntime` of `webhook-functions`.
/// async fn example(lua: Arc<dyn FunctionRuntime>) {
///     let runtime = Drivers::new().with(Driver::Lua, lua);
///     assert!(runtime.check(Driver::Lua, "r:StopForwarding()").await.is_ok());
///     assert!(runtime.check(Driver::Wasm, "").await.is_err());
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Drivers {
    by_driver: HashMap<Driver, Arc<dyn FunctionRuntime>>,
}

impl Drivers {
    /// No language yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs functions of this language with `runtime`.
    #[must_use]
    pub fn with(mut self, driver: Driver, runtime: Arc<dyn FunctionRuntime>) -> Self {
        self.by_driver.insert(driver, runtime);
        self
    }
}

#[async_trait]
impl FunctionRuntime for Drivers {
    async fn check(&self, driver: Driver, source: &str) -> Result<(), FunctionError> {
        match self.by_driver.get(&driver) {
            Some(runtime) => runtime.check(driver, source).await,
            None => Err(FunctionError::NoDriver(driver)),
        }
    }

    async fn run(&self, invocation: Invocation) -> Completion {
        match self.by_driver.get(&invocation.driver) {
            Some(runtime) => runtime.run(invocation).await,
            None => Completion {
                result: Err(FunctionError::NoDriver(invocation.driver)),
                logs: Vec::new(),
                duration: Duration::ZERO,
            },
        }
    }
}
