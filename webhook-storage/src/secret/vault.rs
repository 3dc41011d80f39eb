//! Seals the secret columns of rows and opens them again.

use std::{fmt, io};

use ring::{
    aead::{self, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hmac,
    rand::{SecureRandom, SystemRandom},
};
use uuid::Uuid;
use webhook_core::{Error, model::Secret};

use super::SecretKey;

/// The first byte of what is stored, so that another cipher can follow.
const VERSION: u8 = 1;

/// AES-256-GCM with a random nonce per value, and the place of the value as
/// associated data: a value that was copied to another row does not open there.
#[derive(Clone)]
pub(crate) struct Vault {
    cipher: LessSafeKey,
    lookup: hmac::Key,
    random: SystemRandom,
}

/// Where a sealed value is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'a> {
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
    pub(crate) row: Uuid,
    /// The rest of the row's key, where an ID is not all of it.
    pub(crate) key: &'a str,
}

impl Cell<'_> {
    pub(crate) const fn new(table: &'static str, column: &'static str, row: Uuid) -> Self {
        Self { table, column, row, key: "" }
    }

    fn associated_data(&self) -> Aad<Vec<u8>> {
        let Self { table, column, row, key } = self;
        Aad::from(
            [table.as_bytes(), b"\0", column.as_bytes(), b"\0", row.as_bytes(), key.as_bytes()]
                .concat(),
        )
    }

    fn error(&self, reason: &str) -> Error {
        let Self { table, column, row, key } = self;
        let separator = if key.is_empty() { "" } else { " " };
        Error::internal(io::Error::other(format!(
            "{table}.{column} of row {row}{separator}{key}: {reason}"
        )))
    }
}

impl Vault {
    pub(crate) fn new(key: &SecretKey) -> Result<Self, Error> {
        let cipher = UnboundKey::new(&aead::AES_256_GCM, &key.derive(b"seal columns")?)
            .map_err(|_| Error::internal(io::Error::other("the cipher refused its key")))?;
        Ok(Self {
            cipher: LessSafeKey::new(cipher),
            lookup: hmac::Key::new(hmac::HMAC_SHA256, &key.derive(b"look up api keys")?),
            random: SystemRandom::new(),
        })
    }

    /// What is stored for `plain` in `cell`: version, nonce, ciphertext, tag.
    pub(crate) fn seal(&self, cell: Cell<'_>, plain: &[u8]) -> Result<Vec<u8>, Error> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).map_err(|_| cell.error("no randomness for sealing"))?;
        let mut text = plain.to_vec();
        self.cipher
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                cell.associated_data(),
                &mut text,
            )
            .map_err(|_| cell.error("cannot be sealed"))?;
        Ok([&[VERSION], nonce.as_slice(), &text].concat())
    }

    /// What [`seal`](Self::seal) was given for the same cell.
    pub(crate) fn open(&self, cell: Cell<'_>, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let rest = sealed.strip_prefix(&[VERSION]).ok_or_else(|| cell.error("unknown version"))?;
        let (nonce, text) =
            rest.split_first_chunk().ok_or_else(|| cell.error("the value is cut short"))?;
        let mut text = text.to_vec();
        let plain = self
            .cipher
            .open_in_place(Nonce::assume_unique_for_key(*nonce), cell.associated_data(), &mut text)
            .map_err(|_| cell.error("cannot be opened with this secret key"))?
            .len();
        text.truncate(plain);
        Ok(text)
    }

    /// As [`seal`](Self::seal); no secret is stored as nothing.
    pub(crate) fn seal_secret(
        &self,
        cell: Cell<'_>,
        secret: &Secret,
    ) -> Result<Option<Vec<u8>>, Error> {
        if secret.is_empty() {
            return Ok(None);
        }
        self.seal(cell, secret.expose().as_bytes()).map(Some)
    }

    /// As [`open`](Self::open), for what [`seal_secret`](Self::seal_secret) gave.
    pub(crate) fn open_secret(
        &self,
        cell: Cell<'_>,
        sealed: Option<&[u8]>,
    ) -> Result<Secret, Error> {
        let Some(sealed) = sealed else { return Ok(Secret::default()) };
        String::from_utf8(self.open(cell, sealed)?)
            .map(Secret::new)
            .map_err(|_| cell.error("is not text"))
    }

    /// Finds a key by its text without storing the text: HMAC-SHA-256 under a
    /// key of its own, so that the column cannot be searched without it.
    pub(crate) fn lookup_hash(&self, text: &str) -> Vec<u8> {
        hmac::sign(&self.lookup, text.as_bytes()).as_ref().to_vec()
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault() -> Vault {
        Vault::new(&SecretKey::generate().expect("randomness")).expect("a valid key")
    }

    #[test]
    fn a_value_opens_only_where_and_as_it_was_sealed() -> Result<(), Error> {
        let vault = vault();
        let row = Uuid::from_u128(1);
        let cell = Cell::new("bucket", "auth_token", row);
        let sealed = vault.seal(cell, b"t0ken")?;
        assert_eq!(vault.open(cell, &sealed)?, b"t0ken");

        for other in [
            Cell::new("bucket", "auth_password", row),
            Cell::new("input", "auth_token", row),
            Cell::new("bucket", "auth_token", Uuid::from_u128(2)),
            Cell { key: "k", ..cell },
        ] {
            assert!(vault.open(other, &sealed).is_err(), "{other:?}");
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(vault.open(cell, &changed).is_err(), "byte {at} was changed");
            assert!(vault.open(cell, &sealed[..at]).is_err(), "cut at {at}");
        }
        assert!(self::vault().open(cell, &sealed).is_err(), "another key");
        Ok(())
    }

    #[test]
    fn equal_secrets_are_not_seen_to_be_equal() -> Result<(), Error> {
        let vault = vault();
        let cell = Cell::new("bucket", "auth_token", Uuid::from_u128(2));
        assert_ne!(vault.seal(cell, b"same")?, vault.seal(cell, b"same")?);
        assert_eq!(vault.lookup_hash("same"), vault.lookup_hash("same"));
        assert_ne!(vault.lookup_hash("same"), self::vault().lookup_hash("same"));
        Ok(())
    }
}
