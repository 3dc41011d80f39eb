use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn range_of(guard: &AddressGuard, address: &str) -> Option<&'static str> {
    guard.check(ip(address)).err().map(|refused| refused.range())
}

#[test]
fn every_range_is_refused_to_its_last_address() {
    let guard = AddressGuard::public_only();
    for (first, last, range) in [
        ("0.0.0.1", "0.255.255.255", "this network"),
        ("10.0.0.0", "10.255.255.255", "private"),
        ("100.64.0.0", "100.127.255.255", "carrier-grade NAT"),
        ("127.0.0.0", "127.255.255.255", "loopback"),
        ("169.254.0.0", "169.254.255.255", "link-local"),
        ("172.16.0.0", "172.31.255.255", "private"),
        ("192.0.0.0", "192.0.0.255", "protocol assignments"),
        ("192.0.2.0", "192.0.2.255", "documentation"),
        ("192.168.0.0", "192.168.255.255", "private"),
        ("198.18.0.0", "198.19.255.255", "benchmarking"),
        ("198.51.100.0", "198.51.100.255", "documentation"),
        ("203.0.113.0", "203.0.113.255", "documentation"),
        ("224.0.0.0", "239.255.255.255", "multicast"),
        ("240.0.0.0", "255.255.255.254", "reserved"),
        ("255.255.255.255", "255.255.255.255", "broadcast"),
        ("0.0.0.0", "0.0.0.0", "unspecified"),
        ("::", "::", "unspecified"),
        ("::1", "::1", "loopback"),
        ("168.63.129.16", "168.63.129.16", "cloud platform"),
        ("101::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "not global unicast"),
        ("4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "not global unicast"),
        ("5f01::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "not global unicast"),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "local-use NAT64"),
        ("100::", "100::ffff:ffff:ffff:ffff", "discard-only"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "unique local"),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"),
    ] {
        assert_eq!(range_of(&guard, first), Some(range), "{first}");
        assert_eq!(range_of(&guard, last), Some(range), "{last}");
    }
}

#[test]
fn neighbours_of_the_ranges_are_public() {
    let guard = AddressGuard::public_only();
    for address in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:4860:4860::8888",
        "2a00::1",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
        "::ffff:8.8.8.8",
    ] {
        assert_eq!(range_of(&guard, address), None, "{address}");
    }
}

#[test]
fn allow_all_still_refuses_what_is_no_destination() {
    let guard = AddressGuard::allow_all();
    for address in ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "fd00::1", "::ffff:10.0.0.1"]
    {
        assert_eq!(range_of(&guard, address), None, "{address}");
    }
    for address in
        ["0.0.0.0", "::", "255.255.255.255", "224.0.0.1", "ff02::1", "::ffff:0.0.0.0", "64:ff9b::"]
    {
        assert!(range_of(&guard, address).is_some(), "{address}");
    }
}

#[test]
fn allowed_networks_are_added_to_the_public_ones() {
    let guard: AddressGuard =
        " 10.0.0.0/8,192.168.1.7 fd00::/8\t::ffff:172.16.0.0/108 ".parse().expect("valid");
    for address in
        ["10.9.8.7", "192.168.1.7", "fd12::1", "8.8.8.8", "::ffff:10.0.0.1", "172.16.5.5"]
    {
        assert_eq!(range_of(&guard, address), None, "{address}");
    }
    for address in ["192.168.1.8", "127.0.0.1", "fc00::1", "::1", "::ffff:192.168.1.8"] {
        assert!(range_of(&guard, address).is_some(), "{address}");
    }
}

#[test]
fn an_ipv6_network_does_not_open_ipv4() {
    let guard: AddressGuard = "::/0".parse().expect("valid");
    assert_eq!(range_of(&guard, "::1"), None);
    assert_eq!(range_of(&guard, "::ffff:127.0.0.1"), Some("loopback"));
    assert_eq!(range_of(&guard, "127.0.0.1"), Some("loopback"));
}

#[test]
fn configuration_text_is_read() {
    for (text, guard) in [
        ("true", AddressGuard::allow_all()),
        (" TRUE ", AddressGuard::allow_all()),
        ("false", AddressGuard::public_only()),
        ("", AddressGuard::public_only()),
        (" , ", AddressGuard::public_only()),
        ("127.0.0.1", AddressGuard::allowing(["127.0.0.1/32".parse().expect("net")])),
    ] {
        assert_eq!(text.parse(), Ok(guard), "{text:?}");
    }
    for (text, entry) in [
        ("yes", "yes"),
        ("10.0.0.0/33", "10.0.0.0/33"),
        ("10.0.0.0/8,true", "true"),
        ("10.0.0.0/8;11.0.0.0/8", "10.0.0.0/8;11.0.0.0/8"),
    ] {
        let error = text.parse::<AddressGuard>().expect_err(text);
        assert!(error.to_string().starts_with(&format!("{entry:?}")), "{error}");
    }
}

#[test]
fn urls_are_checked_as_far_as_they_say_something() {
    let check = |guard: &AddressGuard, url: &str| {
        guard.check_url(&url.parse().expect(url)).map_err(|error| error.to_string())
    };
    let public = AddressGuard::public_only();
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://0x7f.1:8080/",
        "http://127.0.0.1./",
    ] {
        assert_eq!(
            check(&public, url),
            Err("host 127.0.0.1 is not public (loopback)".into()),
            "{url}"
        );
    }
    for (url, message) in [
        ("http://[::1]/", "host ::1 is not public (loopback)"),
        ("http://[::ffff:127.0.0.1]/", "host 127.0.0.1 is not public (loopback)"),
        ("http://[::ffff:7f00:1]/", "host 127.0.0.1 is not public (loopback)"),
        ("http://localhost:3000/", "host 127.0.0.1 is not public (loopback)"),
        ("http://a.LOCALHOST./", "host 127.0.0.1 is not public (loopback)"),
        ("http://0/", "host 0.0.0.0 is not public (unspecified)"),
        ("ftp://example.com/", "scheme \"ftp\" must be http or https"),
        ("http://example.com:0/", "port 0 cannot be connected to"),
        ("unix:/run/x.sock", "scheme \"unix\" must be http or https"),
    ] {
        assert_eq!(check(&public, url), Err(message.into()), "{url}");
    }
    for url in ["http://user@example.com/", "http://:secret@example.com/"] {
        let message = check(&public, url).expect_err(url);
        assert!(message.contains("Authorization") && !message.contains("secret"), "{message}");
    }
    for url in ["https://example.com/hook?a=b", "http://example.com:8080/", "http://8.8.8.8/"] {
        assert_eq!(check(&public, url), Ok(()), "{url}");
    }
    let allowing: AddressGuard = "127.0.0.0/8".parse().expect("valid");
    for url in ["http://127.0.0.1:3000/", "http://localhost/"] {
        assert_eq!(check(&allowing, url), Ok(()), "{url}");
    }
    assert!(check(&allowing, "http://[::1]/").is_err());
}

/// Every way to write `v4` inside an IPv6 address, around bits that do not matter.
fn embeddings(v4: Ipv4Addr, noise: u128) -> Vec<Ipv6Addr> {
    let low = u128::from(v4.to_bits());
    let noise64 = noise & u128::from(u64::MAX);
    let global = 0x2a00 << 112 | (noise & 0x0000_ffff_ffff_ffff_0000_0000_0000_0000);
    [
        0xffff << 32 | low,                                    // mapped
        0xffff << 48 | low,                                    // translated
        0x0064_ff9b << 96 | low,                               // NAT64
        0x2002 << 112 | low << 80 | (noise & ((1 << 80) - 1)), // 6to4
        0x2001 << 112 | low << 64 | noise64,                   // Teredo server
        0x2001 << 112 | 0x0808_0808 << 64 | (noise64 & !0xffff_ffff) | (low ^ 0xffff_ffff), // Teredo client
        global | 0x5efe << 32 | low,      // ISATAP
        global | 0x0200_5efe << 32 | low, // ISATAP, global identifier
    ]
    .into_iter()
    .map(Ipv6Addr::from_bits)
    .chain((low > 1).then(|| Ipv6Addr::from_bits(low))) // compatible, except :: and ::1
    .collect()
}

fn non_public() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_flat_map(|bits| {
        prop_oneof![
            Just(0x7f00_0000 | bits >> 8),
            Just(0x0a00_0000 | bits >> 8),
            Just(0xa9fe_0000 | bits >> 16),
            Just(0xac10_0000 | bits >> 12),
            Just(0xc0a8_0000 | bits >> 16),
            Just(0x6440_0000 | bits >> 10),
            Just(0xe000_0000 | bits >> 4),
            Just(bits >> 8),
        ]
        .prop_map(Ipv4Addr::from_bits)
    })
}

proptest! {
    #[test]
    fn no_embedding_hides_an_address(v4 in non_public(), noise in any::<u128>()) {
        let guard = AddressGuard::public_only();
        prop_assert!(guard.check(v4.into()).is_err());
        for v6 in embeddings(v4, noise) {
            prop_assert!(guard.check(v6.into()).is_err(), "{v6} carries {v4}");
        }
    }

    #[test]
    fn an_address_and_its_mapped_form_fare_alike(bits in any::<u32>(), prefix in 0_u8..=32, net in any::<u32>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        let network = ipnet::Ipv4Net::new(Ipv4Addr::from_bits(net), prefix).expect("prefix is valid");
        for guard in [AddressGuard::public_only(), AddressGuard::allow_all(), AddressGuard::allowing([network.into()])] {
            prop_assert_eq!(guard.check(v4.into()), guard.check(v4.to_ipv6_mapped().into()));
        }
    }

    #[test]
    fn reading_a_guard_never_panics(text in ".{0,60}") {
        let _ = text.parse::<AddressGuard>();
    }

    #[test]
    fn checking_any_address_never_panics(bits in any::<u128>()) {
        let address = IpAddr::V6(Ipv6Addr::from_bits(bits));
        for guard in [AddressGuard::public_only(), AddressGuard::allow_all()] {
            if guard.check(address).is_ok() {
                prop_assert!(!address.is_multicast() && !address.is_unspecified());
            }
        }
    }
}
