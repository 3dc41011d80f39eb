//! How much of its plan an account uses.

use super::{Admin, Caller};
use crate::{
    clock::{Month, Timestamp},
    error::Error,
    plan::{Limited, Plan},
    store::DocumentKind,
};

/// How much an account has, and may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The beginning of the month in which webhooks are counted.
    pub since: Timestamp,
    /// Clients that are connected to this server.
    pub agents: u64,
    /// Buckets.
    pub buckets: u64,
    /// The inputs of all buckets.
    pub inputs: u64,
    /// The outputs of all buckets.
    pub outputs: u64,
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
        let counts = self.stores.documents.counts(account).await?;
        let count = |kind| counts.iter().find(|it| it.0 == kind).map_or(0, |it| it.1);
        Ok(Usage {
            since: Month::of(now).start,
            agents: self.relay.clients.count(account),
            buckets: count(DocumentKind::Bucket),
            inputs: count(DocumentKind::Input),
            outputs: count(DocumentKind::Output),
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
        self.quotas.check(account, Limited::Agents, self.relay.clients.count(account)).await
    }

    /// How many of a kind the caller's account may have, where the operator allows `most`, and
    /// the error of one more: `full`, or that of the plan where that allows fewer.
    pub(super) async fn bound(
        &self,
        caller: &Caller,
        limited: Limited,
        most: usize,
        full: Error,
    ) -> Result<(u64, Error), Error> {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        match self.quotas.bound(caller.account_id(), limited).await? {
            Some((of_plan, refused)) if of_plan < most => Ok((of_plan, refused)),
            _ => Ok((most, full)),
        }
    }

    /// How many of a kind the caller's account may have where only its plan limits all of them.
    pub(super) async fn bound_of_all(
        &self,
        caller: &Caller,
        limited: Limited,
    ) -> Result<(u64, Error), Error> {
        let full = Error::internal("a store counts more than there can be");
        self.bound(caller, limited, usize::MAX, full).await
    }
}
