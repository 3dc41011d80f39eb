//! Whether an account may have one more.

use std::sync::{Arc, atomic::AtomicU64};

use quick_cache::sync::Cache;
use tokio::sync::{Mutex, MutexGuard};

use super::{Limit, Plan, PlanLimits, Plans, webhooks::Standing};
use crate::{
    clock::Clock,
    error::{Error, ErrorKind},
    id::AccountId,
    store::Stores,
};

/// How many accounts' counts of webhooks are kept in memory.
const CACHED_ACCOUNTS: usize = 100_000;
/// How many locks all accounts share.
const LOCKS: usize = 64;

/// Something that a plan limits the number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named after the field of PlanLimits")]
pub enum Limited {
    Agents,
    Buckets,
    Crons,
    Functions,
    Inputs,
    Outputs,
    Domains,
    Tokens,
}

impl Limited {
    fn of(self, limits: &PlanLimits) -> Limit {
        match self {
            Self::Agents => limits.agents,
            Self::Buckets => limits.buckets,
            Self::Crons => limits.crons,
            Self::Functions => limits.functions,
            Self::Inputs => limits.inputs,
            Self::Outputs => limits.outputs,
            Self::Domains => limits.reserved_domains,
            Self::Tokens => limits.tokens,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Agents => "connected clients",
            Self::Buckets => "buckets",
            Self::Crons => "cron jobs",
            Self::Functions => "functions",
            Self::Inputs => "inputs",
            Self::Outputs => "outputs",
            Self::Domains => "reserved domains",
            Self::Tokens => "access tokens",
        }
    }

    /// Which error says that there is no room (`docs/interface.md`, "Statuses").
    const fn kind(self) -> ErrorKind {
        match self {
            Self::Outputs => ErrorKind::PaymentRequired,
            Self::Domains => ErrorKind::Refused,
            _ => ErrorKind::Conflict,
        }
    }

    /// Whether `plan` has room for one more beside `current`.
    ///
    /// # Errors
    ///
    /// When it has not: [`PaymentRequired`](ErrorKind::PaymentRequired) for
    /// outputs, [`Refused`](ErrorKind::Refused) for domains,
    /// [`Conflict`](ErrorKind::Conflict) for everything else.
    pub fn check(self, plan: &Plan, current: u64) -> Result<(), Error> {
        let limit = self.of(&plan.limits);
        if limit.has_room(current) {
            return Ok(());
        }
        let (name, plan) = (self.name(), &plan.name);
        let message = match limit.count().unwrap_or_default() {
            0 => format!("the plan {plan:?} includes no {name}"),
            most => format!("the plan {plan:?} includes {most} {name}, and all are in use"),
        };
        Err(Error::new(self.kind(), message))
    }
}

/// The right to add one more, until it is dropped: while it is there, nobody
/// else of the account adds anything that plans limit, on this server.
#[derive(Debug)]
#[must_use = "the room is there as long as this is"]
pub struct Room<'a> {
    _turn: Option<MutexGuard<'a, ()>>,
}

/// Holds accounts to their plans.
///
/// What is made through the management operations is held against the plan as
/// the store has it at that moment. Webhooks are held against a count in memory
/// (see [`Relay`](crate::relay::Relay)).
#[derive(Debug)]
pub struct Quotas {
    pub(super) plans: Plans,
    pub(super) stores: Stores,
    pub(super) clock: Arc<dyn Clock>,
    /// What is known of accounts that receive webhooks.
    pub(super) standings: Cache<AccountId, Arc<Standing>>,
    /// Counts changes of plans, so that a standing that was read before a
    /// change is not put into the cache after it.
    pub(super) changes: AtomicU64,
    turns: [Mutex<()>; LOCKS],
}

impl Quotas {
    /// Holds the accounts in `stores` to `plans`.
    #[must_use]
    pub fn new(plans: Plans, stores: Stores, clock: Arc<dyn Clock>) -> Self {
        Self {
            plans,
            stores,
            clock,
            standings: Cache::new(CACHED_ACCOUNTS),
            changes: AtomicU64::new(0),
            turns: [const { Mutex::const_new(()) }; LOCKS],
        }
    }

    /// What accounts can have.
    #[must_use]
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// The plan that the account has now.
    pub async fn plan(&self, account: AccountId) -> Result<&Plan, Error> {
        if self.plans.plans.len() == 1 {
            return Ok(self.plans.of(None));
        }
        let billing = self.stores.billing.billing(account).await?;
        Ok(self.plans.of(billing.subscription.as_ref()))
    }

    /// Whether the account's plan has room for one more beside `current`; for
    /// errors see [`Limited::check`].
    pub async fn check(
        &self,
        account: AccountId,
        limited: Limited,
        current: u64,
    ) -> Result<(), Error> {
        match self.plans.any(|limits| !limited.of(limits).is_unlimited()) {
            true => limited.check(self.plan(account).await?, current),
            false => Ok(()),
        }
    }

    /// The right to add one more to what `count` counts; for errors see
    /// [`Limited::check`]. `count` is not asked when no plan limits it. Of
    /// several servers each lets one through at a time: together they may go
    /// beyond a limit by as many as are added in the same moment.
    pub async fn room(
        &self,
        account: AccountId,
        limited: Limited,
        count: impl Future<Output = Result<u64, Error>>,
    ) -> Result<Room<'_>, Error> {
        if !self.plans.any(|limits| !limited.of(limits).is_unlimited()) {
            return Ok(Room { _turn: None });
        }
        // The last bytes of a version 7 identifier are the random ones.
        let slot = usize::from(account.as_uuid().as_bytes()[15]) % LOCKS;
        let turn = self.turns[slot].lock().await;
        limited.check(self.plan(account).await?, count.await?)?;
        Ok(Room { _turn: Some(turn) })
    }

    /// Whether some plan says how long logs are kept.
    #[must_use]
    pub fn limits_logs(&self) -> bool {
        self.plans.any(|limits| limits.logs_retention.is_some())
    }
}
