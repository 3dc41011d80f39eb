//! S3 and what speaks like it, over its HTTP API: an [`ObjectStore`].
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//!
//! use webhook_core::{SystemClock, forward::Forwarder, model::Secret};
//! use webhook_storage::s3::{S3, S3Options};
//! use webhook_storage::{ObjectOptions, StorageOptions};
//!
//! fn keep_large_bodies(
//!     storage: &mut StorageOptions,
//!     secret_access_key: Secret,
//!     forwarder: Arc<dyn Forwarder>,
//! ) -> Result<(), webhook_core::Error> {
//!     let options = S3Options {
//!         url: "https://s3.eu-central-1.amazonaws.com/my-bucket/webhooks-of-prod".parse()?,
//!         region: "eu-central-1".to_owned(),
//!         access_key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
//!         secret_access_key,
//!         session_token: None,
//!         timeout: Duration::from_secs(10),
//!     };
//!     let s3 = S3::new(options, forwarder, Arc::new(SystemClock));
//!     storage.objects = Some(ObjectOptions::new(Arc::new(s3)));
//!     Ok(())
//! }
//! ```
//!
//! A request is tried three times, a tenth and then half a second apart, when there is no
//! answer or one of 429 and 5xx: it comes to the same however often it is done. The whole
//! takes no longer than the storage lets it.
//!
//! The secret key signs and is sent nowhere; `Debug` hides it, and of what S3 answers to a
//! request that it refuses only the error's code is told.

mod answer;
mod request;
#[cfg(test)]
mod tests;
mod url;

use std::{fmt, sync::Arc, time::Duration};

use crate::{ObjectError, ObjectStore};
use async_trait::async_trait;
use bytes::Bytes;
use http::Method;
use webhook_core::{Clock, forward::Forwarder, model::Secret};

pub use crate::s3::url::BucketUrl;

/// A bucket, and the key that opens it.
#[derive(Clone, Debug)]
pub struct S3Options {
    /// Where the objects are.
    pub url: BucketUrl,
    /// The region that requests are signed for, such as `eu-central-1`.
    pub region: String,
    /// The access key.
    pub access_key_id: String,
    /// The secret of the access key.
    pub secret_access_key: Secret,
    /// The session's token, of a temporary key.
    pub session_token: Option<Secret>,
    /// How long one request may take.
    pub timeout: Duration,
}

/// Keeps objects in a bucket.
pub struct S3 {
    options: S3Options,
    forwarder: Arc<dyn Forwarder>,
    clock: Arc<dyn Clock>,
}

impl S3 {
    /// Sends through `forwarder`, which must be allowed to connect to the bucket's address.
    #[must_use]
    pub fn new(options: S3Options, forwarder: Arc<dyn Forwarder>, clock: Arc<dyn Clock>) -> Self {
        Self { options, forwarder, clock }
    }

    /// Whether the bucket can be used: puts a small object under `probe/`, reads it and
    /// deletes it.
    ///
    /// # Errors
    /// What the bucket refuses.
    pub async fn probe(&self) -> Result<(), ObjectError> {
        const CONTENT: &[u8] = b"written by webhook-storage to see whether it can be\n";
        let key = format!("probe/{:016x}", fastrand::u64(..));
        self.put(&key, Bytes::from_static(CONTENT)).await?;
        let found = self.get(&key, CONTENT.len()).await?;
        if found.as_deref() != Some(CONTENT) {
            return Err(ObjectError::new("what was written is not what is read"));
        }
        self.delete(&key).await
    }
}

impl fmt::Debug for S3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3").field("options", &self.options).finish_non_exhaustive()
    }
}

#[async_trait]
impl ObjectStore for S3 {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), ObjectError> {
        let response = self.send(Method::PUT, key, bytes, 0).await?;
        match response.status.is_success() {
            true => Ok(()),
            false => Err(answer::refused("PUT", &response)),
        }
    }

    async fn get(&self, key: &str, max_bytes: usize) -> Result<Option<Bytes>, ObjectError> {
        let response = self.send(Method::GET, key, Bytes::new(), max_bytes).await?;
        match response.status.is_success() {
            true => Ok(Some(response.body.slice(..response.body.len().min(max_bytes)))),
            // Other answers of 404 are of a bucket, or of a proxy.
            false if answer::code(&response) == Some("NoSuchKey") => Ok(None),
            false => Err(answer::refused("GET", &response)),
        }
    }

    async fn delete(&self, key: &str) -> Result<(), ObjectError> {
        let response = self.send(Method::DELETE, key, Bytes::new(), 0).await?;
        match response.status.is_success() || answer::code(&response) == Some("NoSuchKey") {
            true => Ok(()),
            false => Err(answer::refused("DELETE", &response)),
        }
    }
}
