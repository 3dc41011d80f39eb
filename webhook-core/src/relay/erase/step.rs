//! One step of an erasure: some webhooks are erased, and the place moves on.

use std::sync::Arc;

use super::{Eraser, HOLD};
use crate::{
    error::Error,
    id::WebhookId,
    model::{Erasure, ReplayStatus},
    relay::detach::Uncancelled,
    store::{EraseOutcome, EraseStep},
};

impl Eraser {
    /// Erases these webhooks; how many of them are in flight. None when the erasure does not run
    /// any more, or another node holds it.
    pub(super) async fn step(
        self: &Arc<Self>,
        erasure: &Erasure,
        webhooks: Vec<WebhookId>,
        to: String,
        end: Option<(ReplayStatus, String)>,
    ) -> Result<Option<usize>, Error> {
        let (eraser, now) = (Arc::clone(self), self.clock.now());
        let mut step = EraseStep::new(erasure, self.node, now, now + HOLD);
        (step.to, step.end) = (to, end);
        // Not to be left half-way when the relay stops.
        let work = async move {
            let deliverer = &eraser.deliverer;
            let mut taken = deliverer.take_webhooks(&webhooks.iter().copied().collect());
            let to_erase = |id: &WebhookId| deliverer.to_erase(*id, taken.get(id), now);
            step.webhooks = webhooks.iter().map(to_erase).collect();
            let outcomes = match eraser.store.step_erasure(step).await {
                Ok(Some(outcomes)) => outcomes,
                Ok(None) => {
                    taken.into_values().for_each(|taken| deliverer.put_back(Some(taken)));
                    return Ok(None);
                }
                Err(error) => {
                    taken.into_values().for_each(|taken| deliverer.look_for(Some(taken)));
                    return Err(error);
                }
            };
            let mut in_flight = 0;
            for (id, outcome) in webhooks.iter().zip(outcomes) {
                let taken = taken.remove(id);
                match outcome {
                    EraseOutcome::Erased(erased) => deliverer.forget(taken, &erased),
                    EraseOutcome::InFlight => {
                        in_flight += 1;
                        deliverer.put_back(taken);
                    }
                    EraseOutcome::Gone => deliverer.look_for(taken),
                }
            }
            Ok(Some(in_flight))
        };
        Uncancelled::new(work).await
    }
}
