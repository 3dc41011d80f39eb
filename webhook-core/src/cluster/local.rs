//! Messages within one process.

use std::sync::{Arc, Mutex, PoisonError};

use crate::wire::id::NodeId;
use bytes::Bytes;

use crate::cluster::{
    broadcast::{Broadcast, Inbox, To},
    inbox::{Slot, queue},
};

/// A carrier in memory, for relays in one process. A clone is a handle on the same.
#[derive(Clone, Debug, Default)]
pub struct Local {
    nodes: Arc<Mutex<Vec<(NodeId, Slot)>>>,
}

impl Broadcast for Local {
    fn publish(&self, to: To, message: Bytes) {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.retain(|(_, slot)| !slot.is_closed());
        for (node, slot) in &*nodes {
            if to == To::All || to == To::Node(*node) {
                slot.put(to, message.clone());
            }
        }
    }

    fn subscribe(&self, node: NodeId) -> Box<dyn Inbox> {
        let (slot, queue) = queue();
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).push((node, slot));
        Box::new(queue)
    }
}
