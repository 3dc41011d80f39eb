//! Identifiers: UUIDs with the kind of thing they name in their type.

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

/// The identifier of a thing of kind `K`: a UUID, new ones time-ordered
/// (version 7, RFC 9562), written as lower-case text.
///
/// Identifiers made by one process are strictly increasing, so that the order
/// of identifiers is the order of receipt.
///
/// ```
/// use webhook_core::BucketId;
///
/// let id = BucketId::generate();
/// assert_eq!(id.to_string().parse::<BucketId>()?, id);
/// assert!("not-a-uuid".parse::<BucketId>().is_err());
/// # Ok::<(), webhook_core::InvalidId>(())
/// ```
pub struct Id<K> {
    uuid: Uuid,
    kind: PhantomData<fn() -> K>,
}

/// Text that is not an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id: expected a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057")]
pub struct InvalidId;

impl<K> Id<K> {
    /// A new identifier, greater than every one this process made before.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this is the one way")]
    pub fn generate() -> Self {
        Self::from_uuid(Uuid::now_v7())
    }

    /// A new identifier that nobody can guess: 122 bits of the system's randomness
    /// (version 4, RFC 9562), in no order. For what is an address at the same time:
    /// time-ordered ones of a moment share all but 32 bits.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this is the one way")]
    pub fn unguessable() -> Self {
        Self::from_uuid(Uuid::new_v4())
    }

    /// The identifier with this UUID.
    #[must_use]
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self { uuid, kind: PhantomData }
    }

    /// The UUID.
    #[must_use]
    pub const fn as_uuid(&self) -> Uuid {
        self.uuid
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Id<K> {}

impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.uuid == other.uuid
    }
}

impl<K> Eq for Id<K> {}

impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // The order of the bytes, without comparing byte by byte.
        self.uuid.as_u128().cmp(&other.uuid.as_u128())
    }
}

impl<K> std::hash::Hash for Id<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.uuid.hash(state);
    }
}

impl<K> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uuid.as_hyphenated().fmt(f)
    }
}

impl<K> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K> FromStr for Id<K> {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // `Uuid` also reads braces, URNs and bare digits, which clients take for names.
        if text.len() != 36 {
            return Err(InvalidId);
        }
        Uuid::try_parse(text).map(Self::from_uuid).map_err(|_| InvalidId)
    }
}

impl<K> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The kinds of things that have identifiers; never values, only types.
pub(crate) mod kind {
    /// An account.
    #[derive(Debug)]
    pub enum Account {}
    /// A bucket.
    #[derive(Debug)]
    pub enum Bucket {}
    /// An input.
    #[derive(Debug)]
    pub enum Input {}
    /// An output.
    #[derive(Debug)]
    pub enum Output {}
    /// A function.
    #[derive(Debug)]
    pub enum Function {}
    /// One run of a function.
    #[derive(Debug)]
    pub enum Execution {}
    /// A received webhook.
    #[derive(Debug)]
    pub enum Webhook {}
    /// The delivery of one webhook to one output, which is also its log.
    #[derive(Debug)]
    pub enum Delivery {}
    /// A cron job.
    #[derive(Debug)]
    pub enum Cron {}
    /// A replay of many webhooks.
    #[derive(Debug)]
    pub enum Replay {}
    /// An erasure of many webhooks.
    #[derive(Debug)]
    pub enum Erasure {}
    /// A reserved domain.
    #[derive(Debug)]
    pub enum Domain {}
    /// An access token.
    #[derive(Debug)]
    pub enum Token {}
    /// A running relay that holds deliveries.
    #[derive(Debug)]
    pub enum Node {}
    /// A notification that an account has asked for.
    #[derive(Debug)]
    pub enum Notification {}
}

/// Identifies an account.
pub type AccountId = Id<kind::Account>;
/// Identifies a bucket.
pub type BucketId = Id<kind::Bucket>;
/// Identifies an input.
pub type InputId = Id<kind::Input>;
/// Identifies an output.
pub type OutputId = Id<kind::Output>;
/// Identifies a function.
pub type FunctionId = Id<kind::Function>;
/// Identifies one run of a function.
pub type ExecutionId = Id<kind::Execution>;
/// Identifies a received webhook.
pub type WebhookId = Id<kind::Webhook>;
/// Identifies the delivery of one webhook to one output: the log's `id`.
pub type DeliveryId = Id<kind::Delivery>;
/// Identifies a cron job.
pub type CronId = Id<kind::Cron>;
/// Identifies a replay of many webhooks.
pub type ReplayId = Id<kind::Replay>;
/// Identifies an erasure of many webhooks.
pub type ErasureId = Id<kind::Erasure>;
/// Identifies a reserved domain.
pub type DomainId = Id<kind::Domain>;
/// Identifies an access token.
pub type TokenId = Id<kind::Token>;
/// Identifies a running relay that holds deliveries.
pub type NodeId = Id<kind::Node>;
/// Identifies a notification that an account has asked for.
pub type NotificationId = Id<kind::Notification>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_the_bytes(one: [u8; 16], other: [u8; 16]) {
            let id = |bytes| WebhookId::from_uuid(Uuid::from_bytes(bytes));
            prop_assert_eq!(id(one).cmp(&id(other)), one.cmp(&other));
        }
    }
}
