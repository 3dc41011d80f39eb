//! Wrong credentials at the page for signing in. Right ones are never refused.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use webhook_core::Timestamp;

/// Wrong credentials of one address that are answered without delay within a [`WINDOW`].
const MOST: u32 = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// How long each further answer is held back.
const DELAY: Duration = Duration::from_secs(1);
/// How many addresses are remembered. Past it the addresses whose window is over are forgotten.
/// While there are none, wrong credentials of a new address count as one too many.
const MAX_ADDRESSES: usize = 10_000;

/// How long an answer waits before it is sent, in the extensions of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldBack(pub(crate) Duration);

/// The addresses that have shown wrong credentials within the last minute.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    addresses: Mutex<HashMap<Option<IpAddr>, (Timestamp, u32)>>,
}

impl Tries {
    /// Counts wrong credentials, and says whether their answer is held back. Clients without a
    /// known address share one count.
    pub(crate) fn wrong(&self, from: Option<IpAddr>, now: Timestamp) -> Option<HeldBack> {
        let from = from.map(network);
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.len() >= MAX_ADDRESSES && !addresses.contains_key(&from) {
            addresses.retain(|_, (since, _)| now.since(*since) < WINDOW);
            if addresses.len() >= MAX_ADDRESSES {
                return Some(HeldBack(DELAY));
            }
        }
        let (since, count) = addresses.entry(from).or_insert((now, 0));
        if now.since(*since) >= WINDOW {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        (*count > MOST).then_some(HeldBack(DELAY))
    }
}

/// Of IPv6 the network of 64 bits, because one client has all addresses in it.
fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_secs(1_700_000_000);
    const HELD: Option<HeldBack> = Some(HeldBack(DELAY));

    #[test]
    fn ten_a_minute_and_address_are_answered_without_delay() {
        let tries = Tries::default();
        let one = Some(IpAddr::from([192, 0, 2, 1]));
        for _ in 0..MOST {
            assert_eq!(tries.wrong(one, START), None);
        }
        assert_eq!(tries.wrong(one, START), HELD);
        assert_eq!(tries.wrong(Some(IpAddr::from([192, 0, 2, 2])), START), None, "another one");
        assert_eq!(tries.wrong(None, START), None, "an unknown one");
        assert_eq!(tries.wrong(one, START + WINDOW), None, "a minute later");
    }

    #[test]
    fn one_network_of_ipv6_is_one_client_and_memory_is_bounded() {
        let tries = Tries::default();
        let ip = |text: &str| Some(text.parse().expect("an address"));
        for last in 0..MOST {
            assert_eq!(tries.wrong(ip(&format!("2001:db8::{last:x}")), START), None);
        }
        assert_eq!(tries.wrong(ip("2001:db8::ffff"), START), HELD);
        for number in 0..u32::try_from(MAX_ADDRESSES).expect("few") {
            let _ = tries.wrong(Some(IpAddr::V4(number.into())), START);
        }
        assert_eq!(tries.wrong(ip("192.0.2.1"), START), HELD, "no room");
        assert_eq!(tries.wrong(ip("192.0.2.1"), START + WINDOW), None, "room again");
    }
}
