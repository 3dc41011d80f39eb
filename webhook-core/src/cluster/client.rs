//! Clients that are connected to a node, and what they get.

use std::{collections::HashSet, net::IpAddr};

use crate::wire::{
    Request, Timestamp,
    id::{BucketId, DeliveryId, InputId, TokenId},
};
use serde::{Deserialize, Serialize};

/// A webhook for a connected client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamedWebhook {
    /// The log's ID, under which a client reports what it did.
    pub id: DeliveryId,
    /// The bucket.
    pub bucket_id: BucketId,
    /// The bucket's name.
    pub bucket_name: String,
    /// The input that received it.
    pub input_id: InputId,
    /// The input's name; empty when the input is gone.
    pub input_name: String,
    /// The internal output's name; empty for a bucket without outputs.
    pub output_name: String,
    /// The internal output's destination with the extra path, without the
    /// webhook's query; empty for a bucket without outputs.
    pub output_destination: String,
    /// What to deliver. With an output its headers are those of a delivery; without
    /// outputs they are the sender's. The body is beside the head of a message.
    #[serde(with = "crate::cluster::message::request")]
    pub request: Request,
}

/// The buckets that a client listens to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listening {
    /// All buckets of the account, later ones included.
    All,
    /// These.
    Buckets(HashSet<BucketId>),
}

impl Listening {
    /// Whether this bucket is one of them.
    #[must_use]
    pub fn includes(&self, bucket: BucketId) -> bool {
        match self {
            Self::All => true,
            Self::Buckets(buckets) => buckets.contains(&bucket),
        }
    }
}

/// Who a client says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// The access token that it showed; none for the API key.
    pub token_id: Option<TokenId>,
    /// Its address.
    pub ip: Option<IpAddr>,
    /// What it is (`webhook-server`, a browser).
    pub kind: String,
    /// Its version.
    pub version: String,
    /// Where it forwards to, when it says so.
    pub destination: String,
}

/// A connected client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectedClient {
    /// Who it says it is.
    pub info: ClientInfo,
    /// What it listens to.
    pub listening: Listening,
    /// Names of internal outputs: only their webhooks; empty for all there are.
    pub outputs: Vec<String>,
    /// Since when.
    pub subscribed_at: Timestamp,
}

impl ConnectedClient {
    /// Whether it gets the webhooks of this output; `""` when the bucket has none.
    #[must_use]
    pub fn listens_to(&self, bucket: BucketId, output: &str) -> bool {
        self.listening.includes(bucket)
            && (self.outputs.is_empty() || self.outputs.iter().any(|name| name == output))
    }
}
