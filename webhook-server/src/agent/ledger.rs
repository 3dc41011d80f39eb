//! What has been delivered already.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use serde_json::Value;
use webhook_core::DeliveryId;

/// How many webhooks are remembered.
const REMEMBERED: usize = 10_000;

/// Remembers the last webhooks, so that one that comes again, because its
/// report was lost with the server or the connection, is reported again and not
/// delivered twice.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    /// The report; none while it is being delivered.
    known: HashMap<DeliveryId, Option<Value>>,
    order: VecDeque<DeliveryId>,
}

/// What to do with a webhook.
#[derive(Debug, PartialEq)]
pub(super) enum Seen {
    /// It is new: deliver it.
    New,
    /// It is being delivered: somebody else reports.
    UnderWay,
    /// It has been delivered: say so again.
    Delivered(Value),
}

impl Ledger {
    /// A webhook has come.
    pub(super) fn begin(&self, id: DeliveryId) -> Seen {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match entries.known.get(&id) {
            Some(None) => return Seen::UnderWay,
            Some(Some(report)) => return Seen::Delivered(report.clone()),
            None => {}
        }
        entries.known.insert(id, None);
        entries.order.push_back(id);
        if entries.order.len() > REMEMBERED
            && let Some(oldest) = entries.order.pop_front()
        {
            entries.known.remove(&oldest);
        }
        Seen::New
    }

    /// It was given back, and is new when it comes again.
    pub(super) fn forget(&self, id: DeliveryId) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.known.remove(&id);
        entries.order.retain(|other| *other != id);
    }

    /// It has been delivered, with this outcome.
    pub(super) fn delivered(&self, id: DeliveryId, report: Value) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.known.get_mut(&id) {
            *entry = Some(report);
        }
    }

    /// The server has the report: from now on only the outcome is remembered.
    pub(super) fn reported(&self, id: DeliveryId) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(report)) = entries.known.get_mut(&id)
            && let Some(report) = report.as_object_mut()
        {
            report.retain(|key, _| key == "status" || key == "status_code");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_webhook_is_new_once() {
        let ledger = Ledger::default();
        let id = DeliveryId::generate();
        assert_eq!(ledger.begin(id), Seen::New);
        assert_eq!(ledger.begin(id), Seen::UnderWay);
        ledger.delivered(id, json!({"status": "sent", "response_body": "…"}));
        assert!(
            matches!(ledger.begin(id), Seen::Delivered(report) if report["response_body"] == "…")
        );
        ledger.reported(id);
        assert_eq!(ledger.begin(id), Seen::Delivered(json!({"status": "sent"})));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let ledger = Ledger::default();
        let first = DeliveryId::generate();
        ledger.begin(first);
        for _ in 0..REMEMBERED {
            ledger.begin(DeliveryId::generate());
        }
        let entries = ledger.0.lock().expect("not poisoned");
        assert_eq!((entries.known.len(), entries.order.len()), (REMEMBERED, REMEMBERED));
        drop(entries);
        assert_eq!(ledger.begin(first), Seen::New);
    }
}
