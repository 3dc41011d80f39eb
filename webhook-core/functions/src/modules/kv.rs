//! What a function keeps between its calls: values by keys, in the store.

use std::time::Duration;

use bytes::Bytes;
use webhook_core::{
    AccountId, FunctionId, Timestamp,
    function::ScriptLimits,
    store::{KvChange, KvEntry, KvKey, KvValue, KvWrite},
};

use super::ModuleError;

/// The longest key.
const KEY_BYTES: usize = 256;

/// The longest time after which a value can expire. Without a time it stays.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// Whose keys a script works on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) account_id: AccountId,
    pub(crate) function_id: FunctionId,
}

/// One operation.
#[derive(Debug)]
pub(crate) enum KvRequest {
    Get(KvKey, Timestamp),
    Write(KvWrite),
}

/// The value afterwards, or why there is none.
pub(crate) type KvAnswer = Result<Option<KvValue>, String>;

/// What an operation of a script is made of.
#[derive(Debug)]
pub(crate) struct Kv<'a> {
    pub(crate) owner: Owner,
    pub(crate) now: Timestamp,
    pub(crate) limits: &'a ScriptLimits,
}

impl Kv<'_> {
    pub(crate) fn get(&self, key: &str) -> Result<KvRequest, ModuleError> {
        Ok(KvRequest::Get(self.key(key)?, self.now))
    }

    pub(crate) fn set(
        &self,
        key: &str,
        value: Vec<u8>,
        seconds: Option<f64>,
    ) -> Result<KvRequest, ModuleError> {
        let most = self.limits.kv_value_bytes;
        if value.len() > most {
            return Err(invalid(format!("a value is of at most {most} bytes")));
        }
        let value = KvValue::of(Bytes::from(value));
        let entry = KvEntry { value, expires_at: self.expires_at(seconds)? };
        self.write(key, KvChange::Set(entry))
    }

    pub(crate) fn increment(
        &self,
        key: &str,
        by: i64,
        seconds: Option<f64>,
    ) -> Result<KvRequest, ModuleError> {
        let expires_at = self.expires_at(seconds)?;
        self.write(key, KvChange::Increment { by, expires_at })
    }

    pub(crate) fn remove(&self, key: &str) -> Result<KvRequest, ModuleError> {
        self.write(key, KvChange::Remove)
    }

    fn write(&self, key: &str, change: KvChange) -> Result<KvRequest, ModuleError> {
        let (key, max_keys) = (self.key(key)?, self.limits.kv_keys);
        Ok(KvRequest::Write(KvWrite { key, change, now: self.now, max_keys }))
    }

    fn key(&self, key: &str) -> Result<KvKey, ModuleError> {
        if key.is_empty() || key.len() > KEY_BYTES || key.contains('\0') {
            return Err(invalid(format!("a key is a text of 1 to {KEY_BYTES} bytes without NUL")));
        }
        let Owner { account_id, function_id } = self.owner;
        Ok(KvKey { account_id, function_id, key: key.to_owned() })
    }

    fn expires_at(&self, seconds: Option<f64>) -> Result<Option<Timestamp>, ModuleError> {
        let Some(seconds) = seconds else { return Ok(None) };
        let lasts = Duration::try_from_secs_f64(seconds).ok();
        let lasts = lasts.filter(|lasts| (Duration::from_millis(1)..=LONGEST).contains(lasts));
        let lasts = lasts.ok_or_else(|| {
            invalid(format!("a value is kept for 0.001 to {} seconds", LONGEST.as_secs()))
        })?;
        Ok(Some(self.now + lasts))
    }
}

fn invalid(message: impl std::fmt::Display) -> ModuleError {
    ModuleError::invalid(format!("kv: {message}"))
}

/// What is said where there is nothing to keep values in.
pub(crate) const NO_STORE: &str = "kv: functions may not keep values on this server";

#[cfg(test)]
mod tests {
    use super::*;

    fn kv(limits: &ScriptLimits) -> Kv<'_> {
        let owner = Owner {
            account_id: AccountId::from_uuid(uuid::Uuid::nil()),
            function_id: FunctionId::from_uuid(uuid::Uuid::nil()),
        };
        Kv { owner, now: Timestamp::from_millis(1_000), limits }
    }

    #[test]
    fn keys_values_and_times_are_bounded() {
        let mut limits = ScriptLimits::default();
        limits.kv_value_bytes = 10;
        let kv = kv(&limits);
        for key in ["", "a\0b", &"k".repeat(257)] {
            assert!(kv.get(key).is_err(), "{key:?}");
        }
        assert!(kv.get(&"k".repeat(256)).is_ok());
        assert!(kv.set("k", vec![b'v'; 10], None).is_ok());
        assert!(kv.set("k", vec![b'v'; 11], None).is_err());
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12, 0.000_1] {
            assert!(kv.increment("k", 1, Some(seconds)).is_err(), "{seconds}");
        }
        match kv.increment("k", 1, Some(0.5)) {
            Ok(KvRequest::Write(KvWrite { change, .. })) => assert_eq!(
                change,
                KvChange::Increment { by: 1, expires_at: Some(Timestamp::from_millis(1_500)) }
            ),
            other => panic!("{other:?}"),
        }
    }
}
