//! What scripts of any language get beyond their own library, without a VM.
//!
//! Structured data is a [`serde_json::Value`], whose objects keep their order.

mod bounds;
pub(crate) mod cipher;
pub(crate) mod compression;
pub(crate) mod csv;
pub(crate) mod digest;
pub(crate) mod digits;
pub(crate) mod encoding;
pub(crate) mod error;
pub(crate) mod form;
pub(crate) mod http;
pub(crate) mod id;
pub(crate) mod jmespath;
pub(crate) mod jwt;
pub(crate) mod keys;
pub(crate) mod kv;
mod limit;
mod node;
mod output;
mod outside;
pub(crate) mod random;
pub(crate) mod request;
pub(crate) mod signature;
pub(crate) mod template;
pub(crate) mod tree;
pub(crate) mod url;
pub(crate) mod xml;
pub(crate) mod yaml;

pub(crate) use bounds::{Bounds, MAX_DEPTH};
pub(crate) use error::ModuleError;
pub(crate) use limit::Limit;
pub(crate) use output::Output;
pub(crate) use outside::{NO_FORWARDER, Outside};
