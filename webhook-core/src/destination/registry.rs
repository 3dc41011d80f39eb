//! The kinds of destinations, by scheme.

use std::{iter, sync::Arc};

use tokio::time::timeout;

use super::{Answer, Deadline, Destination, HttpDestination, Outgoing, SendError, http::SCHEMES};
use crate::forward::ForwardError;

/// HTTP, and the kinds that the embedder adds. Of two kinds with the same scheme the later one
/// has it; HTTP keeps its schemes.
#[derive(Debug)]
pub(crate) struct Destinations {
    pub(crate) http: HttpDestination,
    pub(crate) added: Vec<Arc<dyn Destination>>,
}

impl Destinations {
    /// HTTP alone.
    #[cfg(feature = "admin")]
    pub(crate) const fn of(http: HttpDestination) -> Self {
        Self { http, added: Vec::new() }
    }

    /// Checks a URL before an output with it is saved.
    #[cfg(feature = "admin")]
    pub(crate) fn check(&self, text: &str) -> Result<(), String> {
        // `Url` also reads `http:example.com`.
        let scheme = text.split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
        let Some(destination) = self.find(scheme) else {
            let schemes = self.kinds().flat_map(Destination::schemes);
            let starts: Vec<_> = schemes.map(|scheme| format!("{scheme}://")).collect();
            let starts = starts.join(" or ");
            return Err(format!("must be an absolute url that starts with {starts}"));
        };
        let url = super::Url::parse(text).map_err(|error| error.to_string())?;
        crate::guard::check_authority(&url).map_err(|error| error.to_string())?;
        destination.check(&url)
    }

    /// Sends to the destination of this scheme.
    pub(crate) async fn send(
        &self,
        outgoing: Outgoing,
        deadline: Deadline,
    ) -> Result<Answer, SendError> {
        let scheme = outgoing.url.scheme_str().unwrap_or_default();
        if SCHEMES.contains(&scheme) {
            return self.http.forward(outgoing, deadline).await;
        }
        let Some(destination) = self.find(scheme) else {
            let reason = format!("no destination has the scheme {scheme:?}");
            return Err(ForwardError::Unsendable(reason).into());
        };
        let after = deadline.remaining();
        let sending = timeout(after, destination.send(outgoing, deadline)).await;
        sending.unwrap_or_else(|_| Err(ForwardError::Timeout { after, timings: None }.into()))
    }

    fn kinds(&self) -> impl Iterator<Item = &dyn Destination> {
        let added = self.added.iter().rev().map(|destination| &**destination);
        iter::once(&self.http as &dyn Destination).chain(added)
    }

    fn find(&self, scheme: &str) -> Option<&dyn Destination> {
        let mut kinds = self.kinds();
        kinds.find(|kind| kind.schemes().iter().any(|it| it.eq_ignore_ascii_case(scheme)))
    }
}
