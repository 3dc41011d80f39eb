//! Who owns which queue: the control database says so, where leases are judged.

use async_trait::async_trait;
use futures_util::future::join_all;
use webhook_core::{
    Error, NodeId, OutputId, Timestamp,
    store::{DeliveryStore, OwnQueue, OwnedQueue, QueueStore},
};

use super::{ShardedStorage, registry};

#[async_trait]
impl QueueStore for ShardedStorage {
    async fn own_queue(&self, own: OwnQueue) -> Result<OwnedQueue, Error> {
        let output = own.output_id;
        let (mut owned, former) = self.control().own_queue_after(own).await?;
        let mut shards = self.of_output(output).await?;
        shards.retain(|shard| shard.number != registry::CONTROL);
        if let Some(former) = former {
            let freed = shards.iter().map(|it| it.ask(it.storage.release(former, Some(output))));
            join_all(freed).await.into_iter().collect::<Result<(), Error>>()?;
        }
        let counted = shards.iter().map(|it| it.ask(it.storage.count_queue(output)));
        for counted in join_all(counted).await {
            owned.pending += counted?;
        }
        owned.pending = owned.pending.min(OwnedQueue::MAX_COUNTED);
        Ok(owned)
    }

    async fn leave_queue(
        &self,
        node: NodeId,
        output: OutputId,
        started: &[Timestamp],
    ) -> Result<(), Error> {
        self.control().leave_queue(node, output, started).await
    }
}
