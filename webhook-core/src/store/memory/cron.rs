//! Which crons run, in memory.

use async_trait::async_trait;

use super::{MemoryStore, documents::Kept};
use crate::{
    clock::Timestamp,
    error::Error,
    id::NodeId,
    model::Cron,
    store::{AdvanceCron, ClaimWork, Configured, CronStore, DocumentKind},
};

impl Kept {
    fn wakes_at(&self) -> Option<Timestamp> {
        let next = self.document.state.cron.next_run?;
        Some(self.held.map_or(next, |(_, until)| until))
    }
}

#[async_trait]
impl CronStore for MemoryStore {
    async fn claim_crons(&self, claim: ClaimWork) -> Result<Vec<Cron>, Error> {
        let ClaimWork { node, now, until, limit } = claim;
        let mut directory = self.directory_mut();
        let crons = directory.of_kind(DocumentKind::Cron);
        let wakes = crons.filter_map(|kept| Some((kept.wakes_at()?, kept.document.key)));
        let mut due: Vec<_> = wakes.filter(|(wakes_at, _)| *wakes_at <= now).collect();
        due.sort_unstable();
        due.truncate(limit);
        let mut claimed = Vec::new();
        for (_, key) in due {
            if let Some(kept) = directory.get_mut(key) {
                kept.held = Some((node, until));
                claimed.push(Cron::read(kept.document.clone())?);
            }
        }
        Ok(claimed)
    }

    async fn crons_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.directory().of_kind(DocumentKind::Cron).filter_map(Kept::wakes_at).min())
    }

    async fn advance_cron(&self, advance: AdvanceCron) -> Result<bool, Error> {
        let AdvanceCron { id, from, to, is_over } = advance;
        let mut directory = self.directory_mut();
        let Some(kept) = directory.get_mut(Cron::key(id.as_uuid())) else { return Ok(false) };
        let state = &mut kept.document.state.cron;
        if state.next_run != Some(from) {
            return Ok(false);
        }
        if to != Some(from) {
            state.last_run = Some(from);
        }
        (state.next_run, state.is_over) = (to, is_over);
        kept.held = None;
        Ok(true)
    }

    async fn release_crons(&self, node: NodeId) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let held = directory.of_kind(DocumentKind::Cron);
        let held = held.filter(|kept| kept.held.is_some_and(|(holder, _)| holder == node));
        let held: Vec<_> = held.map(|kept| kept.document.key).collect();
        for key in held {
            if let Some(kept) = directory.get_mut(key) {
                kept.held = None;
            }
        }
        Ok(())
    }
}
