//! Plans and the payment processor.

use std::{sync::Arc, time::Duration};

use webhook_core::{
    SystemClock,
    billing::{BillingProvider, Unconfigured},
    forward::http::HttpForwarder,
    guard::AddressGuard,
    model::Secret,
    plan::Plans,
};
use webhook_stripe::{DEFAULT_API_BASE, Stripe, StripeOptions};

use super::{ConfigError, not_zero, refuse_if, value};

/// What accounts may have, and who takes the money.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Plans and billing")]
pub(crate) struct BillingConfig {
    /// The plans: a JSON file, or the JSON itself (see docs/billing.md).
    /// Without it there is one plan without limits.
    #[arg(long, env = "WEBHOOK_PLANS", value_name = "FILE|JSON", value_parser = plans)]
    pub(crate) plans: Option<Plans>,
    /// Stripe's secret key, sk_… or rk_…; it turns billing on.
    #[arg(long, env = "WEBHOOK_STRIPE_SECRET_KEY", hide_env_values = true)]
    #[arg(value_name = "KEY", value_parser = super::secret)]
    pub(crate) stripe_secret_key: Option<Secret>,
    /// Stripe's publishable key, pk_…; it is answered with each checkout session.
    #[arg(long, env = "WEBHOOK_STRIPE_PUBLISHABLE_KEY", value_name = "KEY")]
    pub(crate) stripe_publishable_key: Option<String>,
    /// What Stripe signs its events with, whsec_…; without it subscriptions
    /// change no plans.
    #[arg(long, env = "WEBHOOK_STRIPE_WEBHOOK_SECRET", hide_env_values = true)]
    #[arg(value_name = "SECRET", value_parser = super::secret)]
    pub(crate) stripe_webhook_secret: Option<Secret>,
    /// Where Stripe's API is.
    #[arg(long, env = "WEBHOOK_STRIPE_API_BASE", default_value = DEFAULT_API_BASE)]
    #[arg(value_name = "URL", value_parser = base)]
    pub(crate) stripe_api_base: String,
    /// How long one request to Stripe may take; three are made at most.
    #[arg(long, env = "WEBHOOK_STRIPE_TIMEOUT", default_value = "15s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) stripe_timeout: Duration,
    /// Where Stripe sends a customer who has paid. Without it, the reference of this server.
    #[arg(long, env = "WEBHOOK_CHECKOUT_SUCCESS_URL", value_name = "URL", value_parser = url)]
    pub(crate) checkout_success_url: Option<String>,
    /// Where Stripe sends a customer who has changed their mind. Without it,
    /// the reference of this server.
    #[arg(long, env = "WEBHOOK_CHECKOUT_CANCEL_URL", value_name = "URL", value_parser = url)]
    pub(crate) checkout_cancel_url: Option<String>,
}

impl BillingConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        not_zero("WEBHOOK_STRIPE_TIMEOUT", self.stripe_timeout)?;
        let Some(secret) = &self.stripe_secret_key else { return Ok(()) };
        // A key in the wrong place would be shown to everybody. It is not
        // repeated here.
        let starts = |text: &str, prefixes: &[&str]| prefixes.iter().any(|p| text.starts_with(p));
        let is_key = starts(secret.expose(), &["sk_", "rk_"])
            && secret.expose().bytes().all(|byte| byte.is_ascii_graphic());
        refuse_if(!is_key, "WEBHOOK_STRIPE_SECRET_KEY", "must start with sk_ or rk_")?;
        let option = "WEBHOOK_STRIPE_PUBLISHABLE_KEY";
        let Some(key) = &self.stripe_publishable_key else {
            let reason = "must be set together with WEBHOOK_STRIPE_SECRET_KEY";
            return Err(ConfigError::new(option, reason));
        };
        refuse_if(!key.starts_with("pk_"), option, "must start with pk_")?;
        let is_empty = self.stripe_webhook_secret.as_ref().is_some_and(Secret::is_empty);
        refuse_if(is_empty, "WEBHOOK_STRIPE_WEBHOOK_SECRET", "must not be empty")
    }

    /// What accounts may have.
    pub(crate) fn plans(&self) -> Plans {
        self.plans.clone().unwrap_or_else(Plans::unlimited)
    }

    /// The payment processor, if one is configured. `public` is where people
    /// reach this server.
    pub(crate) fn provider(&self, public: &str) -> Arc<dyn BillingProvider> {
        let Some(secret_key) = self.stripe_secret_key.clone() else {
            return Arc::new(Unconfigured);
        };
        if self.stripe_webhook_secret.is_none() {
            tracing::warn!(
                "WEBHOOK_STRIPE_WEBHOOK_SECRET is not set: subscriptions change no plans"
            );
        }
        let page = format!("{}/docs", public.trim_end_matches('/'));
        let options = StripeOptions {
            secret_key,
            publishable_key: self.stripe_publishable_key.clone().unwrap_or_default(),
            webhook_secret: self.stripe_webhook_secret.clone(),
            api_base: self.stripe_api_base.clone(),
            success_url: self.checkout_success_url.clone().unwrap_or_else(|| page.clone()),
            cancel_url: self.checkout_cancel_url.clone().unwrap_or(page),
            timeout: self.stripe_timeout,
        };
        // The operator says where the API is, a customer does not.
        let forwarder = HttpForwarder::builder().guard(AddressGuard::allow_all()).build();
        Arc::new(Stripe::new(options, Arc::new(forwarder), Arc::new(SystemClock)))
    }
}

/// The plans in a file, or written out.
fn plans(text: &str) -> Result<Plans, String> {
    let json = match text.trim_start().starts_with('{') {
        true => text.to_owned(),
        false => std::fs::read_to_string(text)
            .map_err(|error| format!("cannot read the file {text:?}: {error}"))?,
    };
    json.parse::<Plans>().map_err(|error| error.to_string())
}

/// An address that people are sent to.
fn url(text: &str) -> Result<String, String> {
    let url = text.parse::<http::Uri>().ok();
    let is_url = url.is_some_and(|url| {
        matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some()
    });
    match is_url {
        true => Ok(text.to_owned()),
        false => Err(format!("{text:?} is not an address such as https://example.com/thanks")),
    }
}

/// An address that paths are added to.
pub(super) fn base(text: &str) -> Result<String, String> {
    match text.contains(['?', '#']) {
        true => Err(format!("{text:?} must have neither ? nor #")),
        false => url(text.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_a_file_or_written_out() {
        assert!(plans(r#" {"plans":[{"name":"a"}]}"#).is_ok());
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plans.json");
        std::fs::write(&path, r#"{"plans":[{"name":"a"},{"name":"a"}]}"#).expect("written");
        let error = plans(path.to_str().expect("text")).expect_err("a name twice");
        assert_eq!(error, "plans[1].name: another plan has it");
        assert!(plans("/no/such/file").expect_err("no file").contains("/no/such/file"));
    }

    #[test]
    fn addresses() {
        assert_eq!(base("http://localhost:8420/"), Ok("http://localhost:8420".to_owned()));
        for wrong in ["", "localhost", "ftp://x", "http://", "https://x/?a"] {
            assert!(base(wrong).is_err(), "{wrong}");
        }
        // Stripe fills in the session's ID.
        assert!(url("https://x/?session={CHECKOUT_SESSION_ID}").is_ok());
    }
}
