//! Webhooks and deliveries as the store in memory keeps them.

use std::sync::Arc;

use super::{catalog::Group, retention::Need};
use crate::{
    clock::{Month, Timestamp},
    forward::history::History,
    id::{DeliveryId, ExecutionId, NodeId, OutputId, WebhookId},
    model::{Attempt, Delivery, DeliveryStatus, Reason, Replayed, Request, Webhook},
    store::{Accept, ClientReport, NewDelivery, tally::CountedLog},
};

/// About what a delivery takes beside responses and processed requests, indexes included.
const ROW_BYTES: usize = 512;

/// A webhook and what is counted over its deliveries.
pub(super) struct Entry {
    pub(super) webhook: Arc<Webhook>,
    /// In ID order.
    pub(super) deliveries: Vec<DeliveryId>,
    /// How many are not final.
    pub(super) open: usize,
    /// How many of those an output is to get.
    pub(super) addressed: usize,
    /// Of the webhook and its deliveries.
    pub(super) bytes: usize,
}

/// A webhook that comes in, made ready before the store is locked.
pub(super) struct Arrival {
    pub(super) entry: Entry,
    /// In ID order.
    pub(super) rows: Vec<(DeliveryId, Row)>,
    /// The month that it counts in.
    pub(super) month: Option<Month>,
}

/// A delivery.
pub(super) struct Row {
    pub(super) webhook_id: WebhookId,
    pub(super) output_id: Option<OutputId>,
    pub(super) internal: bool,
    pub(super) status: DeliveryStatus,
    pub(super) due_at: Option<Timestamp>,
    pub(super) held_by: Option<NodeId>,
    /// A consumer got it and has not said yet how that ended.
    pub(super) handed_over: bool,
    /// Until when a consumer has it that is to say how that ended.
    pub(super) leased_until: Option<Timestamp>,
    pub(super) attempts: u32,
    pub(super) reason: Option<Reason>,
    pub(super) last: Option<Arc<Attempt>>,
    pub(super) processed: Option<Arc<Request>>,
    pub(super) history: History,
    pub(super) output_execution_id: Option<ExecutionId>,
    pub(super) replay: Option<Box<Replayed>>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

impl Arrival {
    pub(super) fn of(accept: Accept) -> Self {
        let month = accept.counts().then(|| Month::of(accept.webhook.received_at));
        // Runs are kept with their functions, and keys by themselves.
        let Accept { webhook, deliveries, runs: _, seen: _ } = accept;
        let row = |new: NewDelivery| (new.id, Row::new(webhook.id, new, webhook.received_at));
        let mut rows: Vec<_> = deliveries.into_iter().map(row).collect();
        rows.sort_unstable_by_key(|(id, _)| *id);
        let deliveries = rows.iter().map(|(id, _)| *id).collect();
        let bytes = webhook.request.size_bytes();
        let mut entry = Entry { webhook, deliveries, open: 0, addressed: 0, bytes };
        rows.iter().for_each(|(_, row)| entry.add(row));
        Self { entry, rows, month }
    }
}

impl Entry {
    /// Counts a delivery in.
    pub(super) fn add(&mut self, row: &Row) {
        self.bytes += row.bytes();
        self.open += usize::from(row.is_open());
        self.addressed += usize::from(row.is_open() && row.output_id.is_some());
    }

    /// Takes back what [`add`](Self::add) was told.
    pub(super) fn subtract(&mut self, row: &Row) {
        self.bytes -= row.bytes();
        self.open -= usize::from(row.is_open());
        self.addressed -= usize::from(row.is_open() && row.output_id.is_some());
    }

    pub(super) fn need(&self) -> Need {
        match (self.open, self.addressed) {
            (0, _) => Need::Finished,
            (_, 0) => Need::Unaddressed,
            _ => Need::Unfinished,
        }
    }
}

impl Row {
    pub(super) fn new(webhook: WebhookId, delivery: NewDelivery, created_at: Timestamp) -> Self {
        let NewDelivery { id: _, output_id, internal, status, reason, detail, due_at, held_by } =
            delivery;
        let due_at = due_at.filter(|_| !status.is_final());
        Self {
            webhook_id: webhook,
            output_id,
            internal,
            status,
            due_at,
            held_by: held_by.filter(|_| due_at.is_some()),
            handed_over: false,
            leased_until: None,
            attempts: 0,
            reason,
            last: detail.map(|error| Attempt { error: Some(error), ..Attempt::default() }.into()),
            processed: None,
            history: History::default(),
            output_execution_id: None,
            replay: None,
            created_at,
            updated_at: created_at,
        }
    }

    /// Whether it is to come to an end yet. Here it has with being handed over,
    /// whatever the consumer reports.
    pub(super) fn is_open(&self) -> bool {
        self.due_at.is_some() || !(self.status.is_final() || self.handed_over)
    }

    /// Whether this report counts.
    pub(super) fn takes(&self, report: &ClientReport) -> bool {
        self.due_at.is_none()
            && if self.handed_over { report.is_outcome() } else { !self.status.is_final() }
    }

    pub(super) fn group(&self) -> Group {
        match self.status {
            DeliveryStatus::Sent => Group::Sent,
            DeliveryStatus::Failed => Group::Failed,
            DeliveryStatus::Rejected => Group::Rejected,
            DeliveryStatus::Stalled => Group::Stalled,
            DeliveryStatus::Received | DeliveryStatus::Preparing => {
                let for_clients = self.internal || self.output_id.is_none();
                let is_waiting = self.due_at.is_none() && for_clients;
                if is_waiting { Group::Waiting } else { Group::Pending }
            }
        }
    }

    /// As what it is counted.
    pub(super) fn counted(&self, webhook: &Webhook) -> CountedLog {
        let open = CountedLog::open(
            webhook.account_id,
            webhook.bucket_id,
            self.output_id,
            self.created_at,
        );
        let (status_code, duration) =
            self.last.as_ref().map(|last| (last.status_code, last.duration)).unwrap_or_default();
        let nanos = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        open.with_outcome(self.status, status_code, self.attempts, nanos)
    }

    pub(super) fn bytes(&self) -> usize {
        let response = self.last.as_ref().map_or(0, |attempt| {
            let headers = &attempt.response_headers;
            let headers: usize =
                headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 64).sum();
            let error = attempt.error.as_ref().map_or(0, String::len);
            headers + attempt.response_body.len() + error
        });
        let response = response + self.history.as_bytes().len();
        ROW_BYTES + response + self.processed.as_ref().map_or(0, |request| request.size_bytes())
    }

    pub(super) fn to_delivery(&self, id: DeliveryId) -> Delivery {
        Delivery {
            id,
            webhook_id: self.webhook_id,
            output_id: self.output_id,
            internal: self.internal,
            status: self.status,
            due_at: self.due_at,
            attempts: self.attempts,
            reason: self.reason,
            last: self.last.as_deref().cloned(),
            processed: self.processed.as_deref().cloned(),
            history: self.history.clone(),
            output_execution_id: self.output_execution_id,
            leased_until: self.leased_until,
            replay: self.replay.clone(),
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}
