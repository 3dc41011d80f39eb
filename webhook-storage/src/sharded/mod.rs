//! Webhooks over several databases.
//!
//! The *control database* has the configuration: accounts, buckets, functions and what they
//! remember, domains, crons, notifications, tokens, bills, replays. What comes in is in
//! *shards*: webhooks, deliveries, counts, keys of duplicates and runs of functions, which the
//! way of a webhook writes in one transaction, are in the shard of the webhook's bucket. A
//! bucket is in one of [`SLOTS`] slots for ever; the control database knows which shard each
//! slot is in, and which it was in before.
//!
//! | asked by | asked of |
//! |---|---|
//! | bucket, and all that the way of a webhook asks | the slot's shard, and those it was in before |
//! | log or webhook alone | every shard, at once |
//! | account | every shard; lists are merged by their order, counts are added |
//! | node: leases, backlogs | every shard; one that is away keeps nobody from going on |
//!
//! A slot is moved by saying so: new rows go to its new shard, and what is in the former one
//! stays there, is delivered from there and is listed with the others, until its time is over.
//! No row is copied.
//!
//! What two databases are to do together begins in the control database: what was deleted
//! there is not routed to, listed or kept alive by what a crash left behind in a shard, which
//! `tidy` finds later.

mod asks;
mod configuration;
mod delivery;
mod function;
mod log;
mod merge;
mod queue;
mod registry;
mod replay;
mod shard;
mod slots;
mod tidy;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use foldhash::{HashMap, HashMapExt};
use futures_util::future::{join_all, try_join_all};
use webhook_core::{BucketId, Error, FunctionId, OutputId, store::Stores};

pub use self::slots::{SLOTS, slot_of};
use self::{replay::Feeding, shard::Shard, slots::Slots, tidy::Tidying};
use crate::{DatabaseUrl, Member, Storage, StorageOptions, locked::locked};

/// The most shards.
const MAX_SHARDS: usize = 256;
/// How many outputs and functions are kept in mind; then all are looked up anew.
const KEPT_IN_MIND: usize = 65_536;

/// Implements every store trait on a control database and its shards. Clones share it.
///
/// A database that does not answer is *away*: what comes into its buckets, and lists that
/// would have to ask it, are [`Unavailable`](webhook_core::ErrorKind::Unavailable) at once,
/// everything else goes on. Without the control database nothing does.
#[derive(Clone)]
pub struct ShardedStorage {
    shared: Arc<Shared>,
}

struct Shared {
    control: Storage,
    /// All that were opened, the control database first.
    opened: Vec<Arc<Shard>>,
    slots: Slots,
    /// The buckets of outputs, which never change.
    outputs: Mutex<HashMap<OutputId, BucketId>>,
    /// How many runs of a function are kept, as it was last said, and in which shards there is
    /// something that stands for it.
    functions: Mutex<HashMap<FunctionId, Kept>>,
    /// What an account received in a month, as a shard said last that is away now.
    received: Mutex<BTreeMap<log::Counted, u64>>,
    feeding: Feeding,
    tidying: Tidying,
}

/// What is known of a function.
#[derive(Debug, Default)]
struct Kept {
    runs: Option<usize>,
    in_shards: Vec<u16>,
}

/// A shard, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardStatus {
    /// Its number, which it keeps.
    pub number: u16,
    /// The database, without a password.
    pub database: String,
    /// The slots whose new rows are written to it, in order.
    pub slots: Vec<u16>,
    /// How many slots have left it, of which it may have rows.
    pub former_slots: usize,
    /// How many deliveries wait in it or are being attempted, and how many logs it has; none
    /// when it does not answer.
    pub rows: Option<(u64, u64)>,
}

impl ShardedStorage {
    /// Opens the control database and its shards, each with the options of `control` but for
    /// the URL. The first time, slots are given out to all shards in turn; what the control
    /// database has from before stays there. Shards that are new later get slots by
    /// [`move_slots`](Self::move_slots) only. The control database may be among the shards.
    ///
    /// # Errors
    /// * As [`Storage::connect`], for each of them.
    /// * [`Invalid`](webhook_core::ErrorKind::Invalid): a shard is there twice or belongs to
    ///   another control database, there are none or more than 256, or one that has rows is
    ///   not among them.
    pub async fn connect(control: &StorageOptions, shards: &[DatabaseUrl]) -> Result<Self, Error> {
        if shards.len() > MAX_SHARDS {
            return Err(Error::invalid("shards", format!("at most {MAX_SHARDS} are possible")));
        }
        let url = &control.database_url;
        let storage = Storage::connect(control).await?;
        let mut listed: Vec<(DatabaseUrl, Storage)> = Vec::with_capacity(shards.len());
        let opened = async {
            for shard in shards {
                if listed.iter().any(|(known, _)| known == shard) {
                    return Err(Error::invalid("shards", format!("{shard} is there twice")));
                }
                let opened = match shard == url {
                    true => storage.clone(),
                    false => {
                        let mut options = control.clone();
                        options.database_url = shard.clone();
                        Storage::connect(&options).await?
                    }
                };
                listed.push((shard.clone(), opened));
            }
            let opened = registry::register(&storage, url, listed.clone()).await?;
            let slots = Slots::read(storage.clone(), opened.clone()).await?;
            Ok((opened, slots))
        };
        match opened.await {
            Ok((opened, slots)) => Ok(Self::of(storage, opened, slots)),
            Err(error) => {
                join_all(listed.iter().map(|(_, shard)| shard.close())).await;
                storage.close().await;
                Err(error)
            }
        }
    }

    fn of(control: Storage, opened: Vec<Arc<Shard>>, slots: Slots) -> Self {
        let shared = Shared {
            control,
            opened,
            slots,
            outputs: Mutex::new(HashMap::new()),
            functions: Mutex::new(HashMap::new()),
            received: Mutex::default(),
            feeding: Feeding::default(),
            tidying: Tidying::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// All stores: of the configuration those of the control database.
    #[must_use]
    pub fn stores(&self) -> Stores {
        let (all, control) = (Arc::new(self.clone()), Arc::new(self.control().clone()));
        Stores::relay(control.clone(), all.clone())
            .with_functions(all.clone())
            .with_domains(control.clone())
            .with_crons(all.clone())
            .with_notifications(control.clone())
            .with_logs(all.clone())
            .with_replays(all.clone())
            .with_queues(all.clone())
            .with_accounts(control.clone())
            .with_buckets(all.clone(), control.clone(), all)
            .with_tokens(control.clone())
            .with_billing(control)
    }

    /// The control database.
    #[must_use]
    pub fn control(&self) -> &Storage {
        &self.shared.control
    }

    /// What each shard has.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the control database does
    /// not answer.
    pub async fn shards(&self) -> Result<Vec<ShardStatus>, Error> {
        let rows = slots::rows(&self.control().database().read).await.map_err(slots::failed)?;
        let status = async |shard: &Arc<Shard>| {
            let of = |is_current| {
                let of = rows
                    .iter()
                    .filter(move |row| row.shard == shard.number && row.is_current == is_current);
                of.map(|row| row.slot).collect::<Vec<_>>()
            };
            ShardStatus {
                number: shard.number,
                database: shard.name.clone(),
                slots: of(true),
                former_slots: of(false).len(),
                rows: shard.ask(shard.storage.counts()).await.ok(),
            }
        };
        let all = join_all(self.shared.opened.iter().map(status)).await;
        let is_shown = |shard: &ShardStatus| {
            shard.number != registry::CONTROL || !shard.slots.is_empty() || shard.former_slots > 0
        };
        let mut shown: Vec<_> = all.into_iter().filter(is_shown).collect();
        shown.sort_unstable_by_key(|shard| shard.number);
        Ok(shown)
    }

    /// Has new rows of these slots written to another shard: by this server from now on, by
    /// others within 5 s. Deliveries that wait are attempted from where they are, and logs
    /// stay there until their time is over. Returns how many slots were elsewhere before.
    ///
    /// # Errors
    /// [`Invalid`](webhook_core::ErrorKind::Invalid): there is no such shard or slot.
    pub async fn move_slots(&self, slots: &[u16], to: u16) -> Result<u64, Error> {
        if let Some(slot) = slots.iter().find(|slot| **slot >= SLOTS) {
            return Err(Error::invalid("slots", format!("{slot} is not below {SLOTS}")));
        }
        if self.shared.opened.iter().all(|shard| shard.number != to) {
            return Err(Error::invalid("to", format!("there is no shard {to}")));
        }
        let moved = registry::move_slots(self.control(), slots, to).await?;
        self.shared.slots.forget().await?;
        Ok(moved)
    }

    /// As [`Storage::members`], with what each node holds in all shards.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when a database does not answer.
    pub async fn members(&self) -> Result<Vec<Member>, Error> {
        let found = self.shared.opened.iter().map(|shard| shard.storage.members());
        let mut members = BTreeMap::<_, Member>::new();
        for member in try_join_all(found).await?.into_iter().flatten() {
            match members.get_mut(&member.node) {
                // The lease is the control database's.
                Some(known) => {
                    known.deliveries += member.deliveries;
                    known.queues += member.queues;
                }
                None => drop(members.insert(member.node, member)),
            }
        }
        Ok(members.into_values().collect())
    }

    /// Brings the schema of every database up to date and does nothing else.
    ///
    /// # Errors
    /// As [`Storage::migrate`].
    pub async fn migrate(control: &StorageOptions, shards: &[DatabaseUrl]) -> Result<(), Error> {
        Storage::migrate(control).await?;
        for url in shards.iter().filter(|url| **url != control.database_url) {
            let mut options = control.clone();
            options.database_url = url.clone();
            Storage::migrate(&options).await?;
        }
        Ok(())
    }

    /// As [`Storage::divide_by_day`], of all databases.
    ///
    /// # Errors
    /// As [`Storage::divide_by_day`]; those that come before are divided then.
    #[cfg(feature = "postgres")]
    pub async fn divide_by_day(
        control: &StorageOptions,
        shards: &[DatabaseUrl],
    ) -> Result<(), Error> {
        Storage::divide_by_day(control).await?;
        for url in shards.iter().filter(|url| **url != control.database_url) {
            let mut options = control.clone();
            options.database_url = url.clone();
            Storage::divide_by_day(&options).await?;
        }
        Ok(())
    }

    /// As [`Storage::close`], of all databases.
    pub async fn close(&self) {
        join_all(self.shared.opened.iter().map(|shard| shard.storage.close())).await;
    }

    /// Where the deliveries of an output are.
    async fn of_output(&self, output: OutputId) -> Result<Vec<Arc<Shard>>, Error> {
        let known = locked(&self.shared.outputs).get(&output).copied();
        let bucket = match known {
            Some(bucket) => Some(bucket),
            None => self.control().bucket_id_of(output).await?,
        };
        let Some(bucket) = bucket else {
            // One that was deleted, or that no bucket ever had.
            return Ok(self.shared.slots.all().await);
        };
        if known.is_none() {
            let mut outputs = locked(&self.shared.outputs);
            if outputs.len() >= KEPT_IN_MIND {
                outputs.clear();
            }
            outputs.insert(output, bucket);
        }
        Ok(self.shared.slots.of(bucket).await?.shards())
    }

    /// Where the rows of a bucket are, or of all.
    async fn of_bucket(&self, bucket: Option<BucketId>) -> Result<Vec<Arc<Shard>>, Error> {
        match bucket {
            Some(bucket) => Ok(self.shared.slots.of(bucket).await?.shards()),
            None => Ok(self.shared.slots.all().await),
        }
    }
}

impl fmt::Debug for ShardedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shards: Vec<_> = self.shared.opened.iter().map(|shard| shard.number).collect();
        f.debug_struct("ShardedStorage").field("shards", &shards).finish_non_exhaustive()
    }
}
