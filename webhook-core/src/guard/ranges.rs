//! The address ranges: what is not public, and where IPv4 hides in IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

/// A network by the first four groups of its address; no range here needs more.
const fn v6(a: u16, b: u16, c: u16, d: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0), prefix)
}

const NON_PUBLIC_V4: &[(Ipv4Net, &str)] = &[
    (v4(0, 0, 0, 0, 8), "this network"),            // RFC 791 §3.2
    (v4(10, 0, 0, 0, 8), "private"),                // RFC 1918
    (v4(100, 64, 0, 0, 10), "carrier-grade NAT"),   // RFC 6598
    (v4(127, 0, 0, 0, 8), "loopback"),              // RFC 1122 §3.2.1.3
    (v4(169, 254, 0, 0, 16), "link-local"),         // RFC 3927; 169.254.169.254 is cloud metadata
    (v4(168, 63, 129, 16, 32), "cloud platform"), // Azure's own services, reached from every machine there
    (v4(172, 16, 0, 0, 12), "private"),           // RFC 1918
    (v4(192, 0, 0, 0, 24), "protocol assignments"), // RFC 6890 §2.1
    (v4(192, 0, 2, 0, 24), "documentation"),      // RFC 5737
    (v4(192, 88, 99, 0, 24), "6to4 relay"),       // RFC 7526, deprecated
    (v4(192, 168, 0, 0, 16), "private"),          // RFC 1918
    (v4(198, 18, 0, 0, 15), "benchmarking"),      // RFC 2544
    (v4(198, 51, 100, 0, 24), "documentation"),   // RFC 5737
    (v4(203, 0, 113, 0, 24), "documentation"),    // RFC 5737
    (v4(240, 0, 0, 0, 4), "reserved"),            // RFC 1112 §4
];

const NON_PUBLIC_V6: &[(Ipv6Net, &str)] = &[
    (LOOPBACK, "loopback"),                          // RFC 4291 §2.5.3
    (v6(0x64, 0xff9b, 1, 0, 48), "local-use NAT64"), // RFC 8215; where IPv4 sits is a local choice
    (v6(0x100, 0, 0, 0, 64), "discard-only"),        // RFC 6666
    (v6(0x100, 0, 0, 1, 64), "dummy prefix"),        // RFC 9780
    (v6(0x2001, 2, 0, 0, 48), "benchmarking"),       // RFC 5180
    (v6(0x2001, 0x10, 0, 0, 28), "ORCHID"),          // RFC 4843, deprecated
    (v6(0x2001, 0x20, 0, 0, 28), "ORCHIDv2"),        // RFC 7343
    (v6(0x2001, 0xdb8, 0, 0, 32), "documentation"),  // RFC 3849
    (v6(0x3fff, 0, 0, 0, 20), "documentation"),      // RFC 9637
    (v6(0x5f00, 0, 0, 0, 16), "segment routing"),    // RFC 9602
    (v6(0xfc00, 0, 0, 0, 7), "unique local"),        // RFC 4193
    (v6(0xfe80, 0, 0, 0, 10), "link-local"),         // RFC 4291 §2.5.6
    (v6(0xfec0, 0, 0, 0, 10), "site-local"),         // RFC 3879, deprecated
];

/// All that is assigned for use on the internet (RFC 4291 §2.4, IANA's registry).
const GLOBAL_UNICAST: Ipv6Net = v6(0x2000, 0, 0, 0, 3);

/// Judged by the IPv4 address inside (RFC 6052 §2.1): on a network without IPv4,
/// names that have IPv4 addresses only resolve to these.
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 0, 96);

const LOOPBACK: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128);

pub(crate) fn non_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    NON_PUBLIC_V4.iter().find(|(net, _)| net.contains(&address)).map(|(_, range)| *range)
}

pub(crate) fn non_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let known = NON_PUBLIC_V6.iter().find(|(net, _)| net.contains(&address));
    let assigned = GLOBAL_UNICAST.contains(&address) || NAT64.contains(&address);
    known.map(|(_, range)| *range).or((!assigned).then_some("not global unicast"))
}

/// What no guard allows.
pub(crate) fn never_a_destination(address: IpAddr) -> Option<&'static str> {
    match address {
        _ if address.is_unspecified() => Some("unspecified"), // RFC 1122 §3.2.1.3, RFC 4291 §2.5.2
        _ if address.is_multicast() => Some("multicast"),     // RFC 5771, RFC 4291 §2.7
        IpAddr::V4(Ipv4Addr::BROADCAST) => Some("broadcast"), // RFC 919
        _ => None,
    }
}

/// The IPv4 addresses that a translator or tunnel may take out of `address`.
/// The IPv4-mapped form (RFC 4291 §2.5.5.2) is canonicalised before.
pub(crate) fn embedded(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let octets = address.octets();
    let at = |i: usize| Ipv4Addr::new(octets[i], octets[i + 1], octets[i + 2], octets[i + 3]);
    let groups = address.segments();
    let found = match groups {
        // Loopback, not IPv4-compatible.
        [0, 0, 0, 0, 0, 0, 0, 1] => [None, None],
        // IPv4-compatible, RFC 4291 §2.5.5.1, deprecated.
        [0, 0, 0, 0, 0, 0, _, _] => [Some(at(12)), None],
        // IPv4-translated, RFC 2765 §2.1.
        [0, 0, 0, 0, 0xffff, 0, _, _] => [Some(at(12)), None],
        // NAT64, RFC 6052 §2.1.
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => [Some(at(12)), None],
        // 6to4, RFC 3056 §2.
        [0x2002, ..] => [Some(at(2)), None],
        // Teredo, RFC 4380 §4: the server, and the client with its bits inverted.
        [0x2001, 0, ..] => [Some(at(4)), Some(Ipv4Addr::from_bits(!at(12).to_bits()))],
        // ISATAP, RFC 5214 §6.1: an interface identifier under any prefix.
        [_, _, _, _, 0 | 0x200, 0x5efe, _, _] => [Some(at(12)), None],
        _ => [None, None],
    };
    found.into_iter().flatten()
}

/// An IPv4-mapped network as the IPv4 network that it is, because the guard
/// sees mapped addresses in that form.
pub(crate) fn unmapped(network: IpNet) -> IpNet {
    match network {
        IpNet::V6(net) if net.prefix_len() >= 96 => match net.addr().to_ipv4_mapped() {
            Some(v4) => Ipv4Net::new(v4, net.prefix_len() - 96).map_or(network, IpNet::V4),
            None => network,
        },
        _ => network,
    }
}
