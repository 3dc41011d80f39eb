//! Secrets as keys, and keys in documents.

use std::fmt;

use ring::{hmac, signature};
use serde::Deserialize;

use crate::{
    Algorithm, Encoding, KeyEncoding, Secret,
    bytes::{decode_hex, decode_secret_base64},
    der,
};

/// At most this many keys of a set are read.
const MAX_KEYS: usize = 16;

/// A secret, ready to verify with.
pub(crate) enum Key {
    /// Compared with what is sent, or part of what is hashed.
    Text(Secret),
    /// For an HMAC of one algorithm.
    Hmac(hmac::Key),
    /// For an HMAC whose algorithm the token says.
    Bytes(Vec<u8>),
    /// Public keys.
    Public(Vec<NamedKey>),
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A public key, and what its set calls it.
#[derive(Debug)]
pub(crate) struct NamedKey {
    pub(crate) kid: Option<String>,
    pub(crate) key: PublicKey,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    Ed25519(Vec<u8>),
    /// An uncompressed point.
    P256(Vec<u8>),
    /// An uncompressed point.
    P384(Vec<u8>),
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
}

impl PublicKey {
    pub(crate) fn ed25519(key: &[u8]) -> Option<Self> {
        (key.len() == 32).then(|| Self::Ed25519(key.to_vec()))
    }

    pub(crate) fn p256(point: &[u8]) -> Option<Self> {
        (point.len() == 65 && point[0] == 4).then(|| Self::P256(point.to_vec()))
    }

    pub(crate) fn p384(point: &[u8]) -> Option<Self> {
        (point.len() == 97 && point[0] == 4).then(|| Self::P384(point.to_vec()))
    }

    /// Of 2 048 to 8 192 bits.
    pub(crate) fn rsa(n: &[u8], e: &[u8]) -> Option<Self> {
        let trimmed = |number: &[u8]| {
            let zeros = number.iter().take_while(|&&byte| byte == 0).count();
            number[zeros..].to_vec()
        };
        let (n, e) = (trimmed(n), trimmed(e));
        let fits = (256..=1024).contains(&n.len()) && (1..=8).contains(&e.len());
        fits.then_some(Self::Rsa { n, e })
    }

    /// Whether `signature` of `message` is made by the owner of this key. `false` for an
    /// algorithm that the key is not for.
    pub(crate) fn verifies(&self, with: PublicAlgorithm, message: &[u8], of: &[u8]) -> bool {
        use PublicAlgorithm as By;
        let unparsed = |algorithm: &'static dyn signature::VerificationAlgorithm, key: &[u8]| {
            signature::UnparsedPublicKey::new(algorithm, key).verify(message, of).is_ok()
        };
        match (self, with) {
            (Self::Ed25519(key), By::Ed25519) => unparsed(&signature::ED25519, key),
            (Self::P256(key), By::P256Der) => unparsed(&signature::ECDSA_P256_SHA256_ASN1, key),
            (Self::P256(key), By::P256) => unparsed(&signature::ECDSA_P256_SHA256_FIXED, key),
            (Self::P384(key), By::P384) => unparsed(&signature::ECDSA_P384_SHA384_FIXED, key),
            (Self::Rsa { n, e }, By::Rsa(parameters)) => {
                let key = signature::RsaPublicKeyComponents { n, e };
                key.verify(parameters, message, of).is_ok()
            }
            _ => false,
        }
    }

    /// Whether the key is for this algorithm of a scheme.
    fn is_for(&self, algorithm: Algorithm) -> bool {
        matches!(
            (self, algorithm),
            (Self::Ed25519(_), Algorithm::Ed25519)
                | (Self::P256(_), Algorithm::EcdsaP256Sha256)
                | (Self::Rsa { .. }, Algorithm::RsaSha1 | Algorithm::RsaSha256)
                | (_, Algorithm::Jwt | Algorithm::JwsDetached)
        )
    }
}

/// What a public key may verify.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PublicAlgorithm {
    Ed25519,
    /// The signature in DER.
    P256Der,
    /// The signature as two numbers of a fixed length, as RFC 7518 has it.
    P256,
    P384,
    Rsa(&'static signature::RsaParameters),
}

impl PublicAlgorithm {
    /// The algorithm of a scheme; nothing for those that public keys have no part in.
    pub(crate) fn of(algorithm: Algorithm) -> Option<Self> {
        match algorithm {
            Algorithm::Ed25519 => Some(Self::Ed25519),
            Algorithm::EcdsaP256Sha256 => Some(Self::P256Der),
            Algorithm::RsaSha1 => {
                Some(Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY))
            }
            Algorithm::RsaSha256 => Some(Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256)),
            _ => None,
        }
    }
}

impl Algorithm {
    /// Whether it is an HMAC (RFC 2104).
    #[must_use]
    pub fn is_hmac(self) -> bool {
        self.hmac().is_some()
    }

    pub(crate) fn hmac(self) -> Option<hmac::Algorithm> {
        match self {
            Self::HmacSha1 => Some(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
            Self::HmacSha256 => Some(hmac::HMAC_SHA256),
            Self::HmacSha512 => Some(hmac::HMAC_SHA512),
            _ => None,
        }
    }
}

/// Reads a secret as the key that the scheme needs.
///
/// # Errors
///
/// What is wrong with it, without any of it.
pub(crate) fn read(
    secret: &Secret,
    algorithm: Algorithm,
    encoding: KeyEncoding,
) -> Result<Key, &'static str> {
    let text = secret.expose();
    if matches!(encoding, KeyEncoding::Certificate | KeyEncoding::Jwks) {
        // It is what the document is asked for with.
        return Ok(Key::Text(secret.clone()));
    }
    match algorithm {
        Algorithm::Token | Algorithm::Sha256 => Ok(Key::Text(secret.clone())),
        Algorithm::Basic if text.contains(':') => Ok(Key::Text(secret.clone())),
        Algorithm::Basic => Err("must be a user, a colon and a password"),
        Algorithm::HmacSha1 | Algorithm::HmacSha256 | Algorithm::HmacSha512 => {
            let bytes = decode(text, encoding)?;
            let algorithm = algorithm.hmac().ok_or("is for no HMAC")?;
            Ok(Key::Hmac(hmac::Key::new(algorithm, &bytes)))
        }
        Algorithm::Jwt | Algorithm::JwsDetached if encoding == KeyEncoding::Auto => {
            let trimmed = text.trim_start();
            if trimmed.starts_with("-----BEGIN") || trimmed.starts_with('{') {
                Ok(Key::Public(document(text.as_bytes()).ok_or("has no public key")?))
            } else {
                Ok(Key::Bytes(text.as_bytes().to_vec()))
            }
        }
        Algorithm::Jwt | Algorithm::JwsDetached if encoding != KeyEncoding::Pem => {
            Ok(Key::Bytes(decode(text, encoding)?))
        }
        _ => {
            let key = public(text, algorithm, encoding)?;
            match key.is_for(algorithm) {
                true => Ok(Key::Public(vec![NamedKey { kid: None, key }])),
                false => Err("is a public key of another algorithm"),
            }
        }
    }
}

fn decode(text: &str, encoding: KeyEncoding) -> Result<Vec<u8>, &'static str> {
    let base64 = |text| decode_secret_base64(text).filter(|bytes| !bytes.is_empty());
    match encoding {
        KeyEncoding::Base64 => base64(text).ok_or("is not base64"),
        KeyEncoding::Hex => decode_hex(text).ok_or("is not a row of hexadecimal digits"),
        KeyEncoding::Whsec => {
            let rest = text.strip_prefix("whsec_").unwrap_or(text);
            base64(rest).ok_or("is not base64 after whsec_")
        }
        _ => Ok(text.as_bytes().to_vec()),
    }
}

fn public(
    text: &str,
    algorithm: Algorithm,
    encoding: KeyEncoding,
) -> Result<PublicKey, &'static str> {
    let raw = |bytes: Vec<u8>| match algorithm {
        Algorithm::Ed25519 if bytes.len() == 32 => PublicKey::ed25519(&bytes),
        Algorithm::EcdsaP256Sha256 if bytes.len() == 65 => PublicKey::p256(&bytes),
        _ => der::public_key(&bytes),
    };
    let bytes = match encoding {
        KeyEncoding::Hex => decode_hex(text),
        KeyEncoding::Whsec => decode_secret_base64(text.strip_prefix("whpk_").unwrap_or(text)),
        _ => pem(text),
    };
    bytes.and_then(raw).ok_or("is not a public key that can be read")
}

/// What is in the first block of a PEM (RFC 7468), or in the base64 of one without the
/// lines around it.
fn pem(text: &str) -> Option<Vec<u8>> {
    let inner = match text.split_once("-----BEGIN ") {
        Some((_, rest)) => rest.split_once("-----")?.1.split_once("-----END")?.0,
        None => text,
    };
    let inner: String = inner.chars().filter(|c| !c.is_whitespace()).collect();
    decode_secret_base64(&inner)
}

/// The public keys in a document: a PEM, a JSON Web Key, a set of them, or one in a field
/// `key`, as Plaid has it.
pub(crate) fn document(bytes: &[u8]) -> Option<Vec<NamedKey>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if !text.trim_start().starts_with('{') {
        let key = der::public_key(&pem(text)?)?;
        return Some(vec![NamedKey { kid: None, key }]);
    }
    let document: Document = serde_json::from_str(text).ok()?;
    let keys = match document {
        Document { keys: Some(keys), .. } => keys,
        Document { key: Some(key), .. } => vec![key],
        Document { alone, .. } => vec![alone],
    };
    let keys = keys.into_iter().take(MAX_KEYS).filter_map(Jwk::read);
    Some(keys.collect::<Vec<_>>()).filter(|keys| !keys.is_empty())
}

#[derive(Deserialize)]
struct Document {
    keys: Option<Vec<Jwk>>,
    key: Option<Jwk>,
    #[serde(flatten)]
    alone: Jwk,
}

/// A JSON Web Key (RFC 7517, RFC 7518, RFC 8037), as far as it is public.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    crv: String,
    n: String,
    e: String,
    x: String,
    y: String,
}

impl Jwk {
    fn read(self) -> Option<NamedKey> {
        let Self { kty, kid, crv, n, e, x, y } = self;
        let decode = |text: &str| Encoding::Base64url.decode(text);
        let point = || Some([&[4][..], &decode(&x)?, &decode(&y)?].concat());
        let key = match (kty.as_str(), crv.as_str()) {
            ("RSA", _) => PublicKey::rsa(&decode(&n)?, &decode(&e)?),
            ("EC", "P-256") => PublicKey::p256(&point()?),
            ("EC", "P-384") => PublicKey::p384(&point()?),
            ("OKP", "Ed25519") => PublicKey::ed25519(&decode(&x)?),
            _ => None,
        }?;
        Some(NamedKey { kid, key })
    }
}
