//! Erasures in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    id::{AccountId, ErasureId, NodeId},
    model::Erasure,
    store::{ClaimWork, EraseOutcome, EraseStep, ErasureStore, KEPT_WORK},
};

/// Every erasure.
#[derive(Default)]
pub(super) struct Erasures {
    rows: BTreeMap<ErasureId, Row>,
}

struct Row {
    erasure: Erasure,
    held: Option<(NodeId, Timestamp)>,
}

impl Row {
    fn wakes_at(&self) -> Option<Timestamp> {
        let runs = self.erasure.finished_at.is_none();
        runs.then(|| self.held.map_or(self.erasure.created_at, |(_, until)| until))
    }
}

impl Erasures {
    /// Forgets the oldest of an account that are over and too many.
    fn trim(&mut self, account: AccountId) {
        let over = |(_, row): &(&ErasureId, &Row)| {
            row.erasure.account_id == account && row.erasure.finished_at.is_some()
        };
        let old = self.rows.iter().rev().filter(over).skip(KEPT_WORK);
        let old: Vec<_> = old.map(|(id, _)| *id).collect();
        old.into_iter().for_each(|id| drop(self.rows.remove(&id)));
    }
}

#[async_trait]
impl ErasureStore for MemoryStore {
    async fn create_erasure(&self, erasure: &Erasure, most: usize) -> Result<(), Error> {
        let mut erasures = self.erasures.lock();
        let account = erasure.account_id;
        let open = erasures
            .rows
            .values()
            .filter(|row| row.erasure.account_id == account && row.erasure.finished_at.is_none());
        Erasure::may_begin(open.count(), most)?;
        erasures.rows.insert(erasure.id, Row { erasure: erasure.clone(), held: None });
        erasures.trim(account);
        Ok(())
    }

    async fn erasure(&self, account: AccountId, id: ErasureId) -> Result<Option<Erasure>, Error> {
        let erasures = self.erasures.lock();
        let row = erasures.rows.get(&id).filter(|row| row.erasure.account_id == account);
        Ok(row.map(|row| row.erasure.clone()))
    }

    async fn claim_erasures(&self, claim: ClaimWork) -> Result<Vec<Erasure>, Error> {
        let ClaimWork { node, now, until, limit } = claim;
        let mut erasures = self.erasures.lock();
        let due = |row: &&mut Row| row.wakes_at().is_some_and(|moment| moment <= now);
        let mut claimed = Vec::new();
        for row in erasures.rows.values_mut().filter(due).take(limit) {
            row.held = Some((node, until));
            claimed.push(row.erasure.clone());
        }
        Ok(claimed)
    }

    async fn erasures_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.erasures.lock().rows.values().filter_map(Row::wakes_at).min())
    }

    async fn release_erasures(&self, node: NodeId) -> Result<(), Error> {
        for row in self.erasures.lock().rows.values_mut() {
            row.held = row.held.filter(|(holder, _)| *holder != node);
        }
        Ok(())
    }

    async fn step_erasure(&self, step: EraseStep) -> Result<Option<Vec<EraseOutcome>>, Error> {
        let mut erasures = self.erasures.lock();
        let is_meant = |row: &&mut Row| {
            row.erasure.finished_at.is_none()
                && row.erasure.cursor == step.from
                && row.held.is_some_and(|(holder, _)| holder == step.node)
        };
        let Some(row) = erasures.rows.get_mut(&step.id).filter(is_meant) else { return Ok(None) };
        let mut outcomes = Vec::with_capacity(step.webhooks.len());
        for erase in &step.webhooks {
            outcomes.push(match self.erase_webhook(step.account, erase) {
                Ok(erased) => EraseOutcome::Erased(erased),
                Err(error) if error.kind() == ErrorKind::Conflict => EraseOutcome::InFlight,
                Err(_) => EraseOutcome::Gone,
            });
        }
        row.erasure = step.after(row.erasure.clone(), &outcomes);
        row.held = Some((step.node, step.until));
        erasures.trim(step.account);
        Ok(Some(outcomes))
    }
}
