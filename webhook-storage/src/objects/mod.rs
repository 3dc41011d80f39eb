//! Large bodies in object storage.
//!
//! The body of a webhook that is longer than [`ObjectOptions::min_bytes`] is an object of an
//! [`ObjectStore`]. It is put there before the commit that makes the webhook durable, so a
//! row never names an object that was not written. The row has the length and the SHA-256
//! of the body, and whoever reads the body compares both.
//!
//! | step | where |
//! |---|---|
//! | a body is put before the commit | `bodies`, `store::delivery` |
//! | bodies are read after a transaction, never in one | `bodies` |
//! | what a claim, a drain or a list does without a body | `store::bodies` |
//! | objects of removed webhooks are deleted after the commit | `store::purge` |

mod bodies;

use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;

pub(crate) use self::bodies::{Bodies, Body, Fetched, StoredBody, unavailable};

/// Keeps objects: bytes under a key, in a bucket of S3 for example.
///
/// An operation that returns `Ok` is durable, and a [`get`](Self::get) after it sees it. A
/// key is letters, digits, `-` and `/`. The same key is never put with other bytes. Every
/// error counts as temporary: who sends a webhook gets 503, and a delivery waits. The
/// storage bounds how long an operation may take and how many there are at once.
///
/// ```
/// use std::{collections::HashMap, sync::Mutex};
///
/// use bytes::Bytes;
/// use webhook_storage::{ObjectError, ObjectStore};
///
/// /// Keeps objects in memory.
/// #[derive(Debug, Default)]
/// struct InMemory(Mutex<HashMap<String, Bytes>>);
///
/// fn broken<E>(_: E) -> ObjectError {
///     ObjectError::new("a thread panicked")
/// }
///
/// #[async_trait::async_trait]
/// impl ObjectStore for InMemory {
///     async fn put(&self, key: &str, bytes: Bytes) -> Result<(), ObjectError> {
///         self.0.lock().map_err(broken)?.insert(key.to_owned(), bytes);
///         Ok(())
///     }
///
///     async fn get(&self, key: &str, max_bytes: usize) -> Result<Option<Bytes>, ObjectError> {
///         let found = self.0.lock().map_err(broken)?.get(key).cloned();
///         Ok(found.map(|bytes| bytes.slice(..bytes.len().min(max_bytes))))
///     }
///
///     async fn delete(&self, key: &str) -> Result<(), ObjectError> {
///         self.0.lock().map_err(broken)?.remove(key);
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait ObjectStore: Send + Sync + fmt::Debug {
    /// Stores `bytes` under `key`, in place of what is there.
    ///
    /// # Errors
    /// They may not be stored.
    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), ObjectError>;

    /// What is stored under `key`, cut after `max_bytes`; none when the store is sure that
    /// there is no such object.
    ///
    /// # Errors
    /// The store does not say.
    async fn get(&self, key: &str, max_bytes: usize) -> Result<Option<Bytes>, ObjectError>;

    /// Removes what is stored under `key`. That there is nothing is no error.
    ///
    /// # Errors
    /// It may still be there.
    async fn delete(&self, key: &str) -> Result<(), ObjectError>;
}

/// Why an [`ObjectStore`] did not do what it was asked for. It is for the log.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct ObjectError {
    reason: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ObjectError {
    /// An error with a reason for the log, which must have no secret in it.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), source: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// Which bodies are objects, and the bounds of what is asked of their store.
///
/// The key of a body is `webhooks/` and the ID of its webhook: one rule for the prefix
/// `webhooks/` makes old objects go. Such a rule has to keep them for longer than logs are
/// kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ObjectOptions {
    /// Where the objects are.
    pub store: Arc<dyn ObjectStore>,
    /// Longer bodies are objects, 256 KiB. Those of ephemeral webhooks are not.
    pub min_bytes: usize,
    /// How many objects are written at the same time, and as many are read: 32.
    pub concurrency: usize,
    /// How long one operation may take, with the time that it waits for others: 10 s.
    pub timeout: Duration,
}

impl ObjectOptions {
    /// The defaults for this store.
    #[must_use]
    pub fn new(store: Arc<dyn ObjectStore>) -> Self {
        Self { store, min_bytes: 256 << 10, concurrency: 32, timeout: Duration::from_secs(10) }
    }
}
