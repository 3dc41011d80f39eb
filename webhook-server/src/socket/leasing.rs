//! Webhooks that a client has for the time of a lease and no other client gets meanwhile:
//! [`Admin::drain`](webhook_core::admin::Admin::drain), asked when something may wait.

use std::{collections::HashMap, ops::RangeInclusive, time::Duration};

use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use webhook_core::{
    BucketId, Clock, ErrorKind, OutputId, SystemClock, Timestamp,
    admin::{BucketRef, Caller, DrainQuery, Handed},
    model::{Acknowledgement, Bucket, DeliveryStatus, Log, ReplayMissing},
    relay::{Listening, Subscription},
    store::Page,
};

use super::{
    frame,
    wire::{End, Socket},
};
use crate::state::AppState;

/// How many webhooks a client may ask for; 100 when it does not say.
pub(super) const ROOM: RangeInclusive<i64> = 0..=1_000;
/// From how many outputs a client may lease.
const MAX_OUTPUTS: usize = 100;
/// How often what nobody tells of is looked for: leases that are over, webhooks that another
/// server received. Of a short lease, a quarter.
const LOOK_INTERVAL: Duration = Duration::from_secs(15);
/// The same at least, and how long a client waits when the account has leased all it may.
const PAUSE: Duration = Duration::from_secs(1);

/// What a client leases.
#[derive(Debug)]
pub(super) struct Leasing {
    /// The names of the outputs.
    names: Vec<String>,
    outputs: Vec<LeasedOutput>,
    /// For how long a webhook is the client's.
    lease: Duration,
    /// How many more it takes.
    room: usize,
    /// Since when it has been listening: what was received before was missed.
    since: Timestamp,
    /// Something may wait.
    is_due: bool,
    /// When that is looked for in any case, and which outputs there are then.
    look_at: Instant,
    is_stale: bool,
}

/// An output that a client leases webhooks from.
#[derive(Debug)]
struct LeasedOutput {
    bucket: BucketId,
    id: OutputId,
    replay: ReplayMissing,
    /// How many the client got that it had missed, where that is limited.
    replayed: u32,
}

impl Leasing {
    /// A client's wish: for how many nanoseconds, and how many webhooks at once.
    ///
    /// # Errors
    ///
    /// What is wrong with it, by the field's name.
    pub(super) fn new(
        lease: i64,
        limit: Option<i64>,
        names: &[String],
        buckets: &[Bucket],
        listening: &Listening,
    ) -> Result<Self, String> {
        let bounds = DrainQuery::MIN_LEASE..=DrainQuery::MAX_LEASE;
        let lease = u64::try_from(lease).map(Duration::from_nanos).ok();
        let lease = lease.filter(|lease| bounds.contains(lease));
        let lease = lease.ok_or("lease: must be from 1 second to 12 hours, in nanoseconds")?;
        let limit = Some(limit.unwrap_or(100)).filter(|limit| ROOM.contains(limit));
        let room = limit.and_then(|limit| usize::try_from(limit).ok());
        let room = room.ok_or_else(|| format!("limit: must be 0 to {}", ROOM.end()))?;
        if names.is_empty() {
            return Err("lease: goes with the names of internal outputs".to_owned());
        }
        let now = Instant::now();
        let mut leasing = Self {
            names: names.to_vec(),
            outputs: Vec::new(),
            lease,
            room,
            since: SystemClock.now(),
            is_due: true,
            look_at: now,
            is_stale: false,
        };
        leasing.find_outputs(buckets, listening);
        match leasing.outputs.len() > MAX_OUTPUTS {
            true => Err(format!("outputs: at most {MAX_OUTPUTS} can be leased from")),
            false => Ok(leasing),
        }
    }

    /// The outputs that are meant, as they are now.
    fn find_outputs(&mut self, buckets: &[Bucket], listening: &Listening) {
        let before: HashMap<_, _> =
            self.outputs.iter().map(|output| (output.id, output.replayed)).collect();
        let is_heard = |bucket: &&Bucket| match listening {
            Listening::All => true,
            Listening::Buckets(ids) => ids.contains(&bucket.id),
        };
        let of = |bucket: &Bucket| {
            let meant = bucket
                .outputs
                .iter()
                .filter(|output| output.spec.internal && self.names.contains(&output.spec.name));
            let bucket = bucket.id;
            let outputs = meant.map(|output| LeasedOutput {
                bucket,
                id: output.id,
                replay: output.spec.replay_missing,
                replayed: before.get(&output.id).copied().unwrap_or_default(),
            });
            outputs.collect::<Vec<_>>()
        };
        let outputs = buckets.iter().filter(is_heard).flat_map(of);
        self.outputs = outputs.take(MAX_OUTPUTS + 1).collect();
    }

    /// The client takes so many more.
    pub(super) fn make_room(&mut self, count: usize) {
        let most = usize::try_from(*ROOM.end()).unwrap_or(usize::MAX);
        self.room = self.room.saturating_add(count).min(most);
    }

    /// Returns when something may wait and there is room for it; `false` when the
    /// subscription has been ended. Dropping the future loses nothing.
    pub(super) async fn due(&mut self, subscription: &mut Subscription) -> bool {
        loop {
            if self.is_due && self.room > 0 {
                return true;
            }
            tokio::select! {
                is_there = subscription.arrived() => match is_there {
                    true => self.is_due = true,
                    false => return false,
                },
                () = sleep_until(self.look_at), if !self.is_due => {
                    (self.is_due, self.is_stale) = (true, true);
                }
            }
        }
    }

    /// Hands out what waits, as far as there is room.
    pub(super) async fn hand_out(
        &mut self,
        state: &AppState,
        caller: &Caller,
        subscription: &Subscription,
        listening: &Listening,
        socket: &mut Socket,
    ) -> Result<(), End> {
        if std::mem::take(&mut self.is_stale) {
            let buckets =
                state.admin().streamed_buckets(caller, Page::ALL).await.map_err(unreadable)?;
            self.find_outputs(&buckets, listening);
        }
        // What comes meanwhile is looked for once more.
        self.is_due = false;
        self.look_at = Instant::now() + (self.lease / 4).clamp(PAUSE, LOOK_INTERVAL);
        for place in 0..self.outputs.len() {
            while self.room > 0 {
                let handed = match state.admin().drain(caller, &self.query(place)).await {
                    Ok(handed) => handed,
                    Err(error) => match error.kind() {
                        // It is gone, or hands out nothing now.
                        ErrorKind::NotFound | ErrorKind::Forbidden => break,
                        ErrorKind::Busy => {
                            self.look_at = Instant::now() + PAUSE;
                            return Ok(());
                        }
                        _ => return Err(unreadable(error)),
                    },
                };
                let is_last = !handed.has_more || handed.logs.is_empty();
                self.send(state, caller, subscription, place, handed, socket).await?;
                if is_last {
                    break;
                }
            }
        }
        // Without room nobody knows whether more waits.
        self.is_due |= self.room == 0;
        Ok(())
    }

    /// What to ask for. What was missed may be limited ([`ReplayMissing`]), what came since is not.
    fn query(&self, place: usize) -> DrainQuery {
        let LeasedOutput { bucket, id, replay, replayed } = self.outputs[place];
        let ReplayMissing { enabled, lookback, limit, .. } = replay;
        let listening = SystemClock.now().since(self.since);
        let mut query = DrainQuery::default();
        query.bucket = Some(BucketRef::Id(bucket));
        query.output_id = Some(id);
        query.lease = Some(self.lease);
        query.limit = self.room.min(DrainQuery::MAX_LIMIT);
        query.max_age = Duration::MAX;
        if enabled && limit > 0 && replayed >= limit {
            query.max_age = listening;
        } else if enabled {
            if !lookback.is_zero() {
                query.max_age = lookback + listening;
            }
            if limit > 0 {
                let left = usize::try_from(limit - replayed).unwrap_or(usize::MAX);
                query.limit = query.limit.min(left);
            }
        }
        query
    }

    async fn send(
        &mut self,
        state: &AppState,
        caller: &Caller,
        subscription: &Subscription,
        place: usize,
        handed: Handed,
        socket: &mut Socket,
    ) -> Result<(), End> {
        let mut logs = handed.logs.into_iter();
        while let Some(log) = logs.next() {
            let event = match subscription.leased(&log).await {
                Ok(Some(event)) => event,
                // Nobody's any more: its lease ends.
                Ok(None) => continue,
                Err(error) => {
                    give_back(state, caller, std::iter::once(log).chain(logs)).await;
                    return Err(unreadable(error));
                }
            };
            let frame = frame::leased_webhook(&event, log.delivery.leased_until);
            if let Err(end) = socket.send(frame).await {
                give_back(state, caller, std::iter::once(log).chain(logs)).await;
                return Err(end);
            }
            self.room -= 1;
            if log.delivery.created_at <= self.since {
                self.outputs[place].replayed += 1;
            }
        }
        Ok(())
    }
}

/// Others need not wait for the end of the lease of what the client did not get.
async fn give_back(state: &AppState, caller: &Caller, logs: impl Iterator<Item = Log>) {
    let ids = logs.map(|log| log.delivery.id).collect();
    let given_back =
        Acknowledgement { ids, status: Some(DeliveryStatus::Received), lease: Duration::ZERO };
    if let Err(error) = state.admin().acknowledge(caller, given_back).await {
        tracing::debug!(%error, "what was leased waits for the end of its lease");
    }
}

/// What ends the connection when the store cannot be read.
pub(super) fn unreadable(error: webhook_core::Error) -> End {
    tracing::error!(%error, "cannot read webhooks for a client");
    let said = "the webhooks cannot be read now: connect again later";
    End::refused(CloseCode::Again, said)
}
