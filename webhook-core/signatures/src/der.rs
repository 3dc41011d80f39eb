//! The public key in a certificate (RFC 5280) or a `SubjectPublicKeyInfo`.

use crate::key::PublicKey;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const VERSION: u8 = 0xA0;

const RSA: &[u8] = &[0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1];
const ED25519: &[u8] = &[0x06, 3, 0x2B, 0x65, 0x70];
const EC_P256: &[u8] =
    &[0x06, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1, 0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7];
const EC_P384: &[u8] =
    &[0x06, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1, 0x06, 5, 0x2B, 0x81, 0x04, 0, 0x22];

/// The key in `der`: a certificate, a `SubjectPublicKeyInfo`, or an `RSAPublicKey` (PKCS #1).
pub(crate) fn public_key(der: &[u8]) -> Option<PublicKey> {
    let (outer, []) = value(der, SEQUENCE)? else { return None };
    from_info(outer).or_else(|| from_certificate(outer)).or_else(|| from_rsa(outer))
}

/// The content of the value of this tag that `input` begins with, and what is after it.
fn value(input: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = input.split_first()?;
    if found != tag {
        return None;
    }
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7F => (usize::from(first), rest),
        0x81 | 0x82 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            (bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        // Keys and certificates are shorter than 64 KiB.
        _ => return None,
    };
    rest.split_at_checked(length)
}

fn from_certificate(certificate: &[u8]) -> Option<PublicKey> {
    let (mut rest, _) = value(certificate, SEQUENCE)?;
    if let Some((_, after)) = value(rest, VERSION) {
        rest = after;
    }
    // Serial number, algorithm, issuer, validity, subject.
    for tag in [INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE] {
        (_, rest) = value(rest, tag)?;
    }
    from_info(value(rest, SEQUENCE)?.0)
}

fn from_info(info: &[u8]) -> Option<PublicKey> {
    let (algorithm, rest) = value(info, SEQUENCE)?;
    let (bits, []) = value(rest, BIT_STRING)? else { return None };
    // The first byte counts the bits of the last one that are not used.
    let key = bits.strip_prefix(&[0])?;
    match algorithm {
        ED25519 => PublicKey::ed25519(key),
        EC_P256 => PublicKey::p256(key),
        EC_P384 => PublicKey::p384(key),
        _ if algorithm.starts_with(RSA) => from_rsa(value(key, SEQUENCE)?.0),
        _ => None,
    }
}

fn from_rsa(key: &[u8]) -> Option<PublicKey> {
    let (modulus, rest) = value(key, INTEGER)?;
    let (exponent, []) = value(rest, INTEGER)? else { return None };
    PublicKey::rsa(modulus, exponent)
}
