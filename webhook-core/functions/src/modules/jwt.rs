//! JSON web tokens: HS256, RS256 and ES256.

use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, UnparsedPublicKey,
    },
};
use serde_json::{Value, json};
use webhook_core::encoding::Base64;

use super::{Bounds, ModuleError, Output, encoding::base64_decode, keys, tree::from_json};

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Hs256,
    Rs256,
    Es256,
}

impl Algorithm {
    pub(crate) fn named(name: &str) -> Result<Self, ModuleError> {
        match name {
            "HS256" => Ok(Self::Hs256),
            "RS256" => Ok(Self::Rs256),
            "ES256" => Ok(Self::Es256),
            _ => {
                let shown: String = name.chars().take(16).collect();
                Err(ModuleError::invalid(format!("jwt: unknown algorithm {shown:?}")))
            }
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

/// A token with these claims, of at most `longest` bytes as JSON. The key is a
/// secret, or a private key in PEM.
pub(crate) fn sign(
    claims: &Value,
    key: &[u8],
    algorithm: Algorithm,
    longest: usize,
) -> Result<String, ModuleError> {
    if !claims.is_object() {
        return Err(ModuleError::invalid("jwt: the claims must be a table with names"));
    }
    let header = json!({"alg": algorithm.name(), "typ": "JWT"});
    let part = |value: &Value| {
        let mut json = Output::of_at_most(longest);
        json.push_json(value)?;
        Ok::<_, ModuleError>(Base64::UrlSafe.encode(&json.finish()?))
    };
    let mut token = format!("{}.{}", part(&header)?, part(claims)?);
    let data = token.as_bytes();
    let rng = SystemRandom::new();
    let signature = match algorithm {
        Algorithm::Hs256 => {
            hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data).as_ref().to_vec()
        }
        Algorithm::Rs256 => {
            let pair = keys::rsa_private(key)?;
            let mut signature = vec![0; pair.public().modulus_len()];
            pair.sign(&RSA_PKCS1_SHA256, &rng, data, &mut signature)
                .map_err(|_| ModuleError::invalid("jwt: signing failed"))?;
            signature
        }
        Algorithm::Es256 => {
            let pair = keys::ec_private(key, &rng)?;
            let signature = pair.sign(&rng, data);
            signature.map_err(|_| ModuleError::invalid("jwt: signing failed"))?.as_ref().to_vec()
        }
    };
    token.push('.');
    token.push_str(&Base64::UrlSafe.encode(&signature));
    Ok(token)
}

/// The claims of a token that is signed by one of `algorithms` and valid at `now`, in unix seconds,
/// when they fit into `bounds`.
pub(crate) fn verify(
    token: &str,
    key: &[u8],
    algorithms: &[Algorithm],
    now: i64,
    mut bounds: Bounds,
) -> Result<Value, ModuleError> {
    let malformed = || ModuleError::invalid("jwt: malformed token");
    let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
    let (header, claims) = signed.split_once('.').ok_or_else(malformed)?;
    let mut part = |text: &str| -> Result<Value, ModuleError> {
        let json = base64_decode(text.as_bytes(), Base64::UrlSafe).map_err(|_| malformed())?;
        from_json(&json, &mut bounds)?.map_err(|_| malformed())
    };
    let header = part(header)?;
    let name = header.get("alg").and_then(Value::as_str).ok_or_else(malformed)?;
    let algorithm = Algorithm::named(name)?;
    if !algorithms.contains(&algorithm) {
        return Err(ModuleError::invalid(format!("jwt: signed with {name}, which is not allowed")));
    }
    let signature =
        base64_decode(signature.as_bytes(), Base64::UrlSafe).map_err(|_| malformed())?;
    let data = signed.as_bytes();
    let verified = match algorithm {
        Algorithm::Hs256 => hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), data, &signature),
        Algorithm::Rs256 => {
            let key = keys::public(key)?;
            UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key).verify(data, &signature)
        }
        Algorithm::Es256 => {
            let key = keys::public(key)?;
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(data, &signature)
        }
    };
    verified.map_err(|_| ModuleError::invalid("jwt: wrong signature"))?;
    let claims = part(claims)?;
    let time = |name: &str| claims.get(name).and_then(Value::as_f64);
    if time("exp").is_some_and(|expires| now as f64 >= expires) {
        return Err(ModuleError::invalid("jwt: the token has expired"));
    }
    if time("nbf").is_some_and(|starts| (now as f64) < starts) {
        return Err(ModuleError::invalid("jwt: the token is not valid yet"));
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(claims: &Value, key: &[u8], algorithm: Algorithm) -> Result<String, ModuleError> {
        super::sign(claims, key, algorithm, 1_000)
    }

    fn verify(
        token: &str,
        key: &[u8],
        algorithms: &[Algorithm],
        now: i64,
    ) -> Result<Value, ModuleError> {
        super::verify(token, key, algorithms, now, Bounds::of_memory(10_000))
    }

    #[test]
    fn a_token_known_from_jwt_io() {
        let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.\
            eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.\
            SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
        let key = b"your-256-bit-secret";
        let claims = verify(token, key, &[Algorithm::Hs256], 0).expect("a good token");
        assert_eq!(claims["name"], "John Doe");
        assert_eq!(sign(&claims, key, Algorithm::Hs256).as_deref(), Ok(token));
        assert!(verify(token, b"other", &[Algorithm::Hs256], 0).is_err());
        assert!(verify(token, key, &[Algorithm::Rs256], 0).is_err());
    }

    #[test]
    fn times_are_checked() {
        let token = sign(&json!({"exp": 100, "nbf": 50}), b"k", Algorithm::Hs256).expect("signed");
        let verify = |now| verify(&token, b"k", &[Algorithm::Hs256], now);
        assert!(verify(50).is_ok() && verify(99).is_ok());
        assert!(verify(49).is_err() && verify(100).is_err());
    }

    #[test]
    fn malformed_tokens_are_refused() {
        let none = "eyJhbGciOiJub25lIn0.e30.";
        for token in ["", ".", "..", "a.b.c", "e30.e30.", none] {
            assert!(verify(token, b"k", &[Algorithm::Hs256], 0).is_err(), "{token}");
        }
        assert!(sign(&json!([]), b"k", Algorithm::Hs256).is_err());
        assert!(sign(&json!({}), b"k", Algorithm::Rs256).is_err());
        assert!(sign(&json!({}), b"k", Algorithm::Es256).is_err());
    }

    #[test]
    fn key_pairs_sign_and_verify() {
        let pairs = [
            (Algorithm::Rs256, include_str!("keys/rsa.pem"), include_str!("keys/rsa.pub.pem")),
            (Algorithm::Es256, include_str!("keys/ec.pem"), include_str!("keys/ec.pub.pem")),
            (Algorithm::Es256, include_str!("keys/ec-sec1.pem"), include_str!("keys/ec.pub.pem")),
        ];
        for (algorithm, private, public) in pairs {
            let claims = json!({"a": 1});
            let token = sign(&claims, private.as_bytes(), algorithm).expect("a good key");
            assert_eq!(verify(&token, public.as_bytes(), &[algorithm], 0), Ok(claims));
            // A public key is no secret: the algorithm of the token is not believed.
            let forged = sign(&json!({"a": 2}), public.as_bytes(), Algorithm::Hs256);
            let forged = forged.expect("any bytes are a secret");
            assert!(verify(&forged, public.as_bytes(), &[algorithm], 0).is_err());
        }
    }

    #[test]
    fn claims_are_bounded() {
        let key = b"k";
        let long = json!({"a": "x".repeat(1_000)});
        assert_eq!(sign(&long, key, Algorithm::Hs256), Err(ModuleError::TooLong));
        let wide = json!({"a": vec![Value::Null; 150]});
        let token = sign(&wide, key, Algorithm::Hs256).expect("short");
        let read = verify(&token, key, &[Algorithm::Hs256], 0);
        assert_eq!(read, Err(ModuleError::TooLarge));
    }
}
