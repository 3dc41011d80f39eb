//! Webhooks that come back to where they were sent from.

use url::Url;

use super::{
    Relay,
    options::RelayOptions,
    receive::{address, host_name},
};
use crate::{
    error::{Error, ErrorKind},
    id::InputId,
    model::Webhook,
};

/// Says why a webhook with `hops` must not go further; none when it may.
pub(super) fn refused(hops: u16, options: &RelayOptions) -> Option<String> {
    let max = options.max_hops;
    let say = || format!("a loop: the webhook would pass relay {hops}, and it may pass {max}");
    (max != 0 && hops > max).then(say)
}

/// Says why a webhook must not be sent from here; none when it may.
pub(super) fn ends(webhook: &Webhook, options: &RelayOptions) -> Option<String> {
    refused(webhook.checks.hops.saturating_add(1), options)
}

impl Relay {
    /// The input that a request to this URL reaches, if it is one of this relay: by a reserved
    /// domain, or by its ID, which no other relay has. So the relay need not know under which
    /// names it is reached.
    pub(crate) async fn input_at(&self, destination: &str) -> Result<Option<InputId>, Error> {
        let Ok(url) = Url::parse(destination) else { return Ok(None) };
        if let Some(name) = url.host_str().and_then(host_name) {
            match self.receiver.domains.get(&name).await {
                Ok(Some(domain)) => return Ok(domain.input_of(url.path()).map(|(input, _)| input)),
                Ok(None) => {}
                // There are no domains here.
                Err(error) if error.kind() == ErrorKind::Unsupported => {}
                Err(error) => return Err(error),
            }
        }
        // A proxy may put another path before the prefix.
        let prefix = &*self.receiver.options.path_prefix;
        let path = url.path().find(prefix).map(|at| &url.path()[at..]);
        Ok(path.and_then(|path| address(prefix, path).ok()).map(|(input, _)| input))
    }
}
