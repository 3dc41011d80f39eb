//! The request of a webhook.

use bytes::Bytes;
use http::{HeaderMap, Method};

/// The part of an HTTP request that is kept and forwarded: exactly the bytes
/// that came in, or what a function made of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// What follows the input's address in the path, percent-encoded as it
    /// came, with its leading slash; or empty.
    pub extra_path: String,
    /// The query without its question mark, as it came.
    pub raw_query: String,
    /// All headers, hop-by-hop ones included; they are left out when sending.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Request {
    /// A request at the input's own address, without a query.
    #[must_use]
    pub const fn new(method: Method, headers: HeaderMap, body: Bytes) -> Self {
        Self { method, extra_path: String::new(), raw_query: String::new(), headers, body }
    }

    /// Drops what an ephemeral webhook does not keep: query, headers and body.
    pub fn erase(&mut self) {
        self.raw_query = String::new();
        self.headers = HeaderMap::new();
        self.body = Bytes::new();
    }

    /// About how many bytes of memory it holds, for budgets.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let headers: usize =
            self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 64).sum();
        256 + self.extra_path.len() + self.raw_query.len() + headers + self.body.len()
    }
}
