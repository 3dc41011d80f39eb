//! A small HTTP client.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client as Legacy, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::time::timeout;

use super::PATIENCE;

/// Sends requests over connections that are kept.
#[derive(Clone, Debug)]
pub(crate) struct Client(Legacy<HttpConnector, Full<Bytes>>);

impl Default for Client {
    fn default() -> Self {
        Self(Legacy::builder(TokioExecutor::new()).build_http())
    }
}

impl Client {
    /// A request to be sent.
    pub(crate) fn request(&self, method: &str, url: &str) -> Request<'_> {
        let request = http::Request::builder().method(method).uri(url).body(Bytes::new());
        Request { client: self, request: request.expect("a well-formed request") }
    }
}

/// A request to be sent.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    client: &'a Client,
    request: http::Request<Bytes>,
}

impl Request<'_> {
    /// Sets a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        let value = HeaderValue::from_str(value).expect("a header value");
        self.request.headers_mut().insert(name, value);
        self
    }

    /// Sets the body.
    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        *self.request.body_mut() = body.into();
        self
    }

    /// Sets the body to JSON, without a `Content-Type`, which many clients forget.
    pub(crate) fn json(self, body: &serde_json::Value) -> Self {
        self.body(body.to_string())
    }

    /// Sends it and reads the whole answer.
    pub(crate) async fn send(self) -> Answer {
        self.try_send().await.expect("an answer")
    }

    /// Sends it and reads the answer piece by piece.
    pub(crate) async fn stream(self) -> Stream {
        let response = self.client.0.request(self.request.map(Full::new)).await;
        Stream { body: response.expect("an answer").into_body(), read: String::new() }
    }

    /// The same, where there may be no answer.
    pub(crate) async fn try_send(self) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
        let exchange = async {
            let response = self.client.0.request(self.request.map(Full::new)).await?;
            let (parts, body) = response.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok(Answer { status: parts.status, headers: parts.headers, body })
        };
        timeout(PATIENCE, exchange).await?
    }
}

/// An answer that goes on.
#[derive(Debug)]
pub(crate) struct Stream {
    body: hyper::body::Incoming,
    read: String,
}

impl Stream {
    /// Reads until `said` was there.
    pub(crate) async fn until(&mut self, said: &str) {
        let reading = async {
            while !self.read.contains(said) {
                let frame = self.body.frame().await.expect("the stream goes on");
                let data = frame.expect("a frame").into_data().unwrap_or_default();
                self.read.push_str(&String::from_utf8_lossy(&data));
            }
        };
        timeout(PATIENCE, reading).await.unwrap_or_else(|_| panic!("{said:?} did not come"));
    }
}

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// Fails unless the status is this one.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self
    }

    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.content_type(), "application/json", "{}", self.text());
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The header, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn content_type(&self) -> &str {
        self.header("content-type")
    }

    /// Fails unless this is an error as all errors are: this status, and plain
    /// text that contains `said` and shows nothing of the inside.
    #[track_caller]
    pub(crate) fn expect_error(self, status: u16, said: &str) -> Self {
        let answer = self.expect(status);
        let text = answer.text();
        assert_eq!(answer.content_type(), "text/plain; charset=utf-8", "{text}");
        assert!(text.contains(said), "{said:?} is not in {text:?}");
        for inside in ["SELECT", "INSERT", "panicked", ".rs", "sqlx", "sqlite"] {
            assert!(!text.contains(inside), "{text:?} shows the inside");
        }
        assert!(!answer.header("request-id").is_empty(), "no Request-Id");
        answer
    }
}
