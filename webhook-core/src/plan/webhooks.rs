//! Webhooks a month: counted in memory, so that receiving one asks no store.
//!
//! What is known of an account is read with its first webhook, and again, beside
//! the webhooks, when it is old and another one comes: after [`MAX_AGE`], or sooner where
//! the month's webhooks run out soon. Between two readings a server counts what itself
//! receives. So one server is exact, but for what is on its way to the store while it reads,
//! and of several each lets through what the others received since its last reading; a change
//! of plan that another server took is seen as late as that. Where they tell one another, a
//! change of plan and the first refusal are known at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;

use super::Quotas;
use crate::{
    clock::{Month, Timestamp},
    error::Error,
    id::AccountId,
    relay::{Quota, Ticket},
};

/// How old what is known of an account may be before it is read again.
const MAX_AGE: Duration = Duration::from_secs(10);
/// The same before it is known how many webhooks come.
const FIRST_AGE: Duration = Duration::from_secs(1);
/// What is younger is not read again.
const MIN_AGE: Duration = Duration::from_millis(250);
/// A sender that is refused asks again after this at the latest: the plan may
/// have changed by then.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

/// What is known of an account that receives webhooks.
#[derive(Debug)]
pub(super) struct Standing {
    plan: String,
    /// How many webhooks a month; none for any number.
    most: Option<u64>,
    month: Month,
    /// As many had been received when it was read.
    before: u64,
    /// As many have been let through since.
    since: Arc<AtomicU64>,
    read_at: Timestamp,
    /// In milliseconds since 1970.
    read_again_at: AtomicI64,
    /// Whether other servers need not be told that all are used: they were, or told us.
    is_told: AtomicBool,
}

impl Standing {
    fn admit(&self, now: Timestamp) -> Result<Ticket, Error> {
        let Some(most) = self.most else { return Ok(Ticket::default()) };
        let one_more = |since: u64| (self.before.saturating_add(since) < most).then_some(since + 1);
        match self.since.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more) {
            Ok(_) => Ok(Ticket(Some(Arc::clone(&self.since)))),
            Err(_) => {
                let plan = &self.plan;
                let message =
                    format!("the plan {plan:?} includes {most} webhooks a month, and all are used");
                Err(Error::busy(message, self.month.end.since(now).min(LONGEST_WAIT)))
            }
        }
    }

    /// How long it counts when there are `left` of the month's webhooks at `now`, before of which
    /// there had been so many: half as long as these last, if as many come as have come since.
    fn lasts(former: &Self, before: u64, left: u64, now: Timestamp) -> Duration {
        let come = before.saturating_sub(former.before).max(1);
        let took = now.since(former.read_at).as_secs_f64();
        let lasts = Duration::try_from_secs_f64(took * left as f64 / come as f64 / 2.0);
        lasts.unwrap_or(MAX_AGE).clamp(MIN_AGE, MAX_AGE)
    }

    /// Whether it is to be read again.
    fn is_old(&self, now: Timestamp) -> bool {
        now.as_millis() >= self.read_again_at.load(Ordering::Acquire)
    }

    /// Whether it is this caller's turn to read it again.
    fn is_to_be_read(&self, now: Timestamp) -> bool {
        let due = self.read_again_at.load(Ordering::Acquire);
        let next = (now + MAX_AGE).as_millis();
        now.as_millis() >= due
            && self
                .read_again_at
                .compare_exchange(due, next, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
    }
}

#[async_trait]
impl Quota for Quotas {
    fn admit_by_memory(&self, account: AccountId) -> Option<Result<Ticket, Error>> {
        if !self.plans.any(|limits| !limits.webhooks.is_unlimited()) {
            return Some(Ok(Ticket::default()));
        }
        let (now, standing) = (self.clock.now(), self.standings.get(&account)?);
        let is_known = now < standing.month.end && !standing.is_old(now);
        is_known.then(|| standing.admit(now))
    }

    async fn admit_by_store(self: Arc<Self>, account: AccountId) -> Result<Ticket, Error> {
        let now = self.clock.now();
        let is_over = |standing: &Arc<Standing>| now >= standing.month.end;
        // A new month begins with a new count.
        self.standings.remove_if(&account, is_over);
        let standing =
            self.standings.get_or_insert_async(&account, self.read(account, None)).await?;
        if standing.is_to_be_read(now) {
            let (quotas, former) = (Arc::clone(&self), Arc::clone(&standing));
            tokio::spawn(async move { quotas.read_again(account, &former).await });
        }
        standing.admit(now)
    }

    fn is_used_up(&self, account: AccountId) -> bool {
        let standing = self.standings.get(&account);
        standing.is_some_and(|standing| !standing.is_told.swap(true, Ordering::AcqRel))
    }

    fn plan_changed(&self, account: AccountId) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.standings.remove(&account);
    }
}

impl Quotas {
    async fn read(
        &self,
        account: AccountId,
        former: Option<&Standing>,
    ) -> Result<Arc<Standing>, Error> {
        let now = self.clock.now();
        let plan = self.plan(account).await?;
        let most = plan.limits.webhooks.count();
        let before = match most {
            Some(_) => self.stores.logs.received(account, now).await?,
            None => 0,
        };
        let left = most.map_or(0, |most| most.saturating_sub(before));
        let (age, is_told) = match former {
            Some(former) if left > 0 => (Standing::lasts(former, before, left, now), false),
            Some(former) => (MAX_AGE, former.is_told.load(Ordering::Acquire)),
            None if left > 0 => (FIRST_AGE, false),
            None => (MAX_AGE, true),
        };
        Ok(Arc::new(Standing {
            plan: plan.name.clone(),
            most,
            month: Month::of(now),
            before,
            since: Arc::default(),
            read_at: now,
            read_again_at: AtomicI64::new((now + age).as_millis()),
            is_told: AtomicBool::new(is_told),
        }))
    }

    async fn read_again(&self, account: AccountId, former: &Standing) {
        let seen = self.changes.load(Ordering::Acquire);
        match self.read(account, Some(former)).await {
            // What was let through and is not stored yet is counted next time.
            Ok(standing) if self.changes.load(Ordering::Acquire) == seen => {
                self.standings.insert(account, standing);
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "cannot count webhooks; trying again later"),
        }
    }
}
