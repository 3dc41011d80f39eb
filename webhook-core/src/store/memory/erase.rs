//! Erasing a webhook in memory.

use super::{MemoryStore, queue::Queue, row::Row};
use crate::{
    error::Error,
    id::{AccountId, DeliveryId},
    model::DeliveryStatus,
    store::{EraseWebhook, ErasedWebhook},
};

impl Queue {
    fn erase(&mut self, account: AccountId, erase: &EraseWebhook) -> Result<ErasedWebhook, Error> {
        let entry = self.webhooks.get(&erase.webhook_id);
        let entry = entry.filter(|entry| entry.webhook.account_id == account);
        let entry = entry.ok_or_else(|| Error::not_found("webhook"))?;
        let (webhook, logs) = (entry.webhook.clone(), entry.deliveries.clone());
        let is_in_flight = |id: &DeliveryId| {
            self.rows.get(id).is_some_and(|row| self.is_in_flight(*id, row, erase))
        };
        if logs.iter().any(is_in_flight) {
            return Err(EraseWebhook::in_flight());
        }
        let mut withdrawn = 0;
        for id in &logs {
            let Some(counted) = self.rows.get(id).map(|row| row.counted(&webhook)) else {
                continue;
            };
            withdrawn += u64::from(counted.key.status == DeliveryStatus::Received);
            self.remove(*id);
            self.index.counters.erase(counted);
        }
        Ok(ErasedWebhook { logs, withdrawn })
    }

    fn is_in_flight(&self, id: DeliveryId, row: &Row, erase: &EraseWebhook) -> bool {
        let given_up = |holder| holder == erase.node && erase.given_up.contains(&id);
        let is_held =
            row.held_by.is_some_and(|holder| self.is_alive(holder, erase.now) && !given_up(holder));
        is_held || row.leased_until.is_some_and(|until| until > erase.now)
    }
}

impl MemoryStore {
    pub(super) fn erase_webhook(
        &self,
        account: AccountId,
        erase: &EraseWebhook,
    ) -> Result<ErasedWebhook, Error> {
        let mut functions = self.functions.lock();
        let erased = self.queue().erase(account, erase)?;
        functions.forget_runs_on(erase.webhook_id);
        Ok(erased)
    }
}
