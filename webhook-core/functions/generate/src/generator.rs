//! The generator's interface, and the one that searches.

use std::fmt;

use async_trait::async_trait;
use webhook_core::{
    function::generate::{FunctionGenerator, GenerateError, GenerateRequest, GeneratedFunction},
    model::Driver,
};

use super::diff::first_difference;
use super::emit::{EmitError, JavaScript, Lua, emit};
use super::limits::GenerateLimits;
use super::program::Program;
use super::sample::{Format, Sample, read_answer, read_input, read_output};
use super::search;

/// What a request's free text asks for: JavaScript where it says `JavaScript` or `JS` and does not say no to it,
/// otherwise Lua.
fn asked_for(additional_info: &str) -> Driver {
    let words: Vec<String> = additional_info
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let asks = words.iter().enumerate().any(|(index, word)| {
        let named = matches!(word.as_str(), "javascript" | "js" | "ecmascript" | "nodejs");
        let denied = index.checked_sub(1).and_then(|before| words.get(before));
        named && !denied.is_some_and(|word| matches!(word.as_str(), "not" | "no" | "without"))
    });
    if asks { Driver::Js } else { Driver::Lua }
}

/// Runs a written function.
#[async_trait]
pub trait Validate: Send + Sync + fmt::Debug {
    /// The body that `source` makes of a request with this body and content type.
    ///
    /// # Errors
    ///
    /// Why the function failed, for the person who asked for it.
    async fn run(
        &self,
        driver: Driver,
        source: &str,
        body: &[u8],
        content_type: &str,
    ) -> Result<Vec<u8>, String>;
}

/// Finds functions by search and checks them with `V`.
///
/// The search runs on the runtime's blocking threads, for about a second at most (see [`GenerateLimits::max_steps`]).
#[derive(Debug, Clone)]
pub struct SearchGenerator<V> {
    validate: V,
    limits: GenerateLimits,
}

impl<V: Validate> SearchGenerator<V> {
    /// A generator with the default limits.
    pub fn new(validate: V) -> Self {
        Self::with_limits(validate, GenerateLimits::default())
    }

    /// A generator with other limits.
    pub fn with_limits(validate: V, limits: GenerateLimits) -> Self {
        Self { validate, limits }
    }

    async fn check(
        &self,
        driver: Driver,
        source: &str,
        body: &str,
        input: Format,
        wanted: &Sample,
    ) -> Result<(), String> {
        let answer =
            self.validate.run(driver, source, body.as_bytes(), input.content_type()).await?;
        let got = read_answer(&answer, wanted.format, &self.limits)?;
        match first_difference(&wanted.value, &got, driver == Driver::Lua) {
            Some(difference) => Err(difference),
            None => Ok(()),
        }
    }
}

#[async_trait]
impl<V: Validate> FunctionGenerator for SearchGenerator<V> {
    async fn generate(&self, request: GenerateRequest) -> Result<GeneratedFunction, GenerateError> {
        let driver = asked_for(&request.additional_info);
        let GenerateRequest { input_payload, output_payload, additional_info: _ } = request;
        let limits = self.limits.clone();
        let search = move || {
            let written = write(&input_payload, &output_payload, driver, &limits)?;
            Ok((input_payload, written))
        };
        let (input_payload, written) = tokio::task::spawn_blocking(search)
            .await
            .map_err(|error| GenerateError::Failed { reason: error.to_string() })??;
        let Written { code, program, wanted } = written;
        let checked = self.check(driver, &code, &input_payload, program.input, &wanted).await;
        Ok(GeneratedFunction {
            code,
            driver,
            validation_ok: checked.is_ok(),
            validation_err: checked.err().unwrap_or_default(),
        })
    }
}

/// A function before it is checked.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) code: String,
    pub(crate) program: Program,
    pub(crate) wanted: Sample,
}

/// Searches and writes down.
pub(crate) fn write(
    input_payload: &str,
    output_payload: &str,
    driver: Driver,
    limits: &GenerateLimits,
) -> Result<Written, GenerateError> {
    let input = read_input(input_payload, limits)?;
    let wanted = read_output(output_payload, limits)?;
    let program = search::find(&input, &wanted, driver == Driver::Js, limits).map_err(|search::Exhausted| {
        let reason = format!(
            "no function found within {} steps; a shorter sample of the same shape leaves less to search",
            limits.max_steps
        );
        GenerateError::Invalid { field: "input_payload", reason }
    })?;
    let too_long = |reason| GenerateError::Invalid { field: "output_payload", reason };
    let code = match driver {
        Driver::Lua => emit(&program, &Lua),
        Driver::Js => emit(&program, &JavaScript),
        Driver::Wasm => {
            let reason = "functions are written in Lua and JavaScript".to_owned();
            return Err(GenerateError::Failed { reason });
        }
    };
    let code = code.map_err(|EmitError::TooManyLists| {
        too_long(
            "needs more lists than one function has room for; give fewer elements of the same kind"
                .to_owned(),
        )
    })?;
    if code.len() > limits.max_code_bytes {
        let reason = format!(
            "needs a function of {} bytes, at most {} are accepted",
            code.len(),
            limits.max_code_bytes
        );
        return Err(too_long(reason));
    }
    Ok(Written { code, program, wanted })
}

#[cfg(test)]
mod driver_tests {
    use super::*;

    #[test]
    fn the_language_is_read_from_the_wishes() {
        for (info, driver) in [
            ("", Driver::Lua),
            ("please write it in JavaScript", Driver::Js),
            ("JS", Driver::Js),
            ("in lua, not javascript", Driver::Lua),
            ("the adjsted total", Driver::Lua),
        ] {
            assert_eq!(asked_for(info), driver, "{info}");
        }
    }
}
