//! Large bodies in a bucket (`docs/large-bodies.md`).

use std::sync::Arc;

use webhook_storage::ObjectOptions;

use crate::{config::ObjectsConfig, failure::Failure};

/// Where large bodies go, once the bucket was tried; none if they stay in the database.
///
/// # Errors
/// When the bucket refuses, which it would do to every large webhook.
pub(crate) async fn open(config: &ObjectsConfig) -> Result<Option<ObjectOptions>, Failure> {
    let Some(bucket) = config.bucket() else { return Ok(None) };
    bucket.probe().await.map_err(|error| {
        Failure::caused_by("WEBHOOK_OBJECTS_URL: the bucket cannot be used", error)
    })?;
    let mut options = ObjectOptions::new(Arc::new(bucket));
    options.min_bytes = config.objects_min_bytes;
    Ok(Some(options))
}
