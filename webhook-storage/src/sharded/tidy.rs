//! Finds what is left in shards of what the control database has no longer, and slots that
//! have nothing left in a shard they were in.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;
use uuid::Uuid;
use webhook_core::{AccountId, BucketId, Clock, Error, ErrorKind, SystemClock, Timestamp};

use super::{ShardedStorage, locked, registry, shard::Shard, slots};

/// How often a server that purges looks.
const EVERY: Duration = Duration::from_secs(600);

/// How long a slot is remembered to have been in a shard at least: servers that have not read
/// that it moved may write there still.
const REMEMBERED: Duration = Duration::from_secs(86_400);

/// When this server looked last.
#[derive(Debug)]
pub(super) struct Tidying(Mutex<Instant>);

impl Default for Tidying {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl ShardedStorage {
    pub(super) async fn tidy_now_and_then(&self) {
        {
            let mut last = locked(&self.shared.tidying.0);
            if last.elapsed() < EVERY {
                return;
            }
            *last = Instant::now();
        }
        if let Err(error) = self.tidy().await {
            tracing::warn!(%error, "what is left in shards is looked for later");
        }
    }

    /// Ends what waits in shards for outputs that are gone, removes the runs of functions that
    /// are gone, and forgets where slots were a day ago and have no log any more. It is what
    /// [`purge`](webhook_core::store::LogStore::purge) does every ten minutes; a shard that
    /// does not answer is passed over.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the control database does
    /// not answer.
    pub async fn tidy(&self) -> Result<(), Error> {
        let rows = slots::rows(&self.control().database().read).await.map_err(slots::failed)?;
        for shard in self.shared.slots.all().await {
            let former = rows.iter().filter(|row| row.shard == shard.number && !row.is_current);
            let former: Vec<u16> = former.map(|row| row.slot).collect();
            match self.tidy_shard(&shard, &former).await {
                Err(error) if error.kind() == ErrorKind::Unavailable && shard.is_away() => {}
                tidied => tidied?,
            }
        }
        Ok(())
    }

    async fn tidy_shard(&self, shard: &Arc<Shard>, former: &[u16]) -> Result<(), Error> {
        if shard.number != registry::CONTROL {
            // What is read here first had its output when it was routed.
            let awaited = shard.ask(shard.storage.awaited()).await?;
            self.end_what_waits_for_nothing(shard, awaited).await?;
            let functions = shard.ask(shard.storage.function_ids()).await?;
            let known = self.control().functions_among(&functions).await?;
            for gone in functions.into_iter().filter(|id| !known.contains(id)) {
                shard.ask(shard.storage.forget_function(gone)).await?;
            }
        }
        if !former.is_empty() {
            let with_logs = shard.ask(shard.storage.buckets_with_logs()).await?;
            let with_logs: HashSet<u16> = with_logs.into_iter().map(slots::slot_of).collect();
            let left: Vec<_> =
                former.iter().copied().filter(|slot| !with_logs.contains(slot)).collect();
            let now = SystemClock.now().as_millis();
            let before = now.saturating_sub(REMEMBERED.as_millis() as i64);
            let before = Timestamp::from_millis(before);
            let left = registry::leave(self.control(), shard.number, &left, before).await?;
            if left > 0 {
                tracing::info!(shard = shard.number, slots = left, "nothing is left of them");
            }
        }
        Ok(())
    }

    async fn end_what_waits_for_nothing(
        &self,
        shard: &Arc<Shard>,
        awaited: Vec<[Uuid; 3]>,
    ) -> Result<(), Error> {
        let outputs: Vec<_> = awaited.iter().map(|[_, _, output]| *output).collect();
        let known = self.control().outputs_among(&outputs).await?;
        let mut gone = BTreeMap::<_, Vec<Uuid>>::new();
        for [account, bucket, output] in awaited {
            if !known.contains(&output) {
                gone.entry((account, bucket)).or_default().push(output);
            }
        }
        for ((account, bucket), outputs) in gone {
            let (account, bucket) = (AccountId::from_uuid(account), BucketId::from_uuid(bucket));
            tracing::info!(shard = shard.number, %bucket, "ends what waits for deleted outputs");
            shard.ask(shard.storage.stop(account, bucket, outputs)).await?;
        }
        Ok(())
    }
}
