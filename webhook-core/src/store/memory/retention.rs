//! Which webhooks are kept, and which go first.

use std::{collections::BTreeSet, time::Duration};

use super::row::Entry;
use crate::{
    error::{Error, ErrorKind},
    id::WebhookId,
};

/// What keeping a webhook means to anyone; the order is that of what can go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// All its deliveries are final: it is a log and no more.
    Finished,
    /// It came into a bucket without outputs and waits for clients.
    Unaddressed,
    /// An output is still to get it.
    Unfinished,
}

/// Counts what is kept against the bounds.
pub(super) struct Retention {
    max_webhooks: usize,
    max_bytes: usize,
    finished: BTreeSet<WebhookId>,
    unaddressed: BTreeSet<WebhookId>,
    /// Those and the unfinished ones.
    webhooks: usize,
    bytes: usize,
    unfinished_bytes: usize,
}

/// How soon a sender may try again when the store is full of unfinished webhooks.
const RETRY_AFTER: Duration = Duration::from_secs(1);

impl Retention {
    pub(super) fn new(max_webhooks: usize, max_bytes: usize) -> Self {
        Self {
            max_webhooks,
            max_bytes,
            finished: BTreeSet::new(),
            unaddressed: BTreeSet::new(),
            webhooks: 0,
            bytes: 0,
            unfinished_bytes: 0,
        }
    }

    pub(super) fn set_max_bytes(&mut self, max_bytes: usize) {
        self.max_bytes = max_bytes;
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        let (id, bytes) = (entry.webhook.id, entry.bytes);
        self.webhooks += 1;
        self.bytes += bytes;
        match entry.need() {
            Need::Finished => drop(self.finished.insert(id)),
            Need::Unaddressed => drop(self.unaddressed.insert(id)),
            Need::Unfinished => self.unfinished_bytes += bytes,
        }
    }

    /// Takes back what [`add`](Self::add) was told.
    pub(super) fn remove(&mut self, entry: &Entry) {
        let (id, bytes) = (entry.webhook.id, entry.bytes);
        self.webhooks -= 1;
        self.bytes -= bytes;
        match entry.need() {
            Need::Finished => drop(self.finished.remove(&id)),
            Need::Unaddressed => drop(self.unaddressed.remove(&id)),
            Need::Unfinished => self.unfinished_bytes -= bytes,
        }
    }

    /// Lets an entry that was added change.
    pub(super) fn recount(&mut self, entry: &mut Entry, change: impl FnOnce(&mut Entry)) {
        self.remove(entry);
        change(entry);
        self.add(entry);
    }

    /// Whether a webhook of so many bytes can be kept once all others that may
    /// go have gone.
    pub(super) fn admit(&self, bytes: usize) -> Result<(), Error> {
        if bytes > self.max_bytes {
            return Err(Error::new(ErrorKind::TooLarge, "body: larger than the store may grow"));
        }
        let unfinished = self.webhooks - self.finished.len() - self.unaddressed.len();
        if unfinished >= self.max_webhooks
            || self.unfinished_bytes.saturating_add(bytes) > self.max_bytes
        {
            let message = "the store is full of webhooks that are not delivered yet";
            return Err(Error::unavailable(message, RETRY_AFTER));
        }
        Ok(())
    }

    /// The next webhook to go, before so many more webhooks and bytes fit in.
    pub(super) fn next_to_go(&self, webhooks: usize, bytes: usize) -> Option<WebhookId> {
        let over = self.webhooks.saturating_add(webhooks) > self.max_webhooks
            || self.bytes.saturating_add(bytes) > self.max_bytes;
        let oldest = || self.finished.first().or_else(|| self.unaddressed.first()).copied();
        over.then(oldest).flatten()
    }
}
