//! Where a webhook goes.

use std::fmt;

use async_trait::async_trait;

use crate::{
    error::Error,
    id::{InputId, OutputId},
    model::Bucket,
};

/// Finds the bucket that a webhook comes into and that a delivery leaves: all
/// that the way of a webhook asks about configuration.
///
/// A bucket carries its inputs, the oldest first, its outputs in ID order and
/// the stamped read-only fields of `auth`.
#[async_trait]
pub trait RouteStore: Send + Sync + fmt::Debug {
    /// The bucket of an input, whoever owns it: what a webhook's way starts with.
    async fn bucket_of_input(&self, id: InputId) -> Result<Option<Bucket>, Error>;

    /// The bucket of an output, whoever owns it: what a delivery starts with.
    async fn bucket_of_output(&self, id: OutputId) -> Result<Option<Bucket>, Error>;
}
