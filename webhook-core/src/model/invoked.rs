//! What a function runs on.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::HeaderMap;

use super::{Checks, Request};

/// A response that a script reads or sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptResponse {
    /// The status; 0 when it was not set.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// One run of a function that a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoked {
    /// What the function gets.
    pub request: Request,
    /// The destination's answer, if it runs as a response function.
    pub response: Option<ScriptResponse>,
    /// What `r.Metadata` reads.
    pub metadata: BTreeMap<String, String>,
    /// What `r.Verified`, `r.EventType` and `r.DuplicateOf` read.
    pub checks: Checks,
}
