//! A model behind a server with the chat interface of OpenAI.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;
use webhook_core::{
    forward::{ForwardRequest, Forwarder},
    model::Secret,
};

use super::{LanguageModel, Message, Role};

/// Where the server is, and what it may answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChatOptions {
    /// The address with the version, such as `http://localhost:11434/v1`. Requests go to `/chat/completions` below it.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The credential for `Authorization: Bearer`, if the server wants one.
    pub key: Option<Secret>,
    /// The longest answer. 256 KiB.
    pub max_answer_bytes: usize,
}

impl ChatOptions {
    /// Options without a credential.
    #[must_use]
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        let (url, model) = (url.into(), model.into());
        Self { url, model, key: None, max_answer_bytes: 256 << 10 }
    }
}

/// A [`LanguageModel`] behind such a server. Redirects are refused.
#[derive(Debug)]
pub struct ChatModel {
    options: ChatOptions,
    forwarder: Arc<dyn Forwarder>,
}

/// The part of an answer that is read.
#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
}

impl ChatModel {
    /// The operator names the server, so `forwarder` may connect to private addresses.
    pub fn new(options: ChatOptions, forwarder: Arc<dyn Forwarder>) -> Self {
        Self { options, forwarder }
    }

    fn request(&self, messages: &[Message], deadline: Instant) -> Result<ForwardRequest, String> {
        let url = format!("{}/chat/completions", self.options.url.trim_end_matches('/'));
        let url: Uri = url.parse().map_err(|error| format!("has no valid address: {error}"))?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.options.key {
            let mut key = HeaderValue::try_from(format!("Bearer {}", key.expose()))
                .map_err(|_| "has a key that a header cannot carry".to_owned())?;
            key.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, key);
        }
        let said = |Message { role, text }: &Message| {
            let role = match role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({ "role": role, "content": text })
        };
        let messages: Vec<_> = messages.iter().map(said).collect();
        let body = json!({ "model": self.options.model, "messages": messages, "temperature": 0 });
        let mut request = ForwardRequest::new(Method::POST, url);
        request.headers = headers;
        request.body = Bytes::from(body.to_string());
        request.timeout = deadline.saturating_duration_since(Instant::now());
        request.max_response_bytes = self.options.max_answer_bytes;
        Ok(request)
    }
}

#[async_trait]
impl LanguageModel for ChatModel {
    async fn answer(&self, messages: &[Message], deadline: Instant) -> Result<String, String> {
        let request = self.request(messages, deadline)?;
        let response = self
            .forwarder
            .forward(request)
            .await
            .map_err(|error| format!("gave no answer: {error}"))?;
        match response.status {
            status if status.is_redirection() => {
                return Err(format!("answered {status}: redirects are refused"));
            }
            status if status != StatusCode::OK => return Err(format!("answered {status}")),
            _ if response.truncated => {
                return Err(format!("answered more than {} bytes", self.options.max_answer_bytes));
            }
            _ => {}
        }
        let completion: Completion = serde_json::from_slice(&response.body)
            .map_err(|error| format!("answered something else than a chat completion: {error}"))?;
        let content =
            completion.choices.into_iter().next().and_then(|choice| choice.message.content);
        content
            .filter(|content| !content.trim().is_empty())
            .ok_or_else(|| "answered no text".to_owned())
    }
}
