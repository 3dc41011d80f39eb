//! How often an address may try to sign in.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use webhook_core::{Error, Timestamp};

/// Tries of one address within a [`WINDOW`].
const MOST: u32 = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// How many addresses are remembered. Past it those are forgotten whose window is over,
/// and nobody new may try while there are none.
const MAX_ADDRESSES: usize = 10_000;

/// The addresses that have tried to sign in within the last minute.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    addresses: Mutex<HashMap<Option<IpAddr>, (Timestamp, u32)>>,
}

impl Tries {
    /// Counts a try, or refuses it. Clients without a known address share one count.
    pub(crate) fn count(&self, from: Option<IpAddr>, now: Timestamp) -> Result<(), Error> {
        let from = from.map(network);
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.len() >= MAX_ADDRESSES && !addresses.contains_key(&from) {
            addresses.retain(|_, (since, _)| now.since(*since) < WINDOW);
            if addresses.len() >= MAX_ADDRESSES {
                return Err(too_many(WINDOW));
            }
        }
        let (since, count) = addresses.entry(from).or_insert((now, 0));
        if now.since(*since) >= WINDOW {
            (*since, *count) = (now, 0);
        }
        if *count >= MOST {
            return Err(too_many(WINDOW.saturating_sub(now.since(*since))));
        }
        *count += 1;
        Ok(())
    }
}

fn too_many(after: Duration) -> Error {
    let seconds = after.as_secs().max(1);
    Error::busy(format!("too many tries to sign in: try again in {seconds} s"), after)
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

    #[test]
    fn ten_a_minute_and_address() {
        let tries = Tries::default();
        let one = Some(IpAddr::from([192, 0, 2, 1]));
        for _ in 0..MOST {
            tries.count(one, START).expect("it may");
        }
        assert!(tries.count(one, START).is_err());
        tries.count(Some(IpAddr::from([192, 0, 2, 2])), START).expect("another address");
        tries.count(None, START).expect("an unknown one");
        tries.count(one, START + WINDOW).expect("a minute later");
    }

    #[test]
    fn one_network_of_ipv6_is_one_client_and_memory_is_bounded() {
        let tries = Tries::default();
        let ip = |text: &str| Some(text.parse().expect("an address"));
        for last in 0..MOST {
            tries.count(ip(&format!("2001:db8::{last:x}")), START).expect("it may");
        }
        assert!(tries.count(ip("2001:db8::ffff"), START).is_err());
        for number in 0..u32::try_from(MAX_ADDRESSES).expect("few") {
            let _ = tries.count(Some(IpAddr::V4(number.into())), START);
        }
        assert!(tries.count(ip("192.0.2.1"), START).is_err(), "no room");
        tries.count(ip("192.0.2.1"), START + WINDOW).expect("room again");
    }
}
