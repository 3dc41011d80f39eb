//! How much of its plan an account uses.

use super::{Admin, Caller};
use crate::{
    clock::{Month, Timestamp},
    error::Error,
    plan::{Limited, Plan, Room},
    store::BucketCounts,
};

/// How much an account has, and may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The beginning of the month in which webhooks are counted.
    pub since: Timestamp,
    /// Clients that are connected to this server.
    pub agents: u64,
    /// What is in all buckets together, and the buckets.
    pub buckets: BucketCounts,
    /// Access tokens.
    pub tokens: u64,
    /// Webhooks received this month.
    pub webhooks: u64,
    /// The plan.
    pub plan: Plan,
    /// The plans that can be subscribed to; none without a payment processor.
    pub offers: Vec<Plan>,
}

impl Admin {
    /// How much of its plan the account uses. Nothing is read for it but counts.
    pub async fn usage(&self, caller: &Caller) -> Result<Usage, Error> {
        caller.require_account()?;
        let (account, now) = (caller.account_id(), self.now());
        Ok(Usage {
            since: Month::of(now).start,
            agents: self.relay.client_count(account),
            buckets: self.stores.buckets.bucket_counts(account).await?,
            tokens: self.stores.tokens.token_count(account).await?,
            webhooks: self.stores.logs.received(account, now).await?,
            plan: self.quotas.plan(account).await?.clone(),
            offers: match self.billing.is_configured() {
                true => self.quotas.plans().sold().cloned().collect(),
                false => Vec::new(),
            },
        })
    }

    /// Whether the caller's plan has room for another client beside those that
    /// are connected here.
    pub async fn check_clients(&self, caller: &Caller) -> Result<(), Error> {
        let account = caller.account_id();
        self.quotas.check(account, Limited::Agents, self.relay.client_count(account)).await
    }

    /// The right to make one more of what the caller's plan limits; hold it
    /// until that is stored.
    pub(super) async fn room(
        &self,
        caller: &Caller,
        limited: Limited,
        count: impl Future<Output = Result<u64, Error>>,
    ) -> Result<Room<'_>, Error> {
        self.quotas.room(caller.account_id(), limited, count).await
    }
}
