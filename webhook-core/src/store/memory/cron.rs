//! Crons in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, CronId, NodeId},
    model::{Bucket, Cron},
    store::{AdvanceCron, ClaimCrons, CronStore},
};

/// Every cron, and the order in which they wake.
#[derive(Default)]
pub(super) struct Crons {
    rows: BTreeMap<CronId, Row>,
    wakes: BTreeSet<(Timestamp, CronId)>,
}

struct Row {
    cron: Cron,
    held: Option<(NodeId, Timestamp)>,
}

impl Row {
    fn wakes_at(&self) -> Option<Timestamp> {
        let next = self.cron.next_run?;
        Some(self.held.map_or(next, |(_, until)| until))
    }
}

impl Crons {
    /// Changes a row, and the order with it.
    fn change<T>(&mut self, id: CronId, change: impl FnOnce(&mut Row) -> T) -> Option<T> {
        let row = self.rows.get_mut(&id)?;
        let before = row.wakes_at();
        let changed = change(row);
        let after = row.wakes_at();
        if before != after {
            before.map(|moment| self.wakes.remove(&(moment, id)));
            after.map(|moment| self.wakes.insert((moment, id)));
        }
        Some(changed)
    }

    fn of(&self, account: AccountId, id: CronId) -> Option<&Cron> {
        let row = self.rows.get(&id)?;
        Some(&row.cron).filter(|cron| cron.account_id == account)
    }

    /// Removes the cron of a bucket that is gone.
    pub(super) fn remove_with(&mut self, bucket: BucketId) {
        let wakes = &mut self.wakes;
        self.rows.retain(|id, row| {
            let stays = row.cron.bucket_id != bucket;
            if let Some(moment) = row.wakes_at().filter(|_| !stays) {
                wakes.remove(&(moment, *id));
            }
            stays
        });
    }
}

#[async_trait]
impl CronStore for MemoryStore {
    async fn create_cron(&self, cron: &Cron, bucket: &Bucket) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let mut crons = self.crons.lock();
        if crons.rows.contains_key(&cron.id) {
            return Err(Error::conflict("a cron with this id exists"));
        }
        directory.insert(bucket.clone())?;
        crons.rows.insert(cron.id, Row { cron: cron.clone(), held: None });
        if let Some(moment) = cron.next_run {
            crons.wakes.insert((moment, cron.id));
        }
        Ok(())
    }

    async fn cron(&self, account: AccountId, id: CronId) -> Result<Option<Cron>, Error> {
        Ok(self.crons.lock().of(account, id).cloned())
    }

    async fn crons(&self, account: AccountId) -> Result<Vec<Cron>, Error> {
        let crons = self.crons.lock();
        let of_account = crons.rows.values().filter(|row| row.cron.account_id == account);
        Ok(of_account.map(|row| row.cron.clone()).collect())
    }

    async fn update_cron(&self, cron: &Cron, known: Option<Timestamp>) -> Result<bool, Error> {
        let mut crons = self.crons.lock();
        let stored = crons.of(cron.account_id, cron.id);
        let stored = stored.ok_or_else(|| Error::not_found("cron"))?;
        if stored.next_run != known {
            return Ok(false);
        }
        let Cron { created_at, bucket_id, input_id, .. } = *stored;
        crons.change(cron.id, |row| {
            row.cron = Cron { created_at, bucket_id, input_id, ..cron.clone() };
            if cron.next_run != known {
                row.held = None;
            }
        });
        Ok(true)
    }

    async fn delete_cron(&self, account: AccountId, id: CronId) -> Result<(), Error> {
        let bucket = self.crons.lock().of(account, id).map(|cron| cron.bucket_id);
        self.remove_bucket(account, bucket.ok_or_else(|| Error::not_found("cron"))?)
    }

    async fn claim_crons(&self, claim: ClaimCrons) -> Result<Vec<Cron>, Error> {
        let ClaimCrons { node, now, until, limit } = claim;
        let mut crons = self.crons.lock();
        let due = crons.wakes.iter().take_while(|(moment, _)| *moment <= now).take(limit);
        let due: Vec<_> = due.map(|(_, id)| *id).collect();
        let hold = |id| {
            crons.change(id, |row| {
                row.held = Some((node, until));
                row.cron.clone()
            })
        };
        Ok(due.into_iter().filter_map(hold).collect())
    }

    async fn crons_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.crons.lock().wakes.first().map(|(moment, _)| *moment))
    }

    async fn advance_cron(&self, advance: AdvanceCron) -> Result<bool, Error> {
        let AdvanceCron { id, from, to, enabled } = advance;
        let advanced = self.crons.lock().change(id, |row| {
            if row.cron.next_run != Some(from) {
                return false;
            }
            row.cron.next_run = to;
            row.cron.spec.enabled = enabled;
            row.held = None;
            true
        });
        Ok(advanced.unwrap_or(false))
    }

    async fn release_crons(&self, node: NodeId) -> Result<(), Error> {
        let mut crons = self.crons.lock();
        let held = |row: &Row| row.held.is_some_and(|(holder, _)| holder == node);
        let held: Vec<_> =
            crons.rows.iter().filter(|(_, row)| held(row)).map(|(id, _)| *id).collect();
        for id in held {
            crons.change(id, |row| row.held = None);
        }
        Ok(())
    }
}
