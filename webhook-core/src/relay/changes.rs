//! What the relay is told of changes, so that it and the others over the same stores see them
//! at once.

use super::{Relay, deliver::findings::Finding};
use crate::{
    cluster::{BucketChange, Change, Content, To},
    error::Error,
    id::{AccountId, FunctionId, TokenId},
    model::Bucket,
};

impl Relay {
    /// Says that a bucket has changed, with the inputs and outputs that it has
    /// and that it had: the next webhook sees the change.
    pub fn bucket_changed(&self, bucket: &Bucket) {
        let domains = bucket.inputs.iter().map(|input| &input.spec.custom_domain);
        self.changed(Change::Bucket(BucketChange {
            account: bucket.account_id,
            bucket: bucket.id,
            inputs: bucket.inputs.iter().map(|input| input.id).collect(),
            outputs: bucket.outputs.iter().map(|output| output.id).collect(),
            domains: domains.filter(|domain| !domain.is_empty()).cloned().collect(),
        }));
    }

    /// Pauses or resumes an output because of what its destination did. Answers the bucket after
    /// a change.
    pub(crate) async fn act_on(&self, finding: Finding) -> Result<Option<Bucket>, Error> {
        let changed = self.findings.act_on(finding).await?;
        changed.iter().for_each(|bucket| self.bucket_changed(bucket));
        Ok(changed)
    }

    /// Says that a domain has been reserved or given back, or that an input has
    /// come to it or left it: the next request sees the change.
    pub fn domain_changed(&self, name: &str) {
        self.changed(Change::Domain(name.to_owned()));
    }

    /// Says that a function or one of its variables has changed: the next run
    /// sees the change.
    pub fn function_changed(&self, function: FunctionId) {
        self.changed(Change::Function(function));
    }

    /// Says that a credential was withdrawn or reaches other buckets now: the clients that
    /// came with it go. No `token` means the API key.
    pub fn credential_changed(&self, account: AccountId, token: Option<TokenId>) {
        self.changed(Change::Credential { account, token });
    }

    /// Says that a cron was made or changed: it may run sooner than any other.
    pub fn crons_changed(&self) {
        self.changed(Change::Crons);
    }

    /// Says that a replay was made or resumed.
    pub fn replays_changed(&self) {
        self.changed(Change::Replays);
    }

    pub(super) fn changed(&self, change: Change) {
        self.apply(&change);
        self.tell_others(change);
    }

    pub(super) fn tell_others(&self, change: Change) {
        if let Some(cluster) = &self.cluster {
            cluster.tell(To::All, Content::Changed(change));
        }
    }

    /// Forgets here what has changed, and looks at what may have something to do now.
    pub(super) fn apply(&self, change: &Change) {
        match change {
            Change::Bucket(BucketChange { account, bucket, inputs, outputs, domains }) => {
                self.buckets.changed(inputs, outputs);
                self.watch.bucket_changed(*account, *bucket);
                // One of them may have been resumed, or deleted.
                self.deliverer.wake(outputs.iter().copied());
                if !outputs.is_empty() {
                    self.deliverer.changed.notify_one();
                }
                domains.iter().for_each(|name| self.receiver.domains.changed(name));
            }
            Change::Function(function) => self.functions.cache.changed(*function),
            Change::Credential { account, token } => {
                self.clients.close(*account, |client| client.token_id == *token);
            }
            Change::Domain(name) => self.receiver.domains.changed(name),
            Change::Crons => self.crons.changed(),
            Change::Replays => self.replays.changed(),
            Change::Plan(account) => {
                self.receiver.quota.iter().for_each(|quota| quota.plan_changed(*account));
            }
            // Who wants to be told of what is read anew, which the caller waits for.
            Change::Notifications(_) => {}
        }
    }
}
