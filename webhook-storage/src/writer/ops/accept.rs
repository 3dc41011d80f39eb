//! Storing webhooks with their deliveries.

use std::sync::LazyLock;

use webhook_core::{
    AccountId, BucketId, Error, Month, OutputId,
    model::DeliveryStatus,
    store::{Accept, Accepted, tally::CountedLog},
};

use super::super::job::{Context, Failure, Op};
use crate::{
    entity::{delivery, moment, webhook},
    tx::{Insert, Param, Tx},
};

/// Storing a webhook again changes nothing.
static WEBHOOK: LazyLock<Insert<15>> =
    LazyLock::new(|| Insert::new("webhook", webhook::COLUMNS, " ON CONFLICT (id) DO NOTHING"));

pub(super) static DELIVERY: LazyLock<Insert<15>> =
    LazyLock::new(|| Insert::new("delivery", delivery::INSERTED, ""));

impl Op for Accept {
    type Answer = Accepted;

    fn size_bytes(&self) -> usize {
        self.webhook.request.size_bytes()
    }

    /// Stores all of them, none of which may have been stored before, unless it is the only
    /// one. They are inserted in the order of their identifiers: what is stored is appended to
    /// every tree, which splits no pages.
    async fn apply(
        tx: &impl Tx,
        accepts: &[Self],
        context: &mut Context,
    ) -> Result<Vec<Result<Accepted, Error>>, Failure> {
        let mut ordered: Vec<_> = accepts.iter().collect();
        ordered.sort_unstable_by_key(|accept| accept.webhook.id);
        let inserted = tx.insert(&WEBHOOK, &ordered, webhook_values).await?;
        match (inserted, accepts.len()) {
            // Stored before, it has its deliveries already.
            (0, 1) => return Ok(vec![Ok(Accepted::Known)]),
            (inserted, all) if inserted < all as u64 => return Err(Failure::Split),
            _ => {}
        }
        let mut rows = Vec::with_capacity(accepts.len());
        for accept in ordered {
            let webhook = &accept.webhook;
            context.counters.receive(webhook.account_id, Month::of(webhook.received_at));
            for new in &accept.deliveries {
                let row = delivery::Model::of(webhook, new);
                context.counters.add(counted(&row, new.status));
                rows.push(row);
            }
        }
        rows.sort_unstable_by_key(|row| row.id);
        tx.insert(&DELIVERY, &rows, delivery::Model::inserted).await?;
        Ok(accepts.iter().map(|_| Ok(Accepted::Stored)).collect())
    }
}

/// A new delivery as it is counted.
pub(super) fn counted(row: &delivery::Model, status: DeliveryStatus) -> CountedLog {
    let open = CountedLog::open(
        AccountId::from_uuid(row.account_id),
        BucketId::from_uuid(row.bucket_id),
        row.output_id.map(OutputId::from_uuid),
        moment(row.created_at),
    );
    open.with_outcome(status, 0, 0, 0)
}

fn webhook_values<'a>(accept: &'a &Accept) -> [Param<'a>; 15] {
    // What is final in every part when it comes is not going to be sent.
    let needed = accept.deliveries.iter().any(|delivery| !delivery.status.is_final());
    webhook::values(&accept.webhook, needed || !accept.webhook.ephemeral)
}
