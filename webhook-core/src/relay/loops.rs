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
};

/// What is said of a webhook that has passed so many relays.
pub(super) fn passed(hops: u16, options: &RelayOptions) -> String {
    let max = options.max_hops;
    format!("a loop: the webhook has come to relay {hops} on its way, and it may pass {max}")
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
