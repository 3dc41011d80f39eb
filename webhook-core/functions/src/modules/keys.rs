//! Keys in PEM: what signatures need of them.

use ring::{
    rand::SystemRandom,
    signature::{EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, RsaKeyPair},
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

/// A private key, or a secret.
#[derive(Clone, Copy)]
pub(crate) enum Private<'k> {
    Secret(&'k [u8]),
    Pem(&'k [u8]),
    #[cfg(any(feature = "js", test))]
    Pkcs8(&'k [u8]),
}

impl<'k> Private<'k> {
    pub(super) const fn bytes(self) -> &'k [u8] {
        match self {
            Self::Secret(bytes) | Self::Pem(bytes) => bytes,
            #[cfg(any(feature = "js", test))]
            Self::Pkcs8(bytes) => bytes,
        }
    }

    fn section(self) -> Result<(SectionKind, Vec<u8>), ModuleError> {
        match self {
            Self::Secret(pem) | Self::Pem(pem) => section(pem),
            #[cfg(any(feature = "js", test))]
            Self::Pkcs8(der) => Ok((SectionKind::PrivateKey, der.to_vec())),
        }
    }
}

pub(super) fn rsa_private(key: Private<'_>) -> Result<RsaKeyPair, ModuleError> {
    let pair = match key.section()? {
        (SectionKind::PrivateKey, der) => RsaKeyPair::from_pkcs8(&der),
        (SectionKind::RsaPrivateKey, der) => RsaKeyPair::from_der(&der),
        _ => return Err(ModuleError::invalid("key: expected an RSA private key")),
    };
    pair.map_err(|error| ModuleError::invalid(format!("key: not an RSA private key ({error})")))
}

pub(super) fn ec_private(
    key: Private<'_>,
    algorithm: &'static EcdsaSigningAlgorithm,
    rng: &SystemRandom,
) -> Result<EcdsaKeyPair, ModuleError> {
    let wrong = || ModuleError::invalid("key: not a private key of the curve with its public key");
    match key.section()? {
        (SectionKind::PrivateKey, der) => EcdsaKeyPair::from_pkcs8(algorithm, &der, rng),
        (SectionKind::EcPrivateKey, der) => {
            let (private, public) = sec1(&der).ok_or_else(wrong)?;
            EcdsaKeyPair::from_private_key_and_public_key(algorithm, private, public, rng)
        }
        _ => return Err(ModuleError::invalid("key: expected an EC private key")),
    }
    .map_err(|_| wrong())
}

pub(super) fn ed25519_private(key: Private<'_>) -> Result<Ed25519KeyPair, ModuleError> {
    match key.section()? {
        (SectionKind::PrivateKey, der) => Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der)
            .map_err(|_| ModuleError::invalid("key: not an Ed25519 private key")),
        _ => Err(ModuleError::invalid("key: expected an Ed25519 private key")),
    }
}

/// The key inside of the DER of a public key.
#[cfg(feature = "js")]
pub(crate) fn public_of_der(der: &[u8]) -> Result<Vec<u8>, ModuleError> {
    let key = subject_public_key(der).map(<[u8]>::to_vec);
    key.ok_or_else(|| ModuleError::invalid("key: malformed public key"))
}

/// The key inside a `PUBLIC KEY`: for RSA the modulus and exponent, for EC the point.
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
