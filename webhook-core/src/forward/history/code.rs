//! The bytes of a history: a version, then each attempt as what differs from the one before.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use super::{FailureKind, NextBecause, PastAttempt, Trigger, parts, timings};

const VERSION: u8 = 1;

/// What of an attempt is there, a bit each; the first four are the parts of its time.
const PARTS: [u8; 4] = [1, 2, 4, 8];
const ANSWERED: u8 = 16;
const REUSED: u8 = 32;
const FAILED: u8 = 64;
const NEXT: u8 = 128;

/// Where the address is.
const NO_ADDRESS: u8 = 0;
const SAME_ADDRESS: u8 = 1;
const V4: u8 = 2;
const V6: u8 = 3;

/// What the first attempt differs from.
#[derive(Default)]
struct Before {
    number: u32,
    at_ms: i64,
    address: Option<SocketAddr>,
}

pub(super) fn encode(attempts: &[PastAttempt]) -> Vec<u8> {
    // One attempt is thirty bytes, at most eighty.
    let mut bytes = Vec::with_capacity(16 + 32 * attempts.len());
    bytes.push(VERSION);
    let mut before = Before::default();
    for attempt in attempts {
        put(&mut bytes, attempt, &before);
        before = Before {
            number: attempt.number,
            at_ms: attempt.at_ms,
            address: attempt.timings.address.or(before.address),
        };
    }
    bytes
}

fn put(bytes: &mut Vec<u8>, attempt: &PastAttempt, before: &Before) {
    let PastAttempt { number, trigger, at_ms, queued, status_code, failure, timings, next } =
        *attempt;
    let times = parts(&timings);
    let mut flags = 0;
    for (part, bit) in times.iter().zip(PARTS) {
        flags |= if part.is_some() { bit } else { 0 };
    }
    flags |= if status_code > 0 { ANSWERED } else { 0 };
    flags |= if timings.reused { REUSED } else { 0 };
    flags |= if failure.is_some() { FAILED } else { 0 };
    flags |= if next.is_some() { NEXT } else { 0 };
    let place = match timings.address {
        None => NO_ADDRESS,
        address if address == before.address => SAME_ADDRESS,
        Some(SocketAddr::V4(_)) => V4,
        Some(SocketAddr::V6(_)) => V6,
    };
    let because = next.map_or(0, |(_, because)| because.number());
    bytes.extend([flags, place | trigger.number() << 2 | because << 5]);
    number_to(bytes, u64::from(number.wrapping_sub(before.number)));
    signed_to(bytes, at_ms.wrapping_sub(before.at_ms));
    number_to(bytes, limited(queued.as_millis()));
    times.into_iter().flatten().for_each(|part| number_to(bytes, limited(part.as_micros())));
    number_to(bytes, limited(timings.total.as_micros()));
    if status_code > 0 {
        number_to(bytes, status_code.into());
    }
    bytes.extend(failure.map(FailureKind::number));
    if let Some(address) = timings.address.filter(|_| place != SAME_ADDRESS) {
        match address.ip() {
            IpAddr::V4(v4) => bytes.extend(v4.octets()),
            IpAddr::V6(v6) => bytes.extend(v6.octets()),
        }
        bytes.extend(address.port().to_be_bytes());
    }
    if let Some((next_ms, _)) = next {
        signed_to(bytes, next_ms.wrapping_sub(at_ms));
    }
}

/// As far as they can be read.
pub(super) fn decode(bytes: &[u8]) -> Vec<PastAttempt> {
    let mut attempts = Vec::new();
    let Some((&VERSION, mut rest)) = bytes.split_first() else { return attempts };
    let mut before = Before::default();
    while !rest.is_empty()
        && let Some(attempt) = take(&mut rest, &mut before)
    {
        attempts.push(attempt);
    }
    attempts
}

fn take(rest: &mut &[u8], before: &mut Before) -> Option<PastAttempt> {
    let [flags, kinds] = array(rest)?;
    let has = |bit: u8| flags & bit != 0;
    let trigger = Trigger::of_number(kinds >> 2 & 7)?;
    let because = NextBecause::of_number(kinds >> 5)?;
    let number = before.number.wrapping_add(number_from(rest)?.try_into().ok()?);
    let at_ms = before.at_ms.wrapping_add(signed_from(rest)?);
    let queued = Duration::from_millis(number_from(rest)?);
    let mut times = [None; 4];
    for (time, bit) in times.iter_mut().zip(PARTS) {
        if has(bit) {
            *time = Some(Duration::from_micros(number_from(rest)?));
        }
    }
    let total = Duration::from_micros(number_from(rest)?);
    let status_code = if has(ANSWERED) { number_from(rest)?.try_into().ok()? } else { 0 };
    let failure = match has(FAILED) {
        true => Some(FailureKind::of_number(array::<1>(rest)?[0])?),
        false => None,
    };
    let address = match kinds & 3 {
        NO_ADDRESS => None,
        SAME_ADDRESS => Some(before.address?),
        V4 => Some(IpAddr::from(array::<4>(rest)?)).zip(array(rest)).map(socket),
        _ => Some(IpAddr::from(array::<16>(rest)?)).zip(array(rest)).map(socket),
    };
    let next = match has(NEXT) {
        true => Some((at_ms.wrapping_add(signed_from(rest)?), because)),
        false => None,
    };
    let timings = timings(times, total, address, has(REUSED));
    *before = Before { number, at_ms, address: address.or(before.address) };
    Some(PastAttempt { number, trigger, at_ms, queued, status_code, failure, timings, next })
}

fn socket((ip, port): (IpAddr, [u8; 2])) -> SocketAddr {
    SocketAddr::new(ip, u16::from_be_bytes(port))
}

fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (array, later) = rest.split_first_chunk()?;
    *rest = later;
    Some(*array)
}

/// At most what four bytes say, so that an attempt stays small.
fn limited(number: u128) -> u64 {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}

/// Seven bits a byte, the lowest first, the eighth says that more follow.
fn number_to(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn number_from(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let [byte] = array(rest)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Small whatever the sign.
fn signed_to(bytes: &mut Vec<u8>, number: i64) {
    number_to(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

fn signed_from(rest: &mut &[u8]) -> Option<i64> {
    let number = number_from(rest)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}
