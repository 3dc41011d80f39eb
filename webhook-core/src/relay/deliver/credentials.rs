//! What a request carries so that its destination knows who sent it: the last that is done
//! to it before it leaves.

use std::{sync::Arc, time::Duration};

use crate::credentials::{Answer, AuthSpec, Fetch, Message, Question, Request, Token, Tokens};
use async_trait::async_trait;
use http::{HeaderMap, Method, StatusCode};
use tokio::time::timeout;

use crate::{
    clock::Clock,
    destination::{self, Deadline, Destinations, Outgoing, SendError},
    forward::{ForwardError, ForwardRequest, Forwarder},
    model::{OutputSpec, Webhook, hops},
};

/// How long a server of tokens may take.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long its answer may be.
const MAX_TOKEN_ANSWER_BYTES: usize = 64 << 10;

/// Signs and authenticates what outputs send.
#[derive(Debug)]
pub(super) struct Credentials {
    tokens: Tokens,
    destinations: Arc<Destinations>,
    clock: Arc<dyn Clock>,
}

impl Credentials {
    pub(super) fn new(destinations: Arc<Destinations>, clock: Arc<dyn Clock>) -> Self {
        let forwarder = destinations.http.forwarder.clone();
        let tokens = Tokens::new(Arc::new(TokenClient { forwarder }));
        Self { tokens, destinations, clock }
    }

    /// Sends `outgoing` for `webhook`, signed and authenticated as `spec` says. When a destination
    /// refuses a token with 401, it gets the request again with a new token, before the deadline.
    pub(super) async fn send(
        &self,
        spec: &OutputSpec,
        webhook: &Webhook,
        mut outgoing: Outgoing,
        deadline: Deadline,
    ) -> Result<destination::Answer, SendError> {
        let now = self.clock.now().as_secs();
        if let Some(signing) = spec.signing.set() {
            let id = webhook.id.to_string();
            let message = Message { id: &id, timestamp: now, body: &outgoing.body };
            signing.sign(&message, &mut outgoing.headers).map_err(failed)?;
        }
        let Some(auth) = spec.auth.set() else {
            return self.destinations.send(outgoing, deadline).await;
        };
        if matches!(auth, AuthSpec::AwsSigv4(_)) {
            drop_senders_amz(&mut outgoing.headers, &webhook.request.headers, &spec.headers.0);
        }
        let owner = webhook.account_id.as_uuid();
        let token = self.token(owner.as_bytes(), auth, deadline).await?;
        let Some(token) = token else {
            return self.authenticated(auth, None, outgoing, deadline).await;
        };
        let again = outgoing.clone();
        let answer = self.authenticated(auth, Some(&token), outgoing, deadline).await?;
        if answer.status() != Some(StatusCode::UNAUTHORIZED)
            || !self.tokens.refused(owner.as_bytes(), auth, &token, self.clock.now().as_secs())
        {
            return Ok(answer);
        }
        let token = self.token(owner.as_bytes(), auth, deadline).await?;
        self.authenticated(auth, token.as_ref(), again, deadline).await
    }

    async fn token(
        &self,
        owner: &[u8],
        auth: &AuthSpec,
        deadline: Deadline,
    ) -> Result<Option<Token>, SendError> {
        let getting = self.tokens.token(owner, auth, self.clock.now().as_secs());
        match timeout(deadline.remaining(), getting).await {
            Ok(token) => token.map_err(failed),
            Err(_) => Err(failed("no token within the timeout")),
        }
    }

    async fn authenticated(
        &self,
        auth: &AuthSpec,
        token: Option<&Token>,
        mut outgoing: Outgoing,
        deadline: Deadline,
    ) -> Result<destination::Answer, SendError> {
        let parts = Request {
            method: &outgoing.method,
            url: &mut outgoing.url,
            headers: &mut outgoing.headers,
            body: &outgoing.body,
        };
        auth.apply(parts, token, self.clock.now().as_secs()).map_err(failed)?;
        self.destinations.send(outgoing, deadline).await
    }
}

fn failed(error: impl ToString) -> SendError {
    ForwardError::Credentials(error.to_string()).into()
}

/// Drops what the sender wrote for AWS, which would be signed: it could choose what is done
/// with the account's key. What the output's function or its headers set stays.
fn drop_senders_amz(headers: &mut HeaderMap, senders: &HeaderMap, own: &HeaderMap) {
    let is_senders = |name: &http::HeaderName| {
        name.as_str().starts_with("x-amz-")
            && !own.contains_key(name)
            && headers.get_all(name).iter().eq(senders.get_all(name))
    };
    let dropped: Vec<_> = headers.keys().filter(|name| is_senders(name)).cloned().collect();
    for name in dropped {
        headers.remove(name);
    }
}

/// Asks for tokens by the way that deliveries take, with its guard.
#[derive(Debug)]
struct TokenClient {
    forwarder: Arc<dyn Forwarder>,
}

#[async_trait]
impl Fetch for TokenClient {
    async fn fetch(&self, question: Question) -> Result<Answer, String> {
        let Question { url, headers, body } = question;
        let mut request = ForwardRequest::new(Method::POST, url);
        (request.headers, request.body) = (headers, body);
        // No input answers with a token: a webhook that this request became would need one, too.
        hops::write(hops::MAX, &mut request.headers);
        request.timeout = TOKEN_TIMEOUT;
        request.max_response_bytes = MAX_TOKEN_ANSWER_BYTES;
        match self.forwarder.forward(request).await {
            Ok(answer) if answer.truncated => {
                Err(format!("the answer has more than {MAX_TOKEN_ANSWER_BYTES} bytes"))
            }
            Ok(answer) => Ok(Answer { status: answer.status, body: answer.body }),
            Err(error) => Err(error.to_string()),
        }
    }
}
