//! Whether an account may have one more.

use std::sync::{Arc, atomic::AtomicU64};

use quick_cache::sync::Cache;

use super::{Limit, Plan, PlanLimits, Plans, webhooks::Standing};
use crate::{
    clock::Clock,
    error::{Error, ErrorKind},
    id::AccountId,
    store::Stores,
};

/// How many accounts' counts of webhooks are kept in memory.
const CACHED_ACCOUNTS: usize = 100_000;

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

    /// Which error says that there is no room.
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

    /// How many the account's plan includes, and the error of one more; none when the plan has
    /// no limit. The store compares it with its count in the transaction that adds one.
    pub async fn bound(
        &self,
        account: AccountId,
        limited: Limited,
    ) -> Result<Option<(u64, Error)>, Error> {
        if !self.plans.any(|limits| !limited.of(limits).is_unlimited()) {
            return Ok(None);
        }
        let plan = self.plan(account).await?;
        let most = limited.of(&plan.limits).count();
        Ok(most.and_then(|most| Some((most, limited.check(plan, most).err()?))))
    }

    /// Whether some plan says how long logs are kept.
    #[must_use]
    pub fn limits_logs(&self) -> bool {
        self.plans.any(|limits| limits.logs_retention.is_some())
    }
}
