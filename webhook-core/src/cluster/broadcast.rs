//! What carries messages from one node to the others.

use std::fmt;

use crate::wire::id::NodeId;
use async_trait::async_trait;
use bytes::Bytes;

/// How long a message may be, in bytes: under the 1 MiB that a NATS server takes by default.
pub const MAX_MESSAGE_BYTES: usize = 960 << 10;

/// Who gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum To {
    /// Every node that is there, who sends it included or not.
    All,
    /// This one.
    Node(NodeId),
}

/// Carries messages between the nodes of one cluster, as well as it can: messages may be
/// lost, late, doubled and out of order.
///
/// ```
/// use bytes::Bytes;
/// use webhook_core::cluster::{Broadcast, Inbox, Local, To};
/// use webhook_core::NodeId;
///
/// /// Loses every message for a single node.
/// #[derive(Debug)]
/// struct Deaf(Local);
///
/// impl Broadcast for Deaf {
///     fn publish(&self, to: To, message: Bytes) {
///         if to == To::All {
///             self.0.publish(to, message);
///         }
///     }
///
///     fn subscribe(&self, node: NodeId) -> Box<dyn Inbox> {
///         self.0.subscribe(node)
///     }
/// }
/// ```
pub trait Broadcast: Send + Sync + fmt::Debug {
    /// Sends a message and returns at once. One that cannot be sent now, or is longer than
    /// [`MAX_MESSAGE_BYTES`], is dropped.
    fn publish(&self, to: To, message: Bytes);

    /// What is sent to `node` and to all from now on. Called on a tokio runtime. What is not
    /// read is kept within a bound, and dropped past it.
    fn subscribe(&self, node: NodeId) -> Box<dyn Inbox>;

    /// Whether messages can be sent at the moment.
    fn is_connected(&self) -> bool {
        true
    }
}

/// What came for one node.
#[async_trait]
pub trait Inbox: Send + fmt::Debug {
    /// The next message with whom it is for; none when nothing comes any more. Dropping the
    /// future loses nothing.
    async fn next(&mut self) -> Option<(To, Bytes)>;
}
