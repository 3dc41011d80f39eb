//! Random bytes, of the system's generator for keys.

use ring::rand::{SecureRandom as _, SystemRandom};

use super::ModuleError;

/// As many as one call gives.
pub(crate) const MAX_BYTES: usize = 65_536;

/// So many random bytes, at most 65 536.
pub(crate) fn bytes(count: usize) -> Result<Vec<u8>, ModuleError> {
    if count > MAX_BYTES {
        return Err(ModuleError::invalid(format!("at most {MAX_BYTES} random bytes at a time")));
    }
    let mut bytes = vec![0; count];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// A UUID of version 4.
pub(crate) fn uuid() -> Result<String, ModuleError> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
}

fn fill(bytes: &mut [u8]) -> Result<(), ModuleError> {
    let filled = SystemRandom::new().fill(bytes);
    filled.map_err(|_| ModuleError::invalid("the system gives no random bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_as_many_as_asked_for_and_others_each_time() {
        assert_eq!(bytes(0), Ok(Vec::new()));
        let (one, two) = (bytes(MAX_BYTES).expect("the most"), bytes(MAX_BYTES).expect("the most"));
        assert!(one.len() == MAX_BYTES && one != two);
        assert!(bytes(MAX_BYTES + 1).is_err());
    }

    #[test]
    fn uuids_are_of_version_4() {
        let uuid = uuid().expect("a UUID");
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
        assert_ne!(Ok(uuid), super::uuid());
    }
}
