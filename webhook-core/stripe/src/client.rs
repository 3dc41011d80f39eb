//! One request to Stripe, tried again where that makes sense.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde::de::DeserializeOwned;
use uuid::Uuid;
use webhook_core::{
    Timestamp,
    forward::{ForwardError, ForwardRequest, ForwardResponse},
    model::{Durability, OutputSpec},
    retry::{self, Next, Outcome, Progress},
};

use crate::{Failure, Form, Stripe};

/// The version of the API whose objects [`object`](crate::object) reads.
const API_VERSION: &str = "2024-06-20";
/// How much of an answer is read.
const MAX_RESPONSE_BYTES: usize = 1 << 20;
/// What lies between the attempts.
const DELAYS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// No attempt starts later than this after the first: somebody waits for the answer.
const PATIENCE: Duration = Duration::from_secs(30);

impl Stripe {
    /// The object at `path`.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.call(Method::GET, path, Form::default()).await
    }

    /// Sends a form and reads the object that is answered.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        form: Form,
    ) -> Result<T, Failure> {
        let request = self.request(method, path, form)?;
        let response = self.send(request).await?;
        if !response.status.is_success() {
            return Err(Failure::of(response.status, &response.body));
        }
        if response.truncated {
            return Err(Failure::unreachable(format!("over {MAX_RESPONSE_BYTES} bytes")));
        }
        serde_json::from_slice(&response.body).map_err(Failure::unreachable)
    }

    fn request(&self, method: Method, path: &str, form: Form) -> Result<ForwardRequest, Failure> {
        let url = format!("{}{path}", self.options.api_base);
        let mut headers = HeaderMap::new();
        let key = format!("Bearer {}", self.options.secret_key.expose());
        let mut key = HeaderValue::try_from(key)
            .map_err(|_| Failure::unreachable("the secret key cannot be sent in a header"))?;
        key.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, key);
        let version = HeaderName::from_static("stripe-version");
        headers.insert(version, HeaderValue::from_static(API_VERSION));
        if method == Method::POST {
            #[allow(
                clippy::disallowed_methods,
                reason = "it names a call, and is kept by nobody here"
            )]
            let once = HeaderValue::try_from(Uuid::new_v4().to_string());
            let name = HeaderName::from_static("idempotency-key");
            headers.insert(name, once.map_err(Failure::unreachable)?);
        }
        let form = form.encode();
        if !form.is_empty() {
            let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
            headers.insert(header::CONTENT_TYPE, kind);
        }
        let url = url.parse().map_err(Failure::unreachable)?;
        let mut request = ForwardRequest::new(method, url);
        request.headers = headers;
        request.body = Bytes::from(form);
        request.timeout = self.options.timeout;
        request.max_response_bytes = MAX_RESPONSE_BYTES;
        Ok(request)
    }

    async fn send(&self, request: ForwardRequest) -> Result<ForwardResponse, Failure> {
        let started = self.clock.now();
        let mut schedule = OutputSpec::default();
        schedule.durability = Durability::once_after(&DELAYS);
        let mut attempts = 0;
        loop {
            let result = self.forwarder.forward(request.clone()).await;
            attempts += 1;
            let now = self.clock.now();
            let outcome = outcome(result.as_ref(), now);
            let progress = Progress { attempts, received_at: started, now };
            match retry::next(&schedule, &progress, outcome, fastrand::f64()) {
                Next::RetryAt(moment) if moment.since(started) <= PATIENCE => {
                    let status = result.as_ref().ok().map(|response| response.status.as_u16());
                    tracing::debug!(attempts, status, "the payment processor is asked again");
                    self.clock.sleep_until(moment).await;
                }
                Next::Sent | Next::RetryAt(_) | Next::GiveUp => {
                    return result.map_err(Failure::unreachable);
                }
            }
        }
    }
}

/// What an answer comes to (<https://docs.stripe.com/error-low-level>).
fn outcome(result: Result<&ForwardResponse, &ForwardError>, now: Timestamp) -> Outcome {
    let Ok(response) = result else { return Outcome::of(result, now) };
    let retryable = Outcome::Retryable { retry_after: retry::retry_after(&response.headers, now) };
    match response.headers.get("stripe-should-retry").map(HeaderValue::as_bytes) {
        Some(b"true") if !response.status.is_success() => return retryable,
        Some(b"false") if !response.status.is_success() => return Outcome::Final,
        _ => {}
    }
    match response.status {
        status if status.is_success() => Outcome::Success,
        StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS => retryable,
        status if status.is_server_error() => retryable,
        _ => Outcome::Final,
    }
}
