//! Erasures of many webhooks.

use std::collections::HashSet;

use super::{Admin, Caller, selection::Counting};
use crate::{
    error::Error,
    id::ErasureId,
    model::{DeliveryStatus, Erasure, ErasurePlan, ErasureSpec, ReplayStatus},
    relay::Source,
};

impl Admin {
    /// What an erasure would erase. It looks at 100 000 logs at most, for 10 s at most, and says
    /// whether these are all.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) names the field that is wrong;
    /// [`Busy`](crate::ErrorKind::Busy) when the account searches too often at the same time.
    pub async fn plan_erasure(
        &self,
        caller: &Caller,
        spec: ErasureSpec,
    ) -> Result<ErasurePlan, Error> {
        let erasure = self.new_erasure(caller, spec).await?;
        self.count(&erasure).await
    }

    /// Begins an erasure. It lasts until every webhook that the filter finds is erased. One
    /// with an attempt in flight is tried again until that has ended, for at least ten
    /// minutes.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) names the field that is wrong, or says that there is
    /// nothing to erase; [`Busy`](crate::ErrorKind::Busy) when the account has
    /// [all of its erasures](super::AdminOptions::max_erasures_per_account).
    pub async fn create_erasure(
        &self,
        caller: &Caller,
        spec: ErasureSpec,
    ) -> Result<Erasure, Error> {
        let mut erasure = self.new_erasure(caller, spec).await?;
        let plan = self.count(&erasure).await?;
        if plan.exact && plan.found == 0 {
            return Err(Error::invalid("filter", "nothing is like that"));
        }
        erasure.found = plan.found;
        let most = self.options.max_erasures_per_account;
        self.stores.erasures.create_erasure(&erasure, most).await?;
        self.relay.erasures_changed();
        Ok(erasure)
    }

    /// One erasure of the account.
    pub async fn erasure(&self, caller: &Caller, id: ErasureId) -> Result<Erasure, Error> {
        caller.require_api_access()?;
        let erasure = self.stores.erasures.erasure(caller.account_id(), id).await?;
        let erasure = erasure.ok_or_else(|| Error::not_found("erasure"))?;
        self.require_reach(caller, erasure.bucket_id).await?;
        Ok(erasure)
    }

    /// An erasure that is checked and not stored.
    async fn new_erasure(&self, caller: &Caller, spec: ErasureSpec) -> Result<Erasure, Error> {
        caller.require_api_access()?;
        let now = self.now();
        self.check_filter(&spec.filter, now)?;
        let bucket_id = self.bucket_of_filter(caller, &spec.filter).await?;
        Ok(Erasure {
            id: self.ids.next(),
            account_id: caller.account_id(),
            bucket_id,
            status: ReplayStatus::Running,
            error: String::new(),
            found: 0,
            erased: 0,
            withdrawn: 0,
            in_flight: Vec::new(),
            created_at: now,
            finished_at: None,
            cursor: String::new(),
            spec,
        })
    }

    /// Counts what an erasure finds, within bounds.
    async fn count(&self, erasure: &Erasure) -> Result<ErasurePlan, Error> {
        let _entered = self.enter_search(erasure.account_id)?;
        let (logs, deliveries) = (self.stores.logs.clone(), self.stores.deliveries.clone());
        let source = Source::new(erasure.into(), logs, deliveries)?;
        let mut plan = ErasurePlan { status: "dry_run", ..ErasurePlan::default() };
        let (mut webhooks, mut in_flight) = (HashSet::new(), HashSet::new());
        let mut counting = Counting::new(source);
        while let Some(logs) = counting.next().await? {
            for log in logs {
                let (id, status) = (log.webhook.id, log.delivery.status);
                webhooks.insert(id);
                let waits = matches!(status, DeliveryStatus::Received | DeliveryStatus::Preparing);
                plan.withdrawn += u64::from(waits);
                if status == DeliveryStatus::Preparing {
                    in_flight.insert(id);
                }
            }
        }
        (plan.logs, plan.exact) = (counting.logs, counting.exact);
        (plan.found, plan.in_flight) = (webhooks.len() as u64, in_flight.len() as u64);
        Ok(plan)
    }
}
