//! Which addresses may be connected to, and which [names] may be reserved.
//!
//! A destination is text that a customer wrote, and the relay runs inside the
//! operator's network. Without a guard a destination reads the cloud's
//! metadata service, the database's port or the neighbour's admin page
//! (server-side request forgery). The name says nothing: anybody can point a
//! name at `127.0.0.1`, and at another address a second later. So the check
//! is made on the addresses themselves, at the moment of connecting.

use std::{net::IpAddr, str::FromStr};

use ipnet::IpNet;

mod destination;
pub mod names;
mod ranges;
#[cfg(test)]
mod tests;

pub use destination::InvalidDestination;
#[cfg(feature = "admin")]
pub(crate) use destination::check_authority;

/// Decides whether an address may be connected to.
///
/// An address that carries an IPv4 address inside (IPv4-mapped and
/// -compatible, NAT64, 6to4, Teredo, ISATAP) may be used only if that one may
/// be, too, because some translator on the way delivers to it.
///
/// The unspecified addresses (`0.0.0.0` and `::`, which reach the machine
/// itself), multicast and broadcast are refused by every guard, even by
/// [`allow_all`](Self::allow_all): no destination lives there.
///
/// ```
/// use webhook_core::guard::AddressGuard;
///
/// let guard = AddressGuard::public_only();
/// assert!(guard.check("93.184.215.14".parse()?).is_ok());
/// let refused = guard.check("::ffff:169.254.169.254".parse()?).expect_err("metadata service");
/// assert_eq!(refused.to_string(), "169.254.169.254 is not public (link-local)");
///
/// let guard: AddressGuard = "10.0.0.0/8, 192.168.7.1".parse()?;
/// assert!(guard.check("10.1.2.3".parse()?).is_ok());
/// assert!(guard.check("192.168.7.2".parse()?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressGuard {
    policy: Policy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Policy {
    /// Public addresses and those in these networks.
    PublicAnd(Vec<IpNet>),
    All,
}

/// An address that may not be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} is not public ({range})")]
pub struct RefusedAddress {
    address: IpAddr,
    range: &'static str,
}

impl RefusedAddress {
    /// The address; of one that carries another, the inner one.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// What the address is for: `loopback`, `private` …
    #[must_use]
    pub const fn range(&self) -> &'static str {
        self.range
    }
}

/// Text that is not a guard's configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{entry:?} is none of true, false, a network such as 10.0.0.0/8 and an address")]
pub struct InvalidGuard {
    entry: String,
}

impl Default for AddressGuard {
    fn default() -> Self {
        Self::public_only()
    }
}

impl AddressGuard {
    /// Only addresses that are reachable from the whole internet.
    #[must_use]
    pub const fn public_only() -> Self {
        Self { policy: Policy::PublicAnd(Vec::new()) }
    }

    /// Every address that can be a destination, private and loopback ones too: for a laptop.
    #[must_use]
    pub const fn allow_all() -> Self {
        Self { policy: Policy::All }
    }

    /// Public addresses, and those in `networks`.
    ///
    /// An IPv4 network also allows the IPv6 forms of its addresses; an IPv6
    /// network such as `::/0` allows no IPv4-mapped address, because on the
    /// wire that is an IPv4 one. It does allow what it names: `64:ff9b::/96`
    /// allows every IPv4 address through NAT64.
    pub fn allowing(networks: impl IntoIterator<Item = IpNet>) -> Self {
        let networks = networks.into_iter().map(ranges::unmapped).collect();
        Self { policy: Policy::PublicAnd(networks) }
    }

    /// Whether `address` may be connected to.
    ///
    /// # Errors
    /// When it may not, with the range that it is in.
    pub fn check(&self, address: IpAddr) -> Result<(), RefusedAddress> {
        let address = address.to_canonical();
        if let Some(range) = ranges::never_a_destination(address) {
            return Err(RefusedAddress { address, range });
        }
        let Policy::PublicAnd(networks) = &self.policy else {
            return match address {
                IpAddr::V4(_) => Ok(()),
                IpAddr::V6(v6) => ranges::embedded(v6).try_for_each(|v4| self.check(v4.into())),
            };
        };
        if networks.iter().any(|network| network.contains(&address)) {
            return Ok(());
        }
        match address {
            IpAddr::V4(v4) => match ranges::non_public_v4(v4) {
                Some(range) => Err(RefusedAddress { address, range }),
                None => Ok(()),
            },
            IpAddr::V6(v6) => {
                if let Some(range) = ranges::non_public_v6(v6) {
                    return Err(RefusedAddress { address, range });
                }
                ranges::embedded(v6).try_for_each(|v4| self.check(v4.into()))
            }
        }
    }
}

impl FromStr for AddressGuard {
    type Err = InvalidGuard;

    /// Reads `true` (all), `false` or nothing (public only), or networks and
    /// addresses separated by commas or blanks.
    fn from_str(text: &str) -> Result<Self, InvalidGuard> {
        match text.trim() {
            all if all.eq_ignore_ascii_case("true") => return Ok(Self::allow_all()),
            none if none.eq_ignore_ascii_case("false") => return Ok(Self::public_only()),
            _ => {}
        }
        text.split(|c: char| c == ',' || c.is_whitespace())
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                entry
                    .parse::<IpNet>()
                    .or_else(|_| entry.parse::<IpAddr>().map(IpNet::from))
                    .map_err(|_| InvalidGuard { entry: entry.to_owned() })
            })
            .collect::<Result<Vec<_>, _>>()
            .map(Self::allowing)
    }
}
