//! Bodies as objects: put, read and compared, deleted.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt,
    future::Future,
    sync::Mutex,
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use ring::digest::{SHA256, digest};
use sea_orm::prelude::Uuid;
use tokio::{sync::Semaphore, time::timeout};
use webhook_core::{Error, WebhookId, model::Webhook};

use super::{ObjectError, ObjectOptions};
use crate::locked::locked;

/// When a caller may try again after the object store did not answer.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How many bodies one caller reads, or deletes, at the same time; and after how many errors it
/// stops to read, because there is more to them than one object.
const AT_ONCE: usize = 8;
/// How many webhooks are remembered whose objects are gone.
const REMEMBERED: usize = 16_384;

/// What a row says of a body that is an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredBody {
    pub(crate) webhook: Uuid,
    pub(crate) bytes: usize,
    pub(crate) sha256: [u8; 32],
}

impl StoredBody {
    fn of(webhook: &Webhook) -> Self {
        let body = &webhook.request.body;
        Self { webhook: webhook.id.as_uuid(), bytes: body.len(), sha256: sha256(body) }
    }

    fn is(&self, bytes: &Bytes) -> bool {
        bytes.len() == self.bytes && sha256(bytes) == self.sha256
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut sum = [0; 32];
    sum.copy_from_slice(digest(&SHA256, bytes).as_ref());
    sum
}

/// What became of reading a body.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// It is as it was received.
    Whole(Bytes),
    /// The object is gone or changed, and asking again does not help.
    Gone,
    /// The store did not answer.
    Unread,
}

/// What became of reading some bodies.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    bodies: HashMap<Uuid, Body>,
    /// Why some are unread.
    pub(crate) error: Option<Error>,
}

impl Fetched {
    /// None of them can be read.
    pub(crate) fn unread(bodies: &[StoredBody], error: Error) -> Self {
        let unread = bodies.iter().map(|body| (body.webhook, Body::Unread)).collect();
        Self { bodies: unread, error: Some(error) }
    }

    /// None of a webhook whose body is in its row.
    pub(crate) fn of(&self, webhook: WebhookId) -> Option<&Body> {
        self.bodies.get(&webhook.as_uuid())
    }
}

/// The bodies in the object store.
pub(crate) struct Bodies {
    options: ObjectOptions,
    writes: Semaphore,
    reads: Semaphore,
    /// The webhooks whose objects were found to be gone lately, so that nobody sends a
    /// webhook again from a log that is shown without its body.
    gone: Mutex<VecDeque<Uuid>>,
}

impl Bodies {
    pub(crate) fn new(options: ObjectOptions) -> Self {
        let [writes, reads] = [(); 2].map(|()| Semaphore::new(options.concurrency.max(1)));
        Self { options, writes, reads, gone: Mutex::default() }
    }

    /// Puts the body of a webhook that is about to be stored, if it is one for an object.
    pub(crate) async fn put(&self, webhook: &Webhook) -> Result<Option<StoredBody>, Error> {
        let body = &webhook.request.body;
        if webhook.ephemeral || body.len() <= self.options.min_bytes {
            return Ok(None);
        }
        let stored = StoredBody::of(webhook);
        let key = key(stored.webhook);
        let put = self.options.store.put(&key, body.clone());
        self.within(&self.writes, put).await.map_err(|error| {
            tracing::warn!(webhook = %webhook.id, error = %told(&error), "a body cannot be put");
            unavailable(error)
        })?;
        Ok(Some(stored))
    }

    /// Reads bodies. One that cannot be read keeps nobody from the others.
    pub(crate) async fn fetch(&self, mut wanted: Vec<StoredBody>) -> Fetched {
        let mut known = HashSet::with_capacity(wanted.len());
        wanted.retain(|body| known.insert(body.webhook));
        let mut fetched = Fetched::default();
        let read = |body: StoredBody| async move { (body.webhook, self.read(body).await) };
        let reading = stream::iter(wanted.clone()).map(read);
        let mut reading = std::pin::pin!(reading.buffered(AT_ONCE));
        let mut errors = 0;
        while errors < AT_ONCE
            && let Some((webhook, body)) = reading.next().await
        {
            match body {
                Ok(body) => drop(fetched.bodies.insert(webhook, body)),
                Err(error) => {
                    fetched.error = Some(error);
                    errors += 1;
                }
            }
        }
        if fetched.error.is_some() {
            for body in &wanted {
                fetched.bodies.entry(body.webhook).or_insert(Body::Unread);
            }
        }
        fetched
    }

    async fn read(&self, body: StoredBody) -> Result<Body, Error> {
        // One byte more shows an object that is too long.
        let key = key(body.webhook);
        let get = self.options.store.get(&key, body.bytes.saturating_add(1));
        let found = self.within(&self.reads, get).await.map_err(|error| {
            let webhook = WebhookId::from_uuid(body.webhook);
            tracing::warn!(%webhook, error = %told(&error), "a body cannot be read");
            unavailable(error)
        })?;
        let problem = match found {
            Some(bytes) if body.is(&bytes) => {
                locked(&self.gone).retain(|gone| *gone != body.webhook);
                return Ok(Body::Whole(bytes));
            }
            Some(_) => "the object of a body is not what was stored",
            None => "the object of a body is gone",
        };
        tracing::error!(webhook = %WebhookId::from_uuid(body.webhook), key, "{problem}");
        let mut gone = locked(&self.gone);
        if !gone.contains(&body.webhook) {
            gone.truncate(REMEMBERED - 1);
            gone.push_front(body.webhook);
        }
        Ok(Body::Gone)
    }

    /// Whether the body was found to be gone when it was last read.
    pub(crate) fn is_gone(&self, webhook: WebhookId) -> bool {
        locked(&self.gone).contains(&webhook.as_uuid())
    }

    /// Deletes what no row names any more. Says whether the store still answers: what is left
    /// is for the rule of the bucket.
    pub(crate) async fn delete(&self, webhooks: Vec<Uuid>) -> bool {
        let delete = |webhook: Uuid| async move {
            let key = key(webhook);
            self.within(&self.reads, self.options.store.delete(&key)).await
        };
        let deleting = stream::iter(webhooks).map(delete);
        let mut deleting = std::pin::pin!(deleting.buffer_unordered(AT_ONCE));
        while let Some(deleted) = deleting.next().await {
            if let Err(error) = deleted {
                tracing::warn!(error = %told(&error), "objects are left to the rule of the bucket");
                return false;
            }
        }
        true
    }

    async fn within<T>(
        &self,
        slots: &Semaphore,
        operation: impl Future<Output = Result<T, ObjectError>>,
    ) -> Result<T, ObjectError> {
        let in_turn = async {
            let closed = |error| ObjectError::new("the storage is closed").caused_by(error);
            let _slot = slots.acquire().await.map_err(closed)?;
            operation.await
        };
        let late = |error| ObjectError::new("the object store is too slow").caused_by(error);
        timeout(self.options.timeout, in_turn).await.map_err(late)?
    }
}

impl fmt::Debug for Bodies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bodies").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Where the body of a webhook is.
fn key(webhook: Uuid) -> String {
    format!("webhooks/{}", WebhookId::from_uuid(webhook))
}

/// The error of one who needs an object and cannot have it now.
pub(crate) fn unavailable(error: ObjectError) -> Error {
    Error::unavailable("the object storage is not available", RETRY_AFTER).caused_by(error)
}

/// An error with its causes.
fn told(error: &ObjectError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
