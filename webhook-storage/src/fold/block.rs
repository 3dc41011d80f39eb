//! Changes of tallies as one block of bytes.
//!
//! Each change begins with a byte that says its span and what it repeats of the change
//! before it. The first one of a block repeats nothing, so that blocks that are put one
//! behind the other read as one.

use sea_orm::prelude::Uuid;
use webhook_core::store::tally::MINUTE_MILLIS;

use crate::{
    codec::Malformed,
    tally::{Change, Key, Span},
};

const MONTH: u8 = 1;
const SAME_ACCOUNT: u8 = 1 << 1;
const SAME_BUCKET: u8 = 1 << 2;
const SAME_MOMENT: u8 = 1 << 3;
const SAME_OUTPUT: u8 = 1 << 4;
const ALL: u8 = MONTH | SAME_ACCOUNT | SAME_BUCKET | SAME_MOMENT | SAME_OUTPUT;

/// Changes of minutes and months, shortest when they are in order.
pub(super) fn encode(changes: impl Iterator<Item = Change>) -> Vec<u8> {
    let mut block = Vec::new();
    let mut before: Option<Key> = None;
    for Change { key, logs, micros } in changes {
        let repeats = |bit, same: fn(&Key, &Key) -> bool| match before {
            Some(before) if same(&before, &key) => bit,
            _ => 0,
        };
        let head = if key.span == Span::Month { MONTH } else { 0 }
            | repeats(SAME_ACCOUNT, |a, b| a.account_id == b.account_id)
            | repeats(SAME_BUCKET, |a, b| a.bucket_id == b.bucket_id)
            | repeats(SAME_MOMENT, |a, b| a.moment == b.moment)
            | repeats(SAME_OUTPUT, |a, b| a.output_id == b.output_id);
        block.push(head);
        for (same, id) in [
            (SAME_ACCOUNT, key.account_id),
            (SAME_BUCKET, key.bucket_id),
            (SAME_OUTPUT, key.output_id),
        ] {
            if head & same == 0 {
                block.extend_from_slice(id.as_bytes());
            }
        }
        if head & SAME_MOMENT == 0 {
            push(&mut block, key.moment.div_euclid(MINUTE_MILLIS));
        }
        for number in [key.status, key.status_code, key.retries, logs, micros] {
            push(&mut block, number);
        }
        before = Some(key);
    }
    block
}

/// The changes of any number of blocks that [`encode`] made.
pub(super) fn decode(mut blocks: &[u8]) -> Result<Vec<Change>, Malformed> {
    let mut changes: Vec<Change> = Vec::new();
    while let Some((head, rest)) = blocks.split_first() {
        blocks = rest;
        let repeated = head & (SAME_ACCOUNT | SAME_BUCKET | SAME_MOMENT | SAME_OUTPUT);
        let before = match changes.last() {
            Some(change) => Some(change.key),
            None if repeated == 0 => None,
            None => return Err(Malformed("the first change repeats another")),
        };
        if head & !ALL != 0 {
            return Err(Malformed("a change of an unknown kind"));
        }
        let mut id = |same, repeated: fn(&Key) -> Uuid| match before {
            Some(before) if head & same != 0 => Ok(repeated(&before)),
            _ => take_id(&mut blocks),
        };
        let account_id = id(SAME_ACCOUNT, |key| key.account_id)?;
        let bucket_id = id(SAME_BUCKET, |key| key.bucket_id)?;
        let output_id = id(SAME_OUTPUT, |key| key.output_id)?;
        let moment = match before {
            Some(before) if head & SAME_MOMENT != 0 => before.moment,
            _ => take(&mut blocks)?.saturating_mul(MINUTE_MILLIS),
        };
        let span = if head & MONTH != 0 { Span::Month } else { Span::Minute };
        let [status, status_code, retries, logs, micros] = {
            let mut next = || take(&mut blocks);
            [next()?, next()?, next()?, next()?, next()?]
        };
        let key =
            Key { span, account_id, bucket_id, moment, output_id, status, status_code, retries };
        changes.push(Change { key, logs, micros });
    }
    Ok(changes)
}

fn take_id(blocks: &mut &[u8]) -> Result<Uuid, Malformed> {
    let (id, rest) = blocks.split_first_chunk().ok_or(CUT)?;
    *blocks = rest;
    Ok(Uuid::from_bytes(*id))
}

const CUT: Malformed = Malformed("the changes are cut short");

/// Seven bits in each byte, the lowest first, of a number whose sign is its lowest bit:
/// numbers near zero are short.
fn push(block: &mut Vec<u8>, number: i64) {
    let mut left = (number << 1 ^ number >> 63).cast_unsigned();
    loop {
        let low = (left & 0x7f) as u8;
        left >>= 7;
        if left == 0 {
            return block.push(low);
        }
        block.push(low | 0x80);
    }
}

fn take(blocks: &mut &[u8]) -> Result<i64, Malformed> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = blocks.split_first().ok_or(CUT)?;
        *blocks = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed());
        }
    }
    Err(Malformed("a number that is too long"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn change() -> impl Strategy<Value = Change> {
        let id = || (0_u128..3).prop_map(Uuid::from_u128);
        let number = || prop_oneof![-3_i64..1_000, any::<i64>()];
        let minute = prop_oneof![0_i64..3, -(1_i64 << 40)..1 << 40];
        let key = (any::<bool>(), id(), id(), id(), minute, number(), number(), number());
        (key, number(), number()).prop_map(|(key, logs, micros)| {
            let (is_month, account_id, bucket_id, output_id, minute, ..) = key;
            let (.., status, status_code, retries) = key;
            let span = if is_month { Span::Month } else { Span::Minute };
            let moment = minute * MINUTE_MILLIS;
            let key = Key {
                span,
                account_id,
                bucket_id,
                moment,
                output_id,
                status,
                status_code,
                retries,
            };
            Change { key, logs, micros }
        })
    }

    proptest! {
        #[test]
        fn blocks_read_back_as_they_were_also_one_behind_the_other(
            blocks in prop::collection::vec(prop::collection::vec(change(), 0..20), 0..4)
        ) {
            let bytes: Vec<_> =
                blocks.iter().flat_map(|changes| encode(changes.iter().copied())).collect();
            prop_assert_eq!(decode(&bytes).expect("they are whole"), blocks.concat());
        }

        #[test]
        fn no_bytes_are_more_than_malformed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }

        #[test]
        fn what_is_cut_short_is_never_read_as_all(
            changes in prop::collection::vec(change(), 1..4), cut in 1_usize..20
        ) {
            let bytes = encode(changes.iter().copied());
            let left = &bytes[..bytes.len().saturating_sub(cut)];
            prop_assert!(decode(left).map_or(true, |read| read.len() < changes.len()));
        }
    }

    #[test]
    fn a_commit_of_one_bucket_is_a_few_dozen_bytes() {
        let key = Key {
            span: Span::Minute,
            account_id: Uuid::max(),
            bucket_id: Uuid::max(),
            moment: 1_760_000_040_000,
            output_id: Uuid::max(),
            status: 1,
            status_code: 200,
            retries: 0,
        };
        let open = Key { status: 4, status_code: 0, ..key };
        let month = Key { span: Span::Month, bucket_id: Uuid::nil(), ..open };
        let changes = [(key, 32, 32_000), (open, 3, 0), (month, 35, 0)];
        let changes = changes.map(|(key, logs, micros)| Change { key, logs, micros });
        assert_eq!(encode(changes.into_iter()).len(), 89);
    }
}
