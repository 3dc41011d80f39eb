//! Asking a language model for a function that the search does not find, or that a wish in words describes.

mod chat;
mod prompt;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::{sync::Semaphore, time::Instant};
use webhook_core::{
    function::generate::{FunctionGenerator, GenerateError, GenerateRequest, GeneratedFunction},
    model::Driver,
};

use super::generator::{Pair, SearchGenerator, Searched, Validate, first_wrong, pairs, read_all};
use super::json::{Json, same};
use super::mutate::all_changed;
use super::sample::{Format, Sample, read_answer};
use super::wish::Wish;

pub use chat::{ChatModel, ChatOptions};

/// Answers that a model may correct.
const MAX_CORRECTIONS: usize = 2;

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The instructions that hold for all messages.
    System,
    /// The generator.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation with a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// The words.
    pub text: String,
}

/// A language model, such as [`ChatModel`].
#[async_trait]
pub trait LanguageModel: Send + Sync + fmt::Debug {
    /// The model's next message, before `deadline`.
    ///
    /// # Errors
    ///
    /// Why no message came, for the person who asked for a function.
    async fn answer(&self, messages: &[Message], deadline: Instant) -> Result<String, String>;
}

/// Bounds of what one function takes of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelLimits {
    /// How long all answers for one function may take, with the runs of the function. 2 minutes.
    pub timeout: Duration,
    /// Functions for which a model is asked concurrently. 4.
    pub concurrency: usize,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(120), concurrency: 4 }
    }
}

/// Finds functions by search, and asks a model when the search finds none or when the request has a wish.
///
/// The model's functions run with `S`, which must refuse requests and hide every value of an account: its code comes
/// from elsewhere.
#[derive(Debug)]
pub struct ModelGenerator<V, S> {
    search: SearchGenerator<V>,
    sandbox: S,
    model: Arc<dyn LanguageModel>,
    limits: ModelLimits,
    permits: Semaphore,
}

impl<V: Validate, S: Validate> ModelGenerator<V, S> {
    /// Searches with `search` first, and runs what `model` writes in `sandbox`.
    pub fn new(
        search: SearchGenerator<V>,
        model: Arc<dyn LanguageModel>,
        sandbox: S,
        limits: ModelLimits,
    ) -> Self {
        let permits = Semaphore::new(limits.concurrency.min(Semaphore::MAX_PERMITS));
        Self { search, sandbox, model, limits, permits }
    }

    /// The model's function, after corrections, or why there is none.
    async fn ask(
        &self,
        info: &str,
        driver: Driver,
        pairs: &[Pair],
        samples: &[(Sample, Sample)],
    ) -> Result<GeneratedFunction, String> {
        let _permit = self.permits.try_acquire().map_err(|_| {
            format!("is busy with {} other functions: try again", self.limits.concurrency)
        })?;
        let deadline = Instant::now() + self.limits.timeout;
        let mut messages = prompt::opening(info, driver, pairs);
        let mut corrections = 0;
        loop {
            let answer = self.model.answer(&messages, deadline).await?;
            let code = prompt::code_in(&answer);
            let checks = self.wrong(driver, &code, pairs, samples);
            let wrong = tokio::time::timeout_at(deadline, checks)
                .await
                .map_err(|_| format!("took more than {} s", self.limits.timeout.as_secs()))?;
            match wrong {
                Some(wrong) if corrections < MAX_CORRECTIONS => {
                    corrections += 1;
                    messages.push(Message { role: Role::Assistant, text: answer });
                    messages.push(prompt::correction(&wrong));
                }
                wrong => {
                    let validation_ok = wrong.is_none();
                    let validation_err = wrong.unwrap_or_default();
                    return Ok(GeneratedFunction { code, driver, validation_ok, validation_err });
                }
            }
        }
    }

    /// The fault of a model's function: it does not compile, it differs for a sample, or it reads nothing.
    async fn wrong(
        &self,
        driver: Driver,
        code: &str,
        pairs: &[Pair],
        samples: &[(Sample, Sample)],
    ) -> Option<String> {
        let most = self.search.limits().max_code_bytes;
        if code.len() > most {
            return Some(format!(
                "the function has {} bytes, at most {most} are accepted",
                code.len()
            ));
        }
        if prompt::sends_requests(code) {
            return Some("the function names http or fetch, and requests are refused".to_owned());
        }
        if let Err(error) = self.sandbox.check(driver, code).await {
            return Some(format!("the function does not compile: {error}"));
        }
        let wrong = first_wrong(&self.sandbox, driver, code, pairs, samples).await;
        if wrong.is_some() {
            return wrong;
        }
        self.says_the_same(driver, code, samples).await
    }

    /// Whether the function gives the same for a payload whose every value is another one.
    async fn says_the_same(
        &self,
        driver: Driver,
        code: &str,
        samples: &[(Sample, Sample)],
    ) -> Option<String> {
        let (input, wanted) = samples.first().filter(|(input, _)| input.format == Format::Json)?;
        let other: Json = all_changed(&input.value);
        let body = other.to_string();
        let answer = self.sandbox.run(driver, code, body.as_bytes(), input.format.content_type());
        let got = read_answer(&answer.await.ok()?, wanted.format).ok()?;
        (!same(&other, &input.value) && same(&got, &wanted.value)).then(|| {
            "the function gives the same output for a payload whose every value is another one"
                .to_owned()
        })
    }
}

#[async_trait]
impl<V: Validate, S: Validate> FunctionGenerator for ModelGenerator<V, S> {
    async fn generate(&self, request: GenerateRequest) -> Result<GeneratedFunction, GenerateError> {
        let info = request.additional_info.clone();
        let Wish { driver, more } = Wish::of(&request)?;
        let pairs = pairs(request, self.search.limits().max_examples)?;
        let samples = read_all(&pairs, self.search.limits())?;
        let mut searched = None;
        if !more {
            let found = self.search.search(&pairs, driver).await;
            match found {
                Ok(Searched { function, found: true }) => return Ok(function),
                other => searched = Some(other),
            }
        }
        let reason = match self.ask(&info, driver, &pairs, &samples).await {
            Ok(function) => return Ok(function),
            Err(reason) => format!("the server of WEBHOOK_GENERATE_URL {reason}"),
        };
        tracing::warn!(reason, "a language model gave no function");
        let searched = match searched {
            Some(searched) => searched,
            None => self.search.search(&pairs, driver).await,
        };
        let mut function = searched?.function;
        let known = std::mem::take(&mut function.validation_err);
        let known = if known.is_empty() { known } else { format!("; {known}") };
        function.validation_ok = false;
        function.validation_err =
            format!("this function comes from the search alone, as {reason}{known}");
        Ok(function)
    }
}
