//! What waits too long for its first attempt, and what does not because of a pause.

use std::mem;

use foldhash::HashSet;

use super::{OutputQueue, QueueLimits, QueuedDelivery, State};
use crate::{
    clock::Timestamp,
    id::{ReplayId, WebhookId},
    relay::deliver::{attempt::Report, slow::LONGEST_WAIT},
    store::Pending,
};

/// What a log says whose webhook was received too early to be sent after a pause.
const DISCARDED: &str = "received before the moment from which on its output was resumed";

impl OutputQueue {
    /// Looks at a pause again.
    pub(crate) fn unpark(&self) {
        self.state.lock().parked = false;
    }

    /// Whether something has waited past its deadline, as far as is known.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.state.lock().first_expires_at(now).is_some_and(|expires_at| expires_at <= now)
    }

    /// The deadline of the first delivery, unless a timer is set for it or for an earlier moment.
    /// The caller sets one.
    pub(crate) fn unwatched_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let mut state = self.state.lock();
        let deadline = state.first_expires_at(now)?;
        // A timer that is due has woken the queue, or is about to.
        let is_watched = state.watched_deadline.is_some_and(|it| it > now && it <= deadline);
        if is_watched {
            return None;
        }
        state.watched_deadline = Some(deadline);
        Some(deadline)
    }

    /// Takes out what has waited past its deadline, whether a worker is free or not.
    pub(crate) fn take_expired(&self, limits: QueueLimits, now: Timestamp) -> Vec<QueuedDelivery> {
        let mut state = self.state.lock();
        state.limit(limits);
        std::iter::from_fn(|| state.pop_expired(now)).collect()
    }

    /// Why a delivery was taken out that is not sent.
    pub(crate) fn unsent(&self, pending: &Pending, now: Timestamp) -> Report {
        let state = self.state.lock();
        let is_due = |moment: Option<Timestamp>| moment.is_some_and(|moment| moment <= now);
        if state.limits.discards(pending.created_at) {
            Report::withdrawn(DISCARDED)
        } else if is_due(state.gives_up_at(pending, now)) {
            Report::given_up(state.limits.is_durable)
        } else {
            Report::expired()
        }
    }

    /// Takes out what a replay has queued and was never attempted.
    pub(crate) fn take_replayed(&self, replay: ReplayId) -> Vec<QueuedDelivery> {
        self.take(|Pending { attempts, replay: of, .. }| {
            *attempts == 0 && of.as_ref().is_some_and(|of| of.id == replay)
        })
    }

    /// Takes out what waits of these webhooks.
    pub(crate) fn take_webhooks(&self, webhooks: &HashSet<WebhookId>) -> Vec<QueuedDelivery> {
        self.take(|pending| webhooks.contains(&pending.webhook.id))
    }

    fn take(&self, is_meant: impl Fn(&Pending) -> bool) -> Vec<QueuedDelivery> {
        let mut state = self.state.lock();
        let all = mem::take(&mut state.queue).into_iter();
        let (taken, left) = all.partition::<Vec<_>, _>(|delivery| is_meant(&delivery.pending));
        state.queue = left.into();
        taken
    }

    /// Puts back what was taken out, where the order of receipt has it.
    pub(crate) fn return_taken(&self, delivery: QueuedDelivery) {
        let mut state = self.state.lock();
        let id = delivery.pending.id;
        let later = state.queue.iter().position(|other| other.pending.id > id);
        let place = later.unwrap_or(state.queue.len());
        state.queue.insert(place, delivery);
    }
}

impl State {
    pub(super) fn pop_expired(&mut self, now: Timestamp) -> Option<QueuedDelivery> {
        if self.first_expires_at(now)? > now {
            return None;
        }
        self.slow.expired();
        self.queue.pop_front()
    }

    /// When the delivery at the head will have waited too long for its first attempt, or that
    /// it has been discarded; none while nothing may leave.
    fn first_expires_at(&self, now: Timestamp) -> Option<Timestamp> {
        if self.limits.paused_until.is_some_and(|until| until > now) {
            return None;
        }
        let head = &self.queue.front()?.pending;
        if self.limits.discards(head.created_at) {
            return Some(head.created_at);
        }
        let unattempted = head.attempts == 0;
        let expires_at = unattempted.then(|| self.limits.expires_at(head.created_at, now));
        expires_at.flatten().into_iter().chain(self.gives_up_at(head, now)).min()
    }

    /// When a delivery will have waited too long for a destination that fails each time.
    fn gives_up_at(&self, delivery: &Pending, now: Timestamp) -> Option<Timestamp> {
        let since = self.slow.since()?;
        match self.limits.is_durable {
            true => self.limits.retries_until(delivery.created_at, now),
            false => Some(delivery.due_at.max(since) + LONGEST_WAIT),
        }
    }

    /// The earlier of `moment` and the deadline of the delivery at the head.
    pub(super) fn before_deadline(&self, moment: Timestamp, now: Timestamp) -> Timestamp {
        self.first_expires_at(now).map_or(moment, |expires_at| moment.min(expires_at))
    }
}
