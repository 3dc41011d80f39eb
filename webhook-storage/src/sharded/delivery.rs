//! Webhooks and deliveries.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::future::join_all;
use webhook_core::{
    AccountId, DeliveryId, Error, ErrorKind, NodeId, OutputId, WebhookId,
    model::Log,
    store::{
        Accept, Accepted, Backlog, Claim, ClaimOrder, Claimed, DeliveryStore, Extended, Lease,
        Pending, Redeliver, Settle, Sweep,
    },
};

use super::{
    ShardedStorage, registry,
    shard::Shard,
    slots::{Place, made_at},
};

/// How long after a slot moved another server may still write to its former shard.
const SEEN_EVERYWHERE: Duration = Duration::from_secs(60);

#[async_trait]
impl DeliveryStore for ShardedStorage {
    async fn accept(&self, accept: Accept) -> Result<Accepted, Error> {
        let place = self.shared.slots.of(accept.webhook.bucket_id).await?;
        let shard = match place.former.is_empty() {
            true => place.current,
            false => stored_before(&place, &accept).await?.unwrap_or(place.current),
        };
        self.stand_for(&shard, &accept.runs).await?;
        shard.ask(shard.storage.accept(accept)).await
    }

    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        let shards = self.of_output(claim.output_id).await?;
        match &shards[..] {
            [shard] => shard.ask(shard.storage.claim(claim)).await,
            shards => claim_of(shards, claim).await,
        }
    }

    async fn settle(&self, settle: Settle) -> Result<(), Error> {
        let Place { current, .. } = self.shared.slots.of(settle.origin.bucket_id).await?;
        self.stand_for(&current, &settle.runs).await?;
        match current.ask(current.storage.settle(settle.clone())).await {
            // It is elsewhere, or it is nobody's to settle anywhere.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.settle_elsewhere(&current, settle, error).await
            }
            settled => settled,
        }
    }

    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error> {
        let found = self.of_webhooks(&[redeliver.webhook_id]).await?;
        let Some(shard) = found.get(&redeliver.webhook_id) else {
            return Err(Error::not_found("webhook"));
        };
        shard.ask(shard.storage.redeliver(account, redeliver)).await
    }

    /// The control database says whose the name is, what its clock shows and whose turn it is.
    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error> {
        let extended = self.control().extend_lease(lease).await?;
        if extended.taken_until.is_none() {
            let others = self.shared.opened.iter().filter(|it| it.number != registry::CONTROL);
            join_all(others.map(|shard| shard.extend(lease))).await;
        }
        Ok(extended)
    }

    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error> {
        if let Some(output) = of {
            let shards = self.of_output(output).await?;
            let released = shards.iter().map(|it| it.ask(it.storage.release(node, of)));
            return join_all(released).await.into_iter().collect();
        }
        let released = self.shared.opened.iter().map(|shard| shard.release(node));
        let mut released = join_all(released).await.into_iter().zip(&self.shared.opened);
        released.try_for_each(|(released, shard)| match released {
            // What it holds there is free when its lease has lapsed, or when it comes back.
            Err(error)
                if error.kind() == ErrorKind::Unavailable && shard.number != registry::CONTROL =>
            {
                tracing::warn!(shard = shard.number, %error, "what is held there stays so");
                Ok(())
            }
            released => released,
        })
    }

    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error> {
        let shards = self.shared.slots.all().await;
        let found = shards.iter().map(|shard| shard.ask(shard.storage.backlogs(sweep)));
        let mut all = BTreeMap::<OutputId, Backlog>::new();
        for found in join_all(found).await {
            match found {
                Ok(found) => found.into_iter().for_each(|found| add(&mut all, found)),
                // What is there is found when it is back.
                Err(error) if error.kind() == ErrorKind::Unavailable => {}
                Err(error) => return Err(error),
            }
        }
        for found in all.values_mut().filter(|found| !found.is_attended) {
            found.is_attended = self.is_attended(found.output_id, &sweep).await?;
        }
        Ok(all.into_values().collect())
    }

    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error> {
        let shards = self.shared.slots.all().await;
        let found = shards.iter().map(|shard| shard.ask(shard.storage.log(account, id)));
        first(join_all(found).await)
    }

    async fn logs_of(&self, account: AccountId, webhook: WebhookId) -> Result<Vec<Log>, Error> {
        let shards = self.shared.slots.all().await;
        let found = shards.iter().map(async |shard| {
            let logs = shard.ask(shard.storage.logs_of(account, webhook)).await?;
            Ok((!logs.is_empty()).then_some(logs))
        });
        Ok(first(join_all(found).await)?.unwrap_or_default())
    }
}

/// What one of them found; if none did, the error of one that does not answer.
pub(super) fn first<T>(answers: Vec<Result<Option<T>, Error>>) -> Result<Option<T>, Error> {
    let mut failed = None;
    for answer in answers {
        match answer {
            Ok(Some(found)) => return Ok(Some(found)),
            Ok(None) => {}
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(None), Err)
}

/// The shard that the webhook's slot was in before, if the webhook is stored there already, or
/// one that it is a duplicate of. Only what has keys, or was made before the slot moved, can be.
async fn stored_before(place: &Place, accept: &Accept) -> Result<Option<Arc<Shard>>, Error> {
    let moved_at = place.moved_at + SEEN_EVERYWHERE;
    let is_new = made_at(accept.webhook.id.as_uuid()).is_some_and(|made| made > moved_at);
    if is_new && accept.seen.is_empty() {
        return Ok(None);
    }
    for shard in &place.former {
        if shard.ask(shard.storage.has_before(accept)).await? {
            return Ok(Some(Arc::clone(shard)));
        }
    }
    Ok(None)
}

/// Takes from several shards as from one: what is too much is given back.
async fn claim_of(shards: &[Arc<Shard>], claim: Claim) -> Result<Claimed, Error> {
    let asked = shards.iter().map(|shard| shard.ask(shard.storage.claim(claim)));
    let mut failed = None;
    let (mut taken, mut next) = (Vec::new(), Vec::new());
    for (claimed, shard) in join_all(asked).await.into_iter().zip(shards) {
        match claimed {
            Ok(claimed) => {
                next.extend(claimed.next_due_at);
                taken.extend(claimed.deliveries.into_iter().map(|pending| (pending, shard)));
            }
            Err(error) => failed = Some(error),
        }
    }
    let by_receipt = claim.order == ClaimOrder::Receipt;
    taken.sort_by_key(|(pending, _)| ((!by_receipt).then_some(pending.due_at), pending.id));
    let kept = if failed.is_some() { 0 } else { claim.limit.min(taken.len()) };
    let mut too_much = BTreeMap::<u16, (&Arc<Shard>, Vec<Pending>)>::new();
    for (pending, shard) in taken.drain(kept..) {
        next.push(pending.due_at);
        too_much.entry(shard.number).or_insert((shard, Vec::new())).1.push(pending);
    }
    let given_back =
        too_much.values().map(|(shard, some)| shard.ask(shard.storage.give_back(claim.node, some)));
    for given_back in join_all(given_back).await {
        if let Err(error) = given_back {
            // The node finds it, as all that it holds and does not know of.
            tracing::warn!(output = %claim.output_id, %error, "what was too much stays held");
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let deliveries = taken.into_iter().map(|(pending, _)| pending).collect();
    Ok(Claimed::new(deliveries, next.into_iter().min()))
}

fn add(all: &mut BTreeMap<OutputId, Backlog>, found: Backlog) {
    match all.get_mut(&found.output_id) {
        Some(known) => {
            known.due_at = known.due_at.into_iter().chain(found.due_at).min();
            known.pending += found.pending;
            known.held += found.held;
            known.is_attended |= found.is_attended;
        }
        None => drop(all.insert(found.output_id, found)),
    }
}

impl ShardedStorage {
    /// Settles what is in none of the slot's present shards: in one that the slot was in, or
    /// in one where it is by now, which another server has read first.
    async fn settle_elsewhere(
        &self,
        current: &Shard,
        settle: Settle,
        mut lost: Error,
    ) -> Result<(), Error> {
        for shard in self.shared.slots.all().await {
            if shard.number == current.number {
                continue;
            }
            self.stand_for(&shard, &settle.runs).await?;
            match shard.ask(shard.storage.settle(settle.clone())).await {
                Err(error) if error.kind() == ErrorKind::Conflict => lost = error,
                settled => return settled,
            }
        }
        Err(lost)
    }

    /// Whether another node is at work on the output in one of several shards: each of them
    /// tells of itself alone.
    async fn is_attended(&self, output: OutputId, sweep: &Sweep) -> Result<bool, Error> {
        let shards = self.of_output(output).await?;
        if shards.len() < 2 {
            return Ok(false);
        }
        let asked = shards.iter().map(|it| it.ask(it.storage.is_attended(output, sweep)));
        Ok(join_all(asked).await.into_iter().any(|attended| attended.is_ok_and(|it| it)))
    }

    /// The shards that have these webhooks; of those that are nowhere there is none.
    pub(super) async fn of_webhooks(
        &self,
        ids: &[WebhookId],
    ) -> Result<BTreeMap<WebhookId, Arc<Shard>>, Error> {
        let shards = self.shared.slots.all().await;
        let mut found = BTreeMap::new();
        let mut failed = None;
        let asked = shards.iter().map(|shard| shard.ask(shard.storage.stored(ids)));
        for (stored, shard) in join_all(asked).await.into_iter().zip(&shards) {
            match stored {
                Ok(stored) => found.extend(
                    stored.into_iter().map(|id| (WebhookId::from_uuid(id), Arc::clone(shard))),
                ),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            // The others may be where nobody answers.
            Some(error) if ids.iter().any(|id| !found.contains_key(id)) => Err(error),
            _ => Ok(found),
        }
    }
}
