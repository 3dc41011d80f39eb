//! Outputs that would lead webhooks back into their own bucket.

use std::collections::{HashMap, HashSet};

use super::{Admin, Caller};
use crate::{
    error::Error,
    id::{BucketId, InputId},
    model::{Bucket, OutputSpec},
};

impl Admin {
    /// Fails when an enabled output of `bucket` with a new destination closes a loop, unless the
    /// caller says that it is meant. `before` is the destination that it had. The search follows
    /// the enabled outputs of the account; other loops end after some hops
    /// ([`RelayOptions::max_hops`](crate::relay::RelayOptions)).
    pub(super) async fn check_loop(
        &self,
        caller: &Caller,
        bucket: BucketId,
        spec: &OutputSpec,
        before: Option<&str>,
    ) -> Result<(), Error> {
        let sends = !spec.disabled && !spec.internal && before != Some(&spec.destination);
        if !sends || caller.allows_loops() {
            return Ok(());
        }
        // Nearly all destinations are elsewhere: nothing is read for them.
        let Some(input) = self.relay.input_at(&spec.destination).await? else { return Ok(()) };
        let buckets = self.stores.buckets.buckets(caller.account_id()).await?;
        let owner: HashMap<InputId, &Bucket> = buckets
            .iter()
            .flat_map(|bucket| bucket.inputs.iter().map(move |input| (input.id, bucket)))
            .collect();
        let (mut seen, mut next) = (HashSet::new(), vec![input]);
        while let Some(input) = next.pop() {
            let Some(reached) = owner.get(&input).filter(|reached| seen.insert(reached.id)) else {
                continue;
            };
            if reached.id == bucket {
                return Err(Error::conflict(
                    "destination: it leads back into this bucket, so that each webhook would \
                     come again and again; choose another one, or say that the loop is meant \
                     with ?allow_loop=true",
                ));
            }
            for output in &reached.outputs {
                if output.spec.takes_webhooks() && !output.spec.internal {
                    next.extend(self.relay.input_at(&output.spec.destination).await?);
                }
            }
        }
        Ok(())
    }
}
