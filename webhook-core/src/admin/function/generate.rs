//! Writing a function from a sample.

use std::time::Duration;

use super::super::{Admin, Caller};
use crate::{
    error::{Error, ErrorKind},
    function::generate::{GenerateError, GenerateRequest, GeneratedFunction},
};

impl Admin {
    /// Writes a function that turns the input payload into the output payload,
    /// and says whether it does so on the sample. It is not saved.
    pub async fn generate_function(
        &self,
        caller: &Caller,
        request: GenerateRequest,
    ) -> Result<GeneratedFunction, Error> {
        caller.require_account()?;
        let generator = self.generator.as_ref();
        let generator = generator.ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "writing functions is not available on this server")
        })?;
        let limit = self.options.max_invocations_per_account;
        let _entered = self.running.enter(caller.account_id(), limit, super::RUNNING)?;
        let _permit = self.generations.try_acquire().map_err(|_| {
            Error::unavailable("too many functions are being written", Duration::from_secs(1))
        })?;
        generator.generate(request).await.map_err(|error| match error {
            GenerateError::Invalid { field, reason } => Error::invalid(field, reason),
            error => Error::internal(error),
        })
    }
}
