//! Writing functions.

use std::{sync::Arc, time::Duration};

use webhook_core::{forward::http::HttpForwarder, guard::AddressGuard, model::Secret};
use webhook_generate::{ChatModel, ChatOptions, ModelLimits};

use super::{ConfigError, at_least_one, not_zero, value};

/// The language model that writes functions where the search finds none.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Writing functions")]
pub(crate) struct GenerateConfig {
    /// A server with the chat interface of OpenAI. The address includes the version, as
    /// `http://localhost:11434/v1` does. Without it no sample leaves this server. A private
    /// address is allowed, redirects are refused.
    #[arg(long, env = "WEBHOOK_GENERATE_URL")]
    #[arg(value_name = "URL", value_parser = super::billing::base)]
    pub(crate) generate_url: Option<String>,
    /// The name of the model there.
    #[arg(long, env = "WEBHOOK_GENERATE_MODEL", value_name = "NAME")]
    pub(crate) generate_model: Option<String>,
    /// The key of that server, if it wants one.
    #[arg(long, env = "WEBHOOK_GENERATE_KEY", hide_env_values = true)]
    #[arg(value_name = "KEY", value_parser = super::secret)]
    pub(crate) generate_key: Option<Secret>,
    /// How long all answers for one function may take, corrections and runs included.
    #[arg(long, env = "WEBHOOK_GENERATE_TIMEOUT", default_value = "2m")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) generate_timeout: Duration,
    /// The longest answer.
    #[arg(long, env = "WEBHOOK_GENERATE_ANSWER_BYTES", default_value = "256KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) generate_answer_bytes: usize,
    /// Functions for which that server is asked concurrently.
    #[arg(long, env = "WEBHOOK_GENERATE_CONCURRENCY", default_value_t = 4, value_name = "COUNT")]
    pub(crate) generate_concurrency: usize,
}

impl GenerateConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        at_least_one("WEBHOOK_GENERATE_ANSWER_BYTES", self.generate_answer_bytes)?;
        at_least_one("WEBHOOK_GENERATE_CONCURRENCY", self.generate_concurrency)?;
        not_zero("WEBHOOK_GENERATE_TIMEOUT", self.generate_timeout)?;
        match (&self.generate_url, &self.generate_model, &self.generate_key) {
            (Some(_), None, _) => {
                let reason = "must be set together with WEBHOOK_GENERATE_URL: the name of a model";
                Err(ConfigError::new("WEBHOOK_GENERATE_MODEL", reason))
            }
            (None, Some(_), _) | (None, None, Some(_)) => {
                let reason = "must be set where WEBHOOK_GENERATE_MODEL or WEBHOOK_GENERATE_KEY is";
                Err(ConfigError::new("WEBHOOK_GENERATE_URL", reason))
            }
            (_, _, Some(key)) if !key.expose().bytes().all(|byte| byte.is_ascii_graphic()) => {
                let reason = "must be of letters, digits and signs";
                Err(ConfigError::new("WEBHOOK_GENERATE_KEY", reason))
            }
            _ => Ok(()),
        }
    }

    /// The model, if one is configured.
    pub(crate) fn model(&self) -> Option<Arc<ChatModel>> {
        let (url, model) = (self.generate_url.clone()?, self.generate_model.clone()?);
        let mut options = ChatOptions::new(url, model);
        options.key = self.generate_key.clone();
        options.max_answer_bytes = self.generate_answer_bytes;
        // The operator says where the server is, a customer does not.
        let forwarder = HttpForwarder::builder().guard(AddressGuard::allow_all()).build();
        Some(Arc::new(ChatModel::new(options, Arc::new(forwarder))))
    }

    /// What one function may take of the model.
    pub(crate) fn limits(&self) -> ModelLimits {
        let mut limits = ModelLimits::default();
        limits.timeout = self.generate_timeout;
        limits.concurrency = self.generate_concurrency;
        limits
    }
}
