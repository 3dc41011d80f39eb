//! JSON Web Tokens (RFC 7519), and Signatures whose payload is the body.

use ring::{hmac, signature};

use crate::{
    Encoding, Reason,
    json::{self, Found},
    key::{Key, NamedKey, PublicAlgorithm},
};

/// A token, in its three parts.
pub(crate) struct Token<'t> {
    header: &'t str,
    payload: &'t str,
    signature: Vec<u8>,
    algorithm: JwtAlgorithm,
    /// Which key it was signed with.
    pub(crate) kid: Option<String>,
    /// Whether the payload is signed as base64, which RFC 7797 lets a sender say no to.
    encoded: bool,
}

enum JwtAlgorithm {
    Hmac(hmac::Algorithm),
    Public(PublicAlgorithm),
}

fn malformed(why: &str) -> Reason {
    Reason::Malformed(format!("token: {why}"))
}

impl<'t> Token<'t> {
    pub(crate) fn read(text: &'t str, detached: bool) -> Result<Self, Reason> {
        let mut parts = text.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed("it has not three parts"));
        };
        if detached != payload.is_empty() {
            return Err(malformed("its payload is not where it should be"));
        }
        let decode = |part| Encoding::Base64url.decode(part);
        let signature = decode(signature).filter(|bytes| !bytes.is_empty());
        let signature = signature.ok_or_else(|| malformed("its signature is not base64"))?;
        let fields = decode(header).ok_or_else(|| malformed("its header is not base64"))?;
        let field = |name| match json::find(&fields, name) {
            Ok(Some(Found::Text(text))) => Ok(Some(text)),
            Ok(None) => Ok(None),
            _ => Err(malformed("its header is not as it should be")),
        };
        let encoded = field("b64")?.as_deref() != Some("false");
        // What a header calls critical must be understood: only `b64` is.
        let critical = json::find(&fields, "crit").map_err(|_| malformed("its header"))?;
        let understood = match critical {
            None => encoded,
            Some(_) => {
                detached && field("crit.0")?.as_deref() == Some("b64") && field("crit.1")?.is_none()
            }
        };
        if !understood {
            return Err(malformed("its header has something that is not understood"));
        }
        let algorithm = match field("alg")?.as_deref() {
            Some("HS256") => JwtAlgorithm::Hmac(hmac::HMAC_SHA256),
            Some("HS384") => JwtAlgorithm::Hmac(hmac::HMAC_SHA384),
            Some("HS512") => JwtAlgorithm::Hmac(hmac::HMAC_SHA512),
            Some("RS256") => rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            Some("RS384") => rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            Some("RS512") => rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            Some("ES256") => JwtAlgorithm::Public(PublicAlgorithm::P256),
            Some("ES384") => JwtAlgorithm::Public(PublicAlgorithm::P384),
            Some("EdDSA") => JwtAlgorithm::Public(PublicAlgorithm::Ed25519),
            _ => return Err(malformed("its algorithm is not known")),
        };
        Ok(Self { header, payload, signature, algorithm, kid: field("kid")?, encoded })
    }

    /// The claims, in JSON.
    pub(crate) fn claims(&self) -> Result<Vec<u8>, Reason> {
        Encoding::Base64url
            .decode(self.payload)
            .ok_or_else(|| malformed("its claims are not base64"))
    }

    /// What is signed. `body` is the payload of a token that has none.
    pub(crate) fn signed(&self, body: &[u8]) -> Vec<u8> {
        let mut signed = format!("{}.", self.header).into_bytes();
        match (self.payload, self.encoded) {
            ("", false) => signed.extend_from_slice(body),
            ("", true) => signed.extend(Encoding::Base64url.encode(body).into_bytes()),
            (payload, _) => signed.extend(payload.as_bytes()),
        }
        signed
    }

    /// Whether `key` signed it.
    pub(crate) fn is_signed_by(&self, key: &Key, signed: &[u8]) -> bool {
        match (&self.algorithm, key) {
            (JwtAlgorithm::Hmac(algorithm), Key::Bytes(key)) => {
                let key = hmac::Key::new(*algorithm, key);
                hmac::verify(&key, signed, &self.signature).is_ok()
            }
            (JwtAlgorithm::Public(algorithm), Key::Public(keys)) => self
                .candidates(keys)
                .any(|named| named.key.verifies(*algorithm, signed, &self.signature)),
            // A public key is no secret: an HMAC under it proves nothing.
            _ => false,
        }
    }

    /// The keys that may have signed it: those of its name, if it has one and they do.
    pub(crate) fn candidates<'k>(
        &'k self,
        keys: &'k [NamedKey],
    ) -> impl Iterator<Item = &'k NamedKey> {
        keys.iter().filter(|named| match (&self.kid, &named.kid) {
            (Some(wanted), Some(kid)) => wanted == kid,
            _ => true,
        })
    }
}

fn rsa(parameters: &'static signature::RsaParameters) -> JwtAlgorithm {
    JwtAlgorithm::Public(PublicAlgorithm::Rsa(parameters))
}
