//! Whether the account's plan has room for one more webhook.

use webhook_cluster::{Change, Content, To};

use super::ingest::Receiver;
use crate::{error::Error, id::AccountId, plan::Ticket};

impl Receiver {
    /// Room for one more webhook in the account's month. Other nodes are told of the first
    /// refusal, so that they look in the store before they let through another one.
    pub(super) async fn room(&self, account: AccountId) -> Result<Ticket, Error> {
        let Some(quotas) = &self.quotas else { return Ok(Ticket::default()) };
        let admitted = quotas.admit(account).await;
        if admitted.is_err()
            && quotas.is_used_up(account)
            && let Some(cluster) = &self.cluster
        {
            cluster.tell(To::All, Content::Changed(Change::Plan(account)));
        }
        admitted
    }
}
