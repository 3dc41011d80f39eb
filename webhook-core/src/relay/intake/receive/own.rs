//! The inputs that requests of this relay itself reach.

use url::Url;

use super::{
    hosts::host_name,
    ingest::{Receiver, address},
};
use crate::{
    error::{Error, ErrorKind},
    id::InputId,
};

impl Receiver {
    /// The input that a request to this URL reaches, if it is one of this relay: by a reserved
    /// domain, or by its ID, which no other relay has. So the relay need not know under which
    /// names it is reached.
    pub(crate) async fn input_at(&self, destination: &str) -> Result<Option<InputId>, Error> {
        let Ok(url) = Url::parse(destination) else { return Ok(None) };
        if let Some(name) = url.host_str().and_then(host_name) {
            match self.domains.get(&name).await {
                Ok(Some(domain)) => return Ok(domain.input_of(url.path()).map(|(input, _)| input)),
                Ok(None) => {}
                // There are no domains here.
                Err(error) if error.kind() == ErrorKind::Unsupported => {}
                Err(error) => return Err(error),
            }
        }
        // A proxy may put another path before the prefix.
        let prefix = &*self.options.path_prefix;
        let path = url.path().find(prefix).map(|at| &url.path()[at..]);
        Ok(path.and_then(|path| address(prefix, path).ok()).map(|(input, _)| input))
    }
}
