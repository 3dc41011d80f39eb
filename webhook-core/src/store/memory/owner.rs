//! Who owns which queue, in memory.

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{NodeId, OutputId},
    store::{OwnQueue, OwnedQueue, QueueStore},
};

/// The owner of a queue, and what it or the one before started lately.
#[derive(Debug, Default)]
pub(super) struct Owner {
    node: Option<NodeId>,
    started: Vec<Timestamp>,
}

#[async_trait]
impl QueueStore for MemoryStore {
    async fn own_queue(&self, own: OwnQueue) -> Result<OwnedQueue, Error> {
        let OwnQueue { node, output_id, now, started } = own;
        let mut queue = self.queue();
        let pending = queue.index.outputs.get(&output_id).map_or(0, |index| index.open().count());
        let pending = u64::try_from(pending).unwrap_or(u64::MAX).min(OwnedQueue::MAX_COUNTED);
        let former = queue.owners.get(&output_id).and_then(|owner| owner.node);
        let is_free = former.is_none_or(|former| former == node || !queue.is_alive(former, now));
        if !(former == Some(node) || started.is_none() && is_free) {
            return Ok(OwnedQueue::of_another(pending));
        }
        if let Some(former) = former.filter(|former| *former != node) {
            queue.free(former, Some(output_id));
        }
        let owner = queue.owners.entry(output_id).or_default();
        owner.node = Some(node);
        Ok(match started {
            Some(started) => {
                owner.started = started;
                OwnedQueue::own(Vec::new(), false, pending)
            }
            None => OwnedQueue::own(owner.started.clone(), former.is_some(), pending),
        })
    }

    async fn leave_queue(
        &self,
        node: NodeId,
        output: OutputId,
        started: &[Timestamp],
    ) -> Result<(), Error> {
        let mut queue = self.queue();
        let Some(owner) = queue.owners.get_mut(&output).filter(|owner| owner.node == Some(node))
        else {
            return Ok(());
        };
        *owner = Owner { node: None, started: started.to_vec() };
        if started.is_empty() {
            queue.owners.remove(&output);
        }
        Ok(())
    }
}
