//! Erasing webhooks, which are on their way or have ended: one, or all that a filter finds.
//!
//! An erasure of many looks at its logs from a place on, erases their webhooks and moves the
//! place on, in one transaction ([`step`]), as replays do. A webhook that is in flight is
//! remembered and tried again, until its attempt has ended.

mod step;

use std::{sync::Arc, time::Duration};

use foldhash::HashSet;
use tokio::sync::Notify;
use uuid::Uuid;

use super::{
    RelayOptions, RelayParts,
    deliver::Deliverer,
    detach::Uncancelled,
    held::{HOLD, Held, LOOK_AGAIN},
    sources::replays::{Looked, Source, place},
};
use crate::{
    clock::{Clock, Timestamp},
    error::{Error, ErrorKind},
    id::{AccountId, NodeId, WebhookId},
    model::{Erasure, ReplayStatus},
    store::{ClaimWork, DeliveryStore, ErasedWebhook, ErasureStore, LogStore},
};

/// The number of logs that one step looks at. A larger step would delay other writers.
const LOGS_AT_ONCE: usize = 32;
/// The pause between two steps. Other writers use the store in it.
const BETWEEN: Duration = Duration::from_millis(20);
/// The longest time without an end of an attempt. After it, webhooks in flight are left.
const PATIENCE: Duration = Duration::from_secs(600);
/// The longest rest between two looks at them.
const LONGEST_REST: Duration = Duration::from_secs(8);

/// Erases webhooks.
#[derive(Debug)]
pub(crate) struct Eraser {
    pub(super) node: NodeId,
    pub(super) store: Arc<dyn ErasureStore>,
    pub(super) logs: Arc<dyn LogStore>,
    pub(super) deliveries: Arc<dyn DeliveryStore>,
    pub(super) deliverer: Arc<Deliverer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) options: Arc<RelayOptions>,
    /// Told when an erasure is made.
    pub(super) changed: Notify,
}

/// An erasure that this node continues.
pub(super) struct Going {
    erasure: Erasure,
    /// Whether all logs were looked at.
    all_looked: bool,
    /// Since when no webhook has come out of flight.
    stuck_since: Timestamp,
    /// How long it rests before it looks at them again.
    rest: Duration,
}

impl Eraser {
    pub(super) fn new(parts: &RelayParts, deliverer: &Arc<Deliverer>) -> Self {
        Self {
            node: parts.node,
            store: parts.stores.erasures.clone(),
            logs: parts.stores.logs.clone(),
            deliveries: parts.stores.deliveries.clone(),
            deliverer: deliverer.clone(),
            clock: parts.clock.clone(),
            options: parts.options.clone(),
            changed: Notify::new(),
        }
    }

    /// Erases a webhook of the account, also when the caller stops waiting.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "the management calls it"))]
    pub(crate) async fn erase(
        &self,
        account: AccountId,
        webhook: WebhookId,
    ) -> Result<ErasedWebhook, Error> {
        let (logs, deliverer) = (Arc::clone(&self.logs), Arc::clone(&self.deliverer));
        let now = self.clock.now();
        let work = async move {
            let taken = deliverer.take_webhooks(&HashSet::from_iter([webhook])).remove(&webhook);
            let erase = deliverer.to_erase(webhook, taken.as_ref(), now);
            let erased = logs.erase(account, &erase).await;
            match &erased {
                Ok(erased) => deliverer.forget(taken, erased),
                Err(error) => match error.kind() {
                    ErrorKind::Conflict | ErrorKind::NotFound => deliverer.put_back(taken),
                    _ => deliverer.look_for(taken),
                },
            }
            erased
        };
        Uncancelled::new(work).await
    }

    /// Says that an erasure was made.
    #[cfg(feature = "admin")]
    pub(super) fn changed(&self) {
        self.changed.notify_one();
    }

    /// Lets any node continue the erasures of this node.
    pub(super) async fn release(&self) -> Result<(), Error> {
        self.store.release_erasures(self.node).await
    }

    /// Looks at the next logs and erases their webhooks.
    async fn look(self: &Arc<Self>, going: &mut Going) -> Result<Option<Timestamp>, Error> {
        let erasure = &going.erasure;
        let source = Source::new(erasure.into(), self.logs.clone(), self.deliveries.clone())?;
        let place = place(&erasure.cursor)?;
        let Looked { logs, until, complete } = source.next(place, LOGS_AT_ONCE).await?;
        let mut webhooks: Vec<_> = logs.into_iter().map(|log| log.webhook.id).collect();
        webhooks.sort_unstable();
        webhooks.dedup();
        webhooks.retain(|id| !erasure.in_flight.contains(id));
        let to = until.or(place).map_or_else(String::new, |place| place.to_string());
        if self.step(erasure, webhooks, to, None).await?.is_none() {
            return Ok(None);
        }
        let now = self.clock.now();
        (going.all_looked, going.stuck_since) = (complete, now);
        Ok(Some(now + BETWEEN))
    }

    /// Erases of the webhooks in flight those that are so no more.
    async fn try_again(self: &Arc<Self>, going: &mut Going) -> Result<Option<Timestamp>, Error> {
        let erasure = &going.erasure;
        let mut left = 0;
        for some in erasure.in_flight.chunks(LOGS_AT_ONCE) {
            let to = erasure.cursor.clone();
            match self.step(erasure, some.to_vec(), to, None).await? {
                Some(in_flight) => left += in_flight,
                None => return Ok(None),
            }
        }
        let now = self.clock.now();
        if left < erasure.in_flight.len() {
            (going.stuck_since, going.rest) = (now, LOOK_AGAIN);
        }
        let until = now + going.rest;
        going.rest = (going.rest * 2).min(LONGEST_REST);
        Ok(Some(until))
    }

    async fn end(
        self: &Arc<Self>,
        erasure: &Erasure,
        status: ReplayStatus,
        error: String,
    ) -> Result<(), Error> {
        let to = erasure.cursor.clone();
        if self.step(erasure, Vec::new(), to, Some((status, error))).await?.is_some() {
            let (erased, status) = (erasure.erased, status.as_str());
            tracing::info!(erasure = %erasure.id, erased, status, "it is over");
        }
        Ok(())
    }
}

/// Why an erasure is over that did not come to its end.
fn stuck(erasure: &Erasure) -> String {
    let (count, minutes) = (erasure.in_flight.len(), PATIENCE.as_secs() / 60);
    format!(
        "{count} webhooks were in flight for {minutes} minutes: erase again when they have ended"
    )
}

impl Held for Eraser {
    type Item = Going;
    const WHAT: &'static str = "erasures";

    fn parts(&self) -> (&dyn Clock, &RelayOptions, &Notify) {
        (&*self.clock, &self.options, &self.changed)
    }

    async fn wakes_at(&self) -> Result<Option<Timestamp>, Error> {
        self.store.erasures_wake_at().await
    }

    async fn claim(&self, now: Timestamp, limit: usize) -> Result<Vec<Going>, Error> {
        let claim = ClaimWork::new(self.node, now, now + HOLD, limit);
        let erasures = self.store.claim_erasures(claim).await?.into_iter();
        let going =
            |erasure| Going { erasure, all_looked: false, stuck_since: now, rest: LOOK_AGAIN };
        Ok(erasures.map(going).collect())
    }

    fn id(going: &Going) -> Uuid {
        going.erasure.id.as_uuid()
    }

    async fn turn(self: &Arc<Self>, going: &mut Going) -> Result<Option<Timestamp>, Error> {
        let erasure = &mut going.erasure;
        match self.store.erasure(erasure.account_id, erasure.id).await? {
            Some(stored) if stored.finished_at.is_none() => *erasure = stored,
            _ => return Ok(None),
        }
        let is_full = erasure.in_flight.len() >= Erasure::MAX_IN_FLIGHT;
        if !going.all_looked && !is_full {
            return self.look(going).await;
        }
        let now = self.clock.now();
        if erasure.in_flight.is_empty() {
            self.end(erasure, ReplayStatus::Done, String::new()).await?;
            return Ok(None);
        }
        if now >= going.stuck_since + PATIENCE {
            let (status, error) = match is_full && !going.all_looked {
                false => (ReplayStatus::Done, String::new()),
                true => (ReplayStatus::Failed, stuck(erasure)),
            };
            self.end(erasure, status, error).await?;
            return Ok(None);
        }
        self.try_again(going).await
    }

    async fn fail(self: &Arc<Self>, going: &mut Going, error: &Error) -> Result<(), Error> {
        self.end(&going.erasure, ReplayStatus::Failed, error.to_string()).await
    }
}
