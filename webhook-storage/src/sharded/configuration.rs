//! What of the configuration has to do with shards: what is deleted is not waited for any
//! more. It goes from the control database first. What a crash then leaves waiting in a shard
//! is routed nowhere, and `tidy` ends it.

use async_trait::async_trait;
use uuid::Uuid;
use webhook_core::{
    AccountId, BucketId, CronId, Error, InputId, NodeId, OutputId, Timestamp,
    model::{Bucket, Cron, Output},
    store::{
        AdvanceCron, BucketCounts, BucketRetention, BucketStore, ClaimCrons, CronStore,
        OutputStore, RulesVersion,
    },
};

use super::{ShardedStorage, registry};

impl ShardedStorage {
    /// Ends what waits for outputs of a bucket that are gone.
    async fn stop_everywhere(&self, account: AccountId, bucket: BucketId, outputs: Vec<Uuid>) {
        let shards = match self.of_bucket(Some(bucket)).await {
            Ok(shards) => shards,
            Err(error) => {
                tracing::warn!(%bucket, %error, "what waits there is ended later");
                return;
            }
        };
        for shard in shards.iter().filter(|shard| shard.number != registry::CONTROL) {
            let stopped = shard.ask(shard.storage.stop(account, bucket, outputs.clone())).await;
            if let Err(error) = stopped {
                let shard = shard.number;
                tracing::warn!(shard, %bucket, %error, "what waits there is ended later");
            }
        }
    }

    async fn stop_bucket(&self, account: AccountId, bucket: Option<Bucket>) {
        if let Some(bucket) = bucket {
            let outputs = bucket.outputs.iter().map(|output| output.id.as_uuid()).collect();
            self.stop_everywhere(account, bucket.id, outputs).await;
        }
    }
}

#[async_trait]
impl BucketStore for ShardedStorage {
    async fn create_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        self.control().create_bucket(bucket).await
    }

    async fn bucket(&self, account: AccountId, id: BucketId) -> Result<Option<Bucket>, Error> {
        self.control().bucket(account, id).await
    }

    async fn bucket_by_name(
        &self,
        account: AccountId,
        name: &str,
    ) -> Result<Option<Bucket>, Error> {
        self.control().bucket_by_name(account, name).await
    }

    async fn bucket_owner(&self, id: BucketId) -> Result<Option<AccountId>, Error> {
        self.control().bucket_owner(id).await
    }

    async fn buckets(&self, account: AccountId) -> Result<Vec<Bucket>, Error> {
        self.control().buckets(account).await
    }

    async fn bucket_counts(&self, account: AccountId) -> Result<BucketCounts, Error> {
        self.control().bucket_counts(account).await
    }

    async fn retentions(
        &self,
        after: Option<BucketId>,
        limit: usize,
    ) -> Result<Vec<BucketRetention>, Error> {
        self.control().retentions(after, limit).await
    }

    async fn update_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        self.control().update_bucket(bucket).await
    }

    async fn delete_bucket(
        &self,
        account: AccountId,
        id: BucketId,
        spare: Option<InputId>,
        force: bool,
    ) -> Result<(), Error> {
        let bucket = self.control().bucket(account, id).await?;
        self.control().delete_bucket(account, id, spare, force).await?;
        self.stop_bucket(account, bucket).await;
        Ok(())
    }
}

#[async_trait]
impl OutputStore for ShardedStorage {
    async fn create_output(&self, account: AccountId, output: &Output) -> Result<(), Error> {
        self.control().create_output(account, output).await
    }

    async fn output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<Option<Output>, Error> {
        self.control().output(account, bucket, id).await
    }

    async fn update_output(&self, account: AccountId, output: &Output) -> Result<(), Error> {
        self.control().update_output(account, output).await
    }

    async fn rules_at(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
        at: Timestamp,
    ) -> Result<Option<RulesVersion>, Error> {
        self.control().rules_at(account, bucket, id, at).await
    }

    async fn delete_output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<(), Error> {
        self.control().delete_output(account, bucket, id).await?;
        self.stop_everywhere(account, bucket, vec![id.as_uuid()]).await;
        Ok(())
    }
}

#[async_trait]
impl CronStore for ShardedStorage {
    async fn create_cron(&self, cron: &Cron, bucket: &Bucket) -> Result<(), Error> {
        self.control().create_cron(cron, bucket).await
    }

    async fn cron(&self, account: AccountId, id: CronId) -> Result<Option<Cron>, Error> {
        self.control().cron(account, id).await
    }

    async fn crons(&self, account: AccountId) -> Result<Vec<Cron>, Error> {
        self.control().crons(account).await
    }

    async fn update_cron(&self, cron: &Cron, known: Option<Timestamp>) -> Result<bool, Error> {
        self.control().update_cron(cron, known).await
    }

    async fn delete_cron(&self, account: AccountId, id: CronId) -> Result<(), Error> {
        let control = self.control();
        let bucket = match control.cron(account, id).await? {
            Some(cron) => control.bucket(account, cron.bucket_id).await?,
            None => None,
        };
        control.delete_cron(account, id).await?;
        self.stop_bucket(account, bucket).await;
        Ok(())
    }

    async fn claim_crons(&self, claim: ClaimCrons) -> Result<Vec<Cron>, Error> {
        self.control().claim_crons(claim).await
    }

    async fn crons_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        self.control().crons_wake_at().await
    }

    async fn advance_cron(&self, advance: AdvanceCron) -> Result<bool, Error> {
        self.control().advance_cron(advance).await
    }

    async fn release_crons(&self, node: NodeId) -> Result<(), Error> {
        self.control().release_crons(node).await
    }
}
