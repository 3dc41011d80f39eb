//! What inputs that deduplicate have seen.

use std::{collections::BTreeSet, sync::Arc};

use foldhash::HashMap;

use super::{queue::Queue, row::Arrival};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{DeliveryId, InputId, WebhookId},
    store::{Accept, Accepted, Seen},
};

type Key = (InputId, [u8; 32]);

/// Who has a key.
struct Holder {
    webhook: WebhookId,
    log: DeliveryId,
    until: Timestamp,
    duplicates: u32,
}

/// Keys, at most so many.
pub(super) struct SeenKeys {
    capacity: usize,
    holders: HashMap<Key, Holder>,
    /// All of them, those that end first at the front.
    ends: BTreeSet<(Timestamp, Key)>,
}

impl SeenKeys {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, holders: HashMap::default(), ends: BTreeSet::new() }
    }

    fn insert(&mut self, key: Key, holder: Holder) {
        self.ends.insert((holder.until, key));
        if let Some(former) = self.holders.insert(key, holder) {
            let until = self.holders.get(&key).map(|holder| holder.until);
            if until != Some(former.until) {
                self.ends.remove(&(former.until, key));
            }
        }
        while self.holders.len() > self.capacity {
            let Some((_, key)) = self.ends.pop_first() else { return };
            self.holders.remove(&key);
        }
    }

    /// Forgets what has ended at `now`, at most `limit` of it; how many went.
    pub(super) fn forget(&mut self, now: Timestamp, limit: usize) -> usize {
        let ended = self.ends.iter().take(limit).take_while(|(until, _)| *until <= now);
        let ended: Vec<_> = ended.copied().collect();
        for end in &ended {
            self.ends.remove(end);
            self.holders.remove(&end.1);
        }
        ended.len()
    }
}

impl Queue {
    /// Stores a webhook that has keys, or what is left of it when it is a duplicate.
    pub(super) fn insert_unseen(&mut self, accept: Accept) -> Result<Accepted, Error> {
        let (id, input) = (accept.webhook.id, accept.webhook.input_id);
        let now = accept.webhook.received_at;
        let seen = accept.seen.clone();
        let is_taken = |seen: &Seen| {
            let holder = self.seen.holders.get(&(input, seen.key));
            holder.is_some_and(|holder| holder.webhook != id && now < holder.until)
        };
        if let Some(place) = seen.iter().position(is_taken) {
            return self.insert_duplicate(&accept, place);
        }
        let log = accept.deliveries.iter().map(|delivery| delivery.id).min();
        let accepted = self.insert(Arrival::of(accept))?;
        if let (Accepted::Stored, Some(log)) = (accepted, log) {
            for Seen { key, until } in seen {
                let holder = Holder { webhook: id, log, until, duplicates: 0 };
                self.seen.insert((input, key), holder);
            }
        }
        Ok(accepted)
    }

    fn insert_duplicate(&mut self, accept: &Accept, place: usize) -> Result<Accepted, Error> {
        let key = accept.seen.get(place).map(|seen| (accept.webhook.input_id, seen.key));
        let holder = key.and_then(|key| self.seen.holders.get_mut(&key));
        let Some(holder) = holder else { return self.insert(Arrival::of(accept.clone())) };
        let (of, log, before) = (holder.webhook, holder.log, holder.duplicates);
        if before < Seen::MAX_LOGS {
            self.insert(Arrival::of(accept.duplicate_of(log)))?;
        }
        if let Some(holder) = key.and_then(|key| self.seen.holders.get_mut(&key)) {
            holder.duplicates = before.saturating_add(1);
        }
        if let Some(first) = self.webhooks.get_mut(&of) {
            let checks = &mut Arc::make_mut(&mut first.webhook).checks;
            checks.duplicates = checks.duplicates.saturating_add(1);
        }
        Ok(Accepted::Duplicate { of })
    }
}
