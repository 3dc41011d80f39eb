//! Received webhooks.

use std::net::IpAddr;

use crate::rule::Subject;
use crate::wire::Request;

use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, DeliveryId, ExecutionId, InputId, WebhookId},
};

/// A webhook as it was received at an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Identifies it; the order of identifiers is the order of receipt.
    pub id: WebhookId,
    /// Whose it is.
    pub account_id: AccountId,
    /// The bucket it came into.
    pub bucket_id: BucketId,
    /// The input that received it.
    pub input_id: InputId,
    /// What is forwarded: as received, or as the input function left it.
    pub request: Request,
    /// The sender's address, where it is known.
    pub remote_addr: Option<IpAddr>,
    /// Whether it came over TLS.
    pub secure: bool,
    /// Whether its content is forgotten after the final outcome of all deliveries.
    pub ephemeral: bool,
    /// The run of the input function, if there was one.
    pub input_execution_id: Option<ExecutionId>,
    /// Whether the input's function failed on it: then [`request`](Self::request) is
    /// what came, not what the function made of it.
    pub input_failed: bool,
    /// What was found out about it when it was received.
    pub checks: Checks,
    /// When it was received.
    pub received_at: Timestamp,
}

impl Webhook {
    /// A webhook from an unknown address, without any findings, whose content is kept.
    #[must_use]
    pub fn new(
        id: WebhookId,
        (account_id, bucket_id, input_id): (AccountId, BucketId, InputId),
        request: Request,
        received_at: Timestamp,
    ) -> Self {
        Self {
            id,
            account_id,
            bucket_id,
            input_id,
            request,
            remote_addr: None,
            secure: false,
            ephemeral: false,
            input_execution_id: None,
            input_failed: false,
            checks: Checks::default(),
            received_at,
        }
    }
}

/// The findings about a webhook at its receipt. Only an input that verifies or deduplicates
/// finds out more than the hops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Whether it is from whom it says it is; none when nobody asked.
    pub verified: Option<bool>,
    /// The sender's name for what happened, where the provider has one.
    pub event: Option<String>,
    /// The first log of the webhook that this one is a duplicate of.
    pub duplicate_of: Option<DeliveryId>,
    /// How many duplicates of it came so far.
    pub duplicates: u32,
    /// How many relays it has passed before ([`hops`](super::hops)).
    pub hops: u16,
}

/// Rules are asked about what is forwarded, and what was found out about it.
impl<'a> From<&'a Webhook> for Subject<'a> {
    fn from(webhook: &'a Webhook) -> Self {
        let Checks { verified, event, duplicate_of, duplicates: _, hops: _ } = &webhook.checks;
        let mut subject = Self::new(&webhook.request);
        subject.remote_addr = webhook.remote_addr;
        subject.verified = *verified;
        subject.event = event.as_deref();
        subject.duplicate_of = duplicate_of.map(|log| log.as_uuid());
        subject
    }
}
