//! What only the management asks of the relay.

use super::{Receiver, Relay, intake::signature_check::Asked, sources::replays};
use crate::{
    cluster::Change,
    error::Error,
    id::AccountId,
    model::{Input, Log, Output, ReplaySpec, SignatureCheck},
};

impl Relay {
    pub(crate) async fn check_signature(
        &self,
        input: &Input,
        asked: Asked<'_>,
    ) -> Result<SignatureCheck, Error> {
        let Receiver { checker, options, .. } = &*self.receiver;
        checker.explain(input, asked, &options.path_prefix).await
    }

    /// The outputs that a replay sends the webhook of `log` to; nothing when it cannot.
    pub(crate) async fn replay_targets(
        &self,
        log: &Log,
        spec: &ReplaySpec,
    ) -> Result<Vec<Option<Output>>, Error> {
        let bucket = self.replays.bucket_for(log, spec).await?;
        let targets = replays::targets(bucket.as_deref(), log, spec);
        Ok(targets.into_iter().map(Option::<&Output>::cloned).collect())
    }

    /// Says that a notification was made, changed or removed.
    pub(crate) async fn notifications_changed(&self, account: AccountId) -> Result<(), Error> {
        self.notifier.changed(account).await?;
        self.tell_others(Change::Notifications(account));
        Ok(())
    }

    /// Says that an account has another plan.
    pub(crate) fn plan_changed(&self, account: AccountId) {
        self.changed(Change::Plan(account));
    }

    /// Says that an erasure was made. Other relays find it when they look.
    pub(crate) fn erasures_changed(&self) {
        self.eraser.changed();
    }
}
