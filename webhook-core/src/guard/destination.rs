//! What can be said of a destination before anything is resolved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::{AddressGuard, RefusedAddress};

/// A URL that cannot be a destination. The message names the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDestination {
    /// Neither `http` nor `https`.
    #[error("scheme {0:?} must be http or https")]
    Scheme(String),
    /// No host.
    #[error("host is missing")]
    Host,
    /// Credentials in the URL, which would end up in logs.
    #[error("user name and password do not belong into the url; use an Authorization header")]
    Credentials,
    /// Nothing listens on port 0.
    #[error("port 0 cannot be connected to")]
    Port,
    /// The guard refuses the address.
    #[error("host {0}")]
    Address(#[from] RefusedAddress),
}

impl AddressGuard {
    /// Whether `url` can be a destination, as far as that is known without
    /// resolving its host: for refusing an output when it is saved.
    ///
    /// Hosts that are addresses, in any spelling (`0x7f.1`, `2130706433`), and
    /// `localhost` are checked here; names are checked again each time they
    /// are connected to.
    ///
    /// # Errors
    /// When it cannot be one, with the part that is wrong.
    ///
    /// ```
    /// use webhook_core::guard::AddressGuard;
    ///
    /// let guard = AddressGuard::public_only();
    /// assert!(guard.check_url(&"https://example.com/hook".parse()?).is_ok());
    /// let refused = guard.check_url(&"http://2130706433/".parse()?).expect_err("loopback");
    /// assert_eq!(refused.to_string(), "host 127.0.0.1 is not public (loopback)");
    /// # Ok::<(), url::ParseError>(())
    /// ```
    pub fn check_url(&self, url: &Url) -> Result<(), InvalidDestination> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(InvalidDestination::Scheme(url.scheme().to_owned()));
        }
        match check_authority(url)? {
            Host::Ipv4(v4) => self.check(v4.into())?,
            Host::Ipv6(v6) => self.check(v6.into())?,
            // RFC 6761 §6.3: these names are loopback everywhere. Which family
            // answers is not known yet, so one that is allowed is enough.
            Host::Domain(name) if is_localhost(name) => {
                self.check(IpAddr::V4(Ipv4Addr::LOCALHOST)).or_else(|refused| {
                    self.check(IpAddr::V6(Ipv6Addr::LOCALHOST)).map_err(|_| refused)
                })?
            }
            Host::Domain(_) => {}
        }
        Ok(())
    }
}

/// The checks that hold for every guard and every scheme.
pub(crate) fn check_authority(url: &Url) -> Result<Host<&str>, InvalidDestination> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(InvalidDestination::Credentials);
    }
    if url.port() == Some(0) {
        return Err(InvalidDestination::Port);
    }
    url.host().filter(|host| *host != Host::Domain("")).ok_or(InvalidDestination::Host)
}

fn is_localhost(name: &str) -> bool {
    // `Url` has made the name lower-case.
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}
