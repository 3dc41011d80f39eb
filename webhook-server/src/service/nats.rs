//! What servers over one database tell one another, which goes over NATS
//! (`docs/several-machines.md`).

use std::sync::Arc;

use webhook_core::cluster::Broadcast;
use webhook_storage::SecretKey;

use crate::{config::ClusterConfig, failure::Failure};

/// What the key of the messages is derived for.
#[cfg(feature = "nats")]
const MESSAGES: &str = "messages between servers";
/// What the name of the subjects is derived for, so that servers of other databases on the
/// same NATS have others.
#[cfg(feature = "nats")]
const SUBJECTS: &str = "subjects of messages between servers";

/// The connection to the other servers; none where there is no NATS.
#[cfg(feature = "nats")]
pub(crate) async fn connect(
    config: &ClusterConfig,
    key: &SecretKey,
) -> Result<Option<Arc<dyn Broadcast>>, Failure> {
    use webhook_core::cluster::{Sealed, nats::Nats};
    let Some(url) = &config.nats_url else { return Ok(None) };
    let name: String =
        key.derive_for(SUBJECTS)?.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let nats = Nats::connect(url.expose(), format!("webhook.{name}"))
        .await
        .map_err(|error| Failure::new(format!("WEBHOOK_NATS_URL: {error}")))?;
    let sealed = Sealed::new(Arc::new(nats), key.derive_for(MESSAGES)?)
        .map_err(|error| Failure::new(error.to_string()))?;
    Ok(Some(Arc::new(sealed)))
}

#[cfg(not(feature = "nats"))]
pub(crate) async fn connect(
    _: &ClusterConfig,
    _: &SecretKey,
) -> Result<Option<Arc<dyn Broadcast>>, Failure> {
    Ok(None)
}
