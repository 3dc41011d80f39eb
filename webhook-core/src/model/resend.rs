//! A webhook is sent again.

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    id::{DeliveryId, OutputId},
    wire::Choice,
};

/// Which webhook is sent again, where to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resend {
    /// The log of an earlier delivery.
    pub log: DeliveryId,
    /// Another output of the webhook's bucket; none for the same one, or for
    /// all enabled outputs when the earlier delivery had none.
    pub output: Option<OutputId>,
    /// The steps that are repeated.
    pub policy: ProcessPolicy,
}

/// The steps that a resend repeats. The input's function is not among them: the store has
/// its result. Only where it failed, `Force` takes
/// the webhook through it again, as one that was just received; if it fails
/// again, that is a `Conflict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Choice)]
#[serde(rename_all = "lowercase")]
pub enum ProcessPolicy {
    /// Nothing: the request that was sent is sent again.
    #[default]
    Skip,
    /// Rules and the output's function.
    Force,
}

/// `""` and `null` say nothing.
pub(super) fn process_policy<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ProcessPolicy, D::Error> {
    match Option::<String>::deserialize(deserializer)?.as_deref() {
        None | Some("" | "skip") => Ok(ProcessPolicy::Skip),
        Some("force") => Ok(ProcessPolicy::Force),
        Some(_) => Err(de::Error::custom("must be \"skip\" or \"force\"")),
    }
}
