//! Signatures: the HMAC of a body under a shared secret.

use std::cell::OnceCell;

use ring::hmac::{self, Algorithm, Key};

use super::MAX_SIGNATURES_TRIED;

/// How a body is signed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Digest {
    algorithm: Algorithm,
    /// What may stand before the signature.
    prefix: &'static str,
}

pub(super) const SHA1: Digest =
    Digest { algorithm: hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, prefix: "sha1=" };
pub(super) const SHA256: Digest = Digest { algorithm: hmac::HMAC_SHA256, prefix: "sha256=" };
pub(super) const SHA512: Digest = Digest { algorithm: hmac::HMAC_SHA512, prefix: "sha512=" };

/// A shared secret and the way it signs.
pub(super) struct Signature {
    key: Key,
    prefix: &'static str,
}

impl Signature {
    pub(super) fn new(digest: Digest, secret: &str) -> Self {
        let Digest { algorithm, prefix } = digest;
        Self { key: Key::new(algorithm, secret.as_bytes()), prefix }
    }

    /// What a signature of `body` is held against. `raw` takes the digest's own bytes as well.
    pub(super) fn of<'a>(&'a self, body: &'a [u8], raw: bool) -> Check<'a> {
        Check { signature: self, body, raw, expected: OnceCell::new(), tries: MAX_SIGNATURES_TRIED }
    }
}

/// Signatures of one body under one secret.
pub(super) struct Check<'a> {
    signature: &'a Signature,
    body: &'a [u8],
    raw: bool,
    /// The HMAC of the right signature. Holding a candidate against this one in
    /// place of the body takes the same constant time for each, however long
    /// the body, so that a sender gains nothing by sending many.
    expected: OnceCell<hmac::Tag>,
    tries: usize,
}

impl Check<'_> {
    /// Whether `value` is the signature, or one of several between commas is.
    pub(super) fn is_satisfied_by(&mut self, value: &[u8]) -> bool {
        let length = self.signature.key.algorithm().digest_algorithm().output_len();
        if self.raw && value.len() == length {
            return self.verify(value);
        }
        value.split(|byte| *byte == b',').any(|text| {
            let text = text.trim_ascii();
            let hex = text.strip_prefix(self.signature.prefix.as_bytes()).unwrap_or(text);
            decode_hex(hex, length).is_some_and(|candidate| self.verify(&candidate))
        })
    }

    fn verify(&mut self, candidate: &[u8]) -> bool {
        let Some(left) = self.tries.checked_sub(1) else { return false };
        self.tries = left;
        let key = &self.signature.key;
        let expected =
            self.expected.get_or_init(|| hmac::sign(key, hmac::sign(key, self.body).as_ref()));
        hmac::verify(key, candidate, expected.as_ref()).is_ok()
    }
}

/// The `length` bytes that `hex` stands for; none when it is anything else.
fn decode_hex(hex: &[u8], length: usize) -> Option<Vec<u8>> {
    if hex.len() != length * 2 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    hex.chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}
