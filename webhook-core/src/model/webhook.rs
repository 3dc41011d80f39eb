//! Received webhooks.

use std::net::IpAddr;

use bytes::Bytes;
use http::{HeaderMap, Method};

use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, ExecutionId, InputId, WebhookId},
};

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

/// A webhook as it was received at an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Identifies it; the order of identifiers is the order of receipt.
    pub id: WebhookId,
    /// Whose it is.
    pub account_id: AccountId,
    /// The bucket it came into.
    pub bucket_id: BucketId,
    /// The input that received it.
    pub input_id: InputId,
    /// What is forwarded: as received, or as the input function left it.
    pub request: Request,
    /// The sender's address, where it is known.
    pub remote_addr: Option<IpAddr>,
    /// Whether it came over TLS.
    pub secure: bool,
    /// Whether its content is forgotten after the final outcome of all deliveries.
    pub ephemeral: bool,
    /// The run of the input function, if there was one.
    pub input_execution_id: Option<ExecutionId>,
    /// Whether the input's function failed on it: then [`request`](Self::request) is
    /// what came, not what the function made of it.
    pub input_failed: bool,
    /// When it was received.
    pub received_at: Timestamp,
}
