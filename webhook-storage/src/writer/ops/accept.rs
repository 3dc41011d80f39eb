//! Storing webhooks with their deliveries.

use std::{borrow::Borrow, sync::LazyLock};

use webhook_core::{
    AccountId, BucketId, Error, Month, OutputId,
    model::DeliveryStatus,
    store::{Accept, Accepted, tally::CountedLog},
};

use super::{
    super::job::{Context, Failure, Op},
    record::{self, WithRuns},
    seen,
};
use crate::{
    entity::{Table, delivery, moment, webhook},
    objects::StoredBody,
    tx::{Insert, Param, Tx},
};

/// Storing a webhook again changes nothing.
static WEBHOOK: LazyLock<Insert<20>> =
    LazyLock::new(|| Insert::new("webhook", webhook::INSERTED, " ON CONFLICT (id) DO NOTHING"));

pub(super) static DELIVERY: LazyLock<Insert<16>> = LazyLock::new(|| delivery::Inserted::insert(""));

/// A webhook to be stored, whose body may be an object already.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// The webhook, with its body in any case.
    pub(crate) accept: Accept,
    /// What its row says in place of the body.
    pub(crate) object: Option<StoredBody>,
}

impl From<Accept> for Incoming {
    fn from(accept: Accept) -> Self {
        Self { accept, object: None }
    }
}

impl Borrow<Accept> for Incoming {
    fn borrow(&self) -> &Accept {
        &self.accept
    }
}

impl Op for WithRuns<Incoming> {
    type Answer = Accepted;

    /// A body that is an object is written nowhere here.
    fn size_bytes(&self) -> usize {
        let Incoming { accept, object } = &self.what;
        let elsewhere = object.map_or(0, |object| object.bytes);
        accept.webhook.request.size_bytes().saturating_sub(elsewhere) + self.runs_bytes()
    }

    /// Stores all of them, none of which may have been stored before, unless it is the only
    /// one. They are inserted in the order of their identifiers: what is stored is appended to
    /// every tree, which splits no pages.
    async fn apply(
        tx: &impl Tx,
        accepts: &[Self],
        context: &mut Context,
    ) -> Result<Vec<Result<Accepted, Error>>, Failure> {
        let mut ordered: Vec<_> = accepts.iter().map(|accept| &accept.what).collect();
        ordered.sort_unstable_by_key(|incoming| incoming.accept.webhook.id);
        let sorted = seen::sort(tx, &ordered).await?;
        let stored = ordered.iter().filter_map(|Incoming { accept, object }| {
            match sorted.duplicate(accept) {
                // Of a duplicate no body is kept.
                Some((_, log)) => log.as_ref().map(|log| (log, None)),
                None => Some((accept, object.as_ref())),
            }
        });
        let stored: Vec<_> = stored.collect();
        let inserted = tx.insert(&WEBHOOK, &stored, webhook_values).await?;
        match (inserted, stored.len()) {
            // Stored before, it has its deliveries already.
            (0, 1) if accepts.len() == 1 => return Ok(vec![Ok(Accepted::Known)]),
            (inserted, all) if inserted < all as u64 => return Err(Failure::Split),
            _ => {}
        }
        let mut rows = Vec::with_capacity(stored.len());
        for (accept, _) in stored {
            let webhook = &accept.webhook;
            if accept.counts() {
                context.counters.receive(webhook.account_id, Month::of(webhook.received_at));
            }
            for new in &accept.deliveries {
                let row = delivery::Inserted::of(webhook, new);
                context.counters.add(counted(&row, new.status));
                rows.push(row);
            }
        }
        rows.sort_unstable_by_key(|row| row.id);
        tx.insert(&DELIVERY, &rows, delivery::Inserted::values).await?;
        let is_new = |accept: &&Self| sorted.duplicate(&accept.what.accept).is_none();
        let runs = accepts.iter().filter(is_new).flat_map(|accept| &accept.runs);
        record::keep(tx, runs).await?;
        sorted.count(tx).await?;
        let accepted = |incoming: &Self| {
            sorted.duplicate(&incoming.what.accept).map_or(Accepted::Stored, |(it, _)| *it)
        };
        Ok(accepts.iter().map(|accept| Ok(accepted(accept))).collect())
    }
}

/// A new delivery as it is counted.
pub(super) fn counted(row: &delivery::Inserted, status: DeliveryStatus) -> CountedLog {
    let open = CountedLog::open(
        AccountId::from_uuid(row.account_id),
        BucketId::from_uuid(row.bucket_id),
        row.output_id.map(OutputId::from_uuid),
        moment(row.created_at),
    );
    open.with_outcome(status, 0, 0, 0)
}

fn webhook_values<'a>((accept, object): &'a (&Accept, Option<&StoredBody>)) -> [Param<'a>; 20] {
    // What is final in every part when it comes is not going to be sent.
    let needed = accept.deliveries.iter().any(|delivery| !delivery.status.is_final());
    webhook::values(&accept.webhook, *object, needed || !accept.webhook.ephemeral)
}
