//! Checksums and message authentication codes.

use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::{Digest as _, Md5};
use ring::{digest, hmac as ring_hmac};
use subtle::ConstantTimeEq;

use super::ModuleError;

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// By its usual names, in any case: `sha256`, `SHA-256`.
    pub(crate) fn named(name: &str) -> Result<Self, ModuleError> {
        Ok(match name.to_ascii_lowercase().replace('-', "").as_str() {
            "md5" => Self::Md5,
            "sha1" => Self::Sha1,
            "sha256" => Self::Sha256,
            "sha384" => Self::Sha384,
            "sha512" => Self::Sha512,
            _ => {
                let shown: String = name.chars().take(32).collect();
                return Err(ModuleError::invalid(format!("unknown algorithm {shown:?}")));
            }
        })
    }

    pub(crate) fn digest(self, data: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Md5 => return Md5::digest(data).to_vec(),
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, data).as_ref().to_vec()
    }

    pub(crate) fn hmac(self, data: &[u8], key: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Md5 => {
                // A key of any length is taken.
                let Ok(mut mac) = Hmac::<Md5>::new_from_slice(key) else { return Vec::new() };
                mac.update(data);
                return mac.finalize().into_bytes().to_vec();
            }
            Self::Sha1 => ring_hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => ring_hmac::HMAC_SHA256,
            Self::Sha384 => ring_hmac::HMAC_SHA384,
            Self::Sha512 => ring_hmac::HMAC_SHA512,
        };
        ring_hmac::sign(&ring_hmac::Key::new(algorithm, key), data).as_ref().to_vec()
    }
}

pub(crate) fn crc32(data: &[u8]) -> [u8; 4] {
    crc32fast::hash(data).to_be_bytes()
}

/// Whether two texts are equal, in a time that says nothing about where they differ.
pub(crate) fn equal(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        hex::encode(bytes)
    }

    #[test]
    fn known_digests() {
        assert_eq!(hex(&Hash::Md5.digest(b"abc")), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex(&Hash::Sha1.digest(b"abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(
            hex(&Hash::Sha256.digest(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        );
        assert_eq!(hex(&crc32(b"123456789")), "cbf43926");
    }

    #[test]
    fn known_macs() {
        // RFC 2202 and RFC 4231, test case 2.
        let (key, data) = (b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex(&Hash::Md5.hmac(data, key)), "750c783e6ab0b503eaa86e310a5db738");
        assert_eq!(hex(&Hash::Sha1.hmac(data, key)), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        assert_eq!(
            hex(&Hash::Sha256.hmac(data, key)),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
    }

    #[test]
    fn names_are_taken_in_their_usual_forms() {
        assert_eq!(Hash::named("SHA-256"), Ok(Hash::Sha256));
        assert!(Hash::named("sha3").is_err());
        assert!(
            equal(b"a", b"a") && !equal(b"a", b"b") && !equal(b"a", b"ab") && !equal(b"", b"a")
        );
    }
}
