//! One request to a bucket: signed, sent, and tried again where that makes sense.

use std::time::Duration;

use crate::s3::ObjectError;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header::CONTENT_TYPE};
use webhook_core::{
    Timestamp,
    credentials::{AuthSpec, AwsAuth, Request},
    forward::{ForwardError, ForwardRequest, ForwardResponse},
    model::{Durability, OutputSpec},
    retry::{self, Next, Outcome, Progress},
};

use crate::s3::{S3, S3Options};

/// How much is read of an answer that is no object.
const MAX_ANSWER_BYTES: usize = 16 << 10;
/// What lies between the attempts.
const DELAYS: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(500)];
/// No attempt starts later than this after the first: somebody waits for the answer.
const PATIENCE: Duration = Duration::from_secs(5);

impl S3 {
    /// Asks for the object under `key`. At least so much is read of the answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        key: &str,
        body: Bytes,
        max_bytes: usize,
    ) -> Result<ForwardResponse, ObjectError> {
        let started = self.clock.now();
        let mut schedule = OutputSpec::default();
        schedule.durability = Durability::once_after(&DELAYS);
        let mut attempts = 0;
        loop {
            // Each attempt has a signature of its own: they are good for some minutes.
            let request = self.request(method.clone(), key, body.clone(), max_bytes)?;
            let result = self.forwarder.forward(request).await;
            attempts += 1;
            let now = self.clock.now();
            let outcome = outcome(result.as_ref(), now);
            let progress = Progress { attempts, received_at: started, now };
            match retry::next(&schedule, &progress, outcome, fastrand::f64()) {
                Next::RetryAt(moment) if moment.since(started) <= PATIENCE => {
                    let status = result.as_ref().ok().map(|response| response.status.as_u16());
                    tracing::debug!(attempts, status, %method, "the object store is asked again");
                    self.clock.sleep_until(moment).await;
                }
                Next::Sent | Next::RetryAt(_) | Next::GiveUp => {
                    let unreachable = |error| {
                        ObjectError::new(format!("{method} has no answer")).caused_by(error)
                    };
                    return result.map_err(unreachable);
                }
            }
        }
    }

    fn request(
        &self,
        method: Method,
        key: &str,
        body: Bytes,
        max_bytes: usize,
    ) -> Result<ForwardRequest, ObjectError> {
        let url = self.options.url.of(key);
        let mut url = url.map_err(|error| ObjectError::new("no address").caused_by(error))?;
        let mut headers = HeaderMap::new();
        if method == Method::PUT {
            let kind = HeaderValue::from_static("application/octet-stream");
            headers.insert(CONTENT_TYPE, kind);
        }
        let now = self.clock.now().as_secs();
        let unsigned =
            Request { method: &method, url: &mut url, headers: &mut headers, body: &body };
        auth(&self.options)
            .apply(unsigned, None, now)
            .map_err(|error| ObjectError::new("a request cannot be signed").caused_by(error))?;
        let mut request = ForwardRequest::new(method, url);
        request.headers = headers;
        request.body = body;
        request.timeout = self.options.timeout;
        request.max_response_bytes = max_bytes.max(MAX_ANSWER_BYTES);
        Ok(request)
    }
}

/// What signs, in the words of an output.
fn auth(options: &S3Options) -> AuthSpec {
    let S3Options { region, access_key_id, secret_access_key, session_token, .. } = options;
    AuthSpec::AwsSigv4(AwsAuth {
        service: "s3".to_owned(),
        region: region.clone(),
        access_key_id: access_key_id.clone(),
        secret_access_key: secret_access_key.clone(),
        session_token: session_token.clone().unwrap_or_default(),
    })
}

/// What an answer comes to
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>).
fn outcome(result: Result<&ForwardResponse, &ForwardError>, now: Timestamp) -> Outcome {
    let Ok(response) = result else { return Outcome::of(result, now) };
    match response.status {
        status if status.is_success() => Outcome::Success,
        status if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
            let retry_after = retry::retry_after(&response.headers, now);
            Outcome::Retryable { retry_after }
        }
        _ => Outcome::Final,
    }
}
