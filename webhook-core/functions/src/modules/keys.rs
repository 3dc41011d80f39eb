//! Keys in PEM: what signatures need of them.

use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RsaKeyPair},
};
use rustls_pki_types::pem::{self, SectionKind};

use super::ModuleError;

/// The first section of a PEM text.
fn section(pem: &[u8]) -> Result<(SectionKind, Vec<u8>), ModuleError> {
    let mut text = pem;
    match pem::from_buf(&mut text) {
        Ok(Some(section)) => Ok(section),
        Ok(None) => Err(ModuleError::invalid("key: expected PEM")),
        Err(_) => Err(ModuleError::invalid("key: malformed PEM")),
    }
}

pub(super) fn rsa_private(pem: &[u8]) -> Result<RsaKeyPair, ModuleError> {
    let pair = match section(pem)? {
        (SectionKind::PrivateKey, der) => RsaKeyPair::from_pkcs8(&der),
        (SectionKind::RsaPrivateKey, der) => RsaKeyPair::from_der(&der),
        _ => return Err(ModuleError::invalid("key: expected an RSA private key")),
    };
    pair.map_err(|error| ModuleError::invalid(format!("key: not an RSA private key ({error})")))
}

pub(super) fn ec_private(pem: &[u8], rng: &SystemRandom) -> Result<EcdsaKeyPair, ModuleError> {
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let wrong = || ModuleError::invalid("key: not a P-256 private key with its public key");
    match section(pem)? {
        (SectionKind::PrivateKey, der) => EcdsaKeyPair::from_pkcs8(algorithm, &der, rng),
        (SectionKind::EcPrivateKey, der) => {
            let (private, public) = sec1(&der).ok_or_else(wrong)?;
            EcdsaKeyPair::from_private_key_and_public_key(algorithm, private, public, rng)
        }
        _ => return Err(ModuleError::invalid("key: expected a P-256 private key")),
    }
    .map_err(|_| wrong())
}

/// The key inside a `PUBLIC KEY`: for RSA the modulus and exponent, for P-256 the point.
pub(super) fn public(pem: &[u8]) -> Result<Vec<u8>, ModuleError> {
    match section(pem)? {
        (SectionKind::PublicKey, der) => {
            let key = subject_public_key(&der).map(<[u8]>::to_vec);
            key.ok_or_else(|| ModuleError::invalid("key: malformed public key"))
        }
        _ => Err(ModuleError::invalid("key: expected a public key")),
    }
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;

/// One DER value of the kind `tag`, and what follows it.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81 | 0x82 => {
            let bytes = usize::from(first & 0x7f);
            let length =
                rest.get(..bytes)?.iter().fold(0, |all, byte| all << 8 | usize::from(*byte));
            (length, rest.get(bytes..)?)
        }
        _ => return None,
    };
    (found == tag).then_some(())?;
    Some((rest.get(..length)?, rest.get(length..)?))
}

fn bits(content: &[u8]) -> Option<&[u8]> {
    // No unused bits in the last byte.
    content.strip_prefix(&[0])
}

/// RFC 5280, 4.1.2.7
fn subject_public_key(der: &[u8]) -> Option<&[u8]> {
    let (info, _) = value(der, SEQUENCE)?;
    let (_, key) = value(info, SEQUENCE)?;
    bits(value(key, BIT_STRING)?.0)
}

/// RFC 5915, 3
fn sec1(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, _) = value(der, SEQUENCE)?;
    let (_, rest) = value(key, INTEGER)?;
    let (private, rest) = value(rest, OCTET_STRING)?;
    let rest = value(rest, 0xa0).map_or(rest, |(_, rest)| rest);
    let (public, _) = value(rest, 0xa1)?;
    Some((private, bits(value(public, BIT_STRING)?.0)?))
}
