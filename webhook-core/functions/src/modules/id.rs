//! Identifiers of new things.

use webhook_core::Timestamp;

use super::{ModuleError, random};

/// Characters of a nano ID at most.
pub(crate) const MAX_LENGTH: usize = 256;
/// Characters of a nano ID, unless the script says how many.
pub(crate) const NANO_LENGTH: usize = 21;

/// A UUID of version 7: its first 48 bits are the time in milliseconds.
pub(crate) fn uuid_v7(now: Timestamp) -> Result<String, ModuleError> {
    let random = random::bytes(10)?;
    let mut bytes = [0; 10];
    bytes.copy_from_slice(&random);
    let millis = u64::try_from(now.as_millis()).unwrap_or(0);
    Ok(uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().to_string())
}

/// A ULID: 48 bits of time in milliseconds and 80 random ones, in 26 characters.
pub(crate) fn ulid(now: Timestamp) -> Result<String, ModuleError> {
    const CHARACTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let millis = u128::try_from(now.as_millis()).unwrap_or(0) & 0xffff_ffff_ffff;
    let random = random::bytes(10)?.into_iter();
    let bits = random.fold(millis, |bits, byte| bits << 8 | u128::from(byte));
    let character = |place: u32| char::from(CHARACTERS[(bits >> (5 * place)) as usize & 31]);
    Ok((0..26).rev().map(character).collect())
}

/// A text of `length` random characters. Each of them may stand in an address.
pub(crate) fn nano_id(length: usize) -> Result<String, ModuleError> {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if !(1..=MAX_LENGTH).contains(&length) {
        return Err(ModuleError::invalid(format!("id: the length must be 1 to {MAX_LENGTH}")));
    }
    let random = random::bytes(length)?.into_iter();
    Ok(random.map(|byte| char::from(CHARACTERS[usize::from(byte & 63)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_begin_with_their_time() {
        let now = Timestamp::from_millis(1_469_918_176_385);
        // The example of the specification of ULIDs.
        let ulid = super::ulid(now).expect("a ULID");
        assert_eq!((ulid.len(), &ulid[..10]), (26, "01ARYZ6S41"));
        let uuid = uuid_v7(now).expect("a UUID");
        assert_eq!((uuid.len(), &uuid[..15]), (36, "01563df3-6481-7"));
        assert!(super::ulid(now) != Ok(ulid) && uuid_v7(now) != Ok(uuid));
    }

    #[test]
    fn nano_ids_are_as_long_as_asked_for() {
        for length in [1, NANO_LENGTH, MAX_LENGTH] {
            let id = nano_id(length).expect("an ID");
            assert_eq!(id.len(), length);
            assert!(
                id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_'),
                "{id}"
            );
        }
        for length in [0, MAX_LENGTH + 1] {
            let error = nano_id(length).expect_err("too short or too long").to_string();
            assert_eq!(error, "id: the length must be 1 to 256");
        }
    }
}
