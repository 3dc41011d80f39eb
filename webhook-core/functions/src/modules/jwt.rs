//! JSON web tokens.

use serde_json::{Value, json};
use webhook_core::encoding::Base64;

use super::{
    Bounds, ModuleError, Output,
    encoding::base64_decode,
    keys::{self, Private},
    signature::Scheme,
    tree::from_json,
};

/// How a token is signed.
pub(crate) fn algorithm(name: &str) -> Result<Scheme, ModuleError> {
    Scheme::named(name).ok_or_else(|| {
        let shown: String = name.chars().take(16).collect();
        ModuleError::invalid(format!("jwt: unknown algorithm {shown:?}"))
    })
}

/// A token with these claims, of at most `longest` bytes as JSON. The key is a
/// secret, or a private key in PEM.
pub(crate) fn sign(
    claims: &Value,
    key: &[u8],
    algorithm: Scheme,
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
    let private = if algorithm.is_secret() { Private::Secret(key) } else { Private::Pem(key) };
    let signature = algorithm.sign(private, data)?;
    token.push('.');
    token.push_str(&Base64::UrlSafe.encode(&signature));
    Ok(token)
}

/// The claims of a token that is signed by one of `algorithms` and valid at `now`, in unix seconds,
/// when they fit into `bounds`.
pub(crate) fn verify(
    token: &str,
    key: &[u8],
    algorithms: &[Scheme],
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
    let algorithm = self::algorithm(name)?;
    if !algorithms.contains(&algorithm) {
        return Err(ModuleError::invalid(format!("jwt: signed with {name}, which is not allowed")));
    }
    let signature =
        base64_decode(signature.as_bytes(), Base64::UrlSafe).map_err(|_| malformed())?;
    let data = signed.as_bytes();
    let public = if algorithm.is_secret() { key.to_vec() } else { keys::public(key)? };
    if !algorithm.verify(&public, data, &signature) {
        return Err(ModuleError::invalid("jwt: wrong signature"));
    }
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

    fn sign(claims: &Value, key: &[u8], algorithm: Scheme) -> Result<String, ModuleError> {
        super::sign(claims, key, algorithm, 1_000)
    }

    fn verify(
        token: &str,
        key: &[u8],
        algorithms: &[Scheme],
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
        let claims = verify(token, key, &[Scheme::Hs256], 0).expect("a good token");
        assert_eq!(claims["name"], "John Doe");
        assert_eq!(sign(&claims, key, Scheme::Hs256).as_deref(), Ok(token));
        assert!(verify(token, b"other", &[Scheme::Hs256], 0).is_err());
        assert!(verify(token, key, &[Scheme::Rs256], 0).is_err());
    }

    #[test]
    fn times_are_checked() {
        let token = sign(&json!({"exp": 100, "nbf": 50}), b"k", Scheme::Hs256).expect("signed");
        let verify = |now| verify(&token, b"k", &[Scheme::Hs256], now);
        assert!(verify(50).is_ok() && verify(99).is_ok());
        assert!(verify(49).is_err() && verify(100).is_err());
    }

    #[test]
    fn malformed_tokens_are_refused() {
        let none = "eyJhbGciOiJub25lIn0.e30.";
        for token in ["", ".", "..", "a.b.c", "e30.e30.", none] {
            assert!(verify(token, b"k", &[Scheme::Hs256], 0).is_err(), "{token}");
        }
        assert!(sign(&json!([]), b"k", Scheme::Hs256).is_err());
        assert!(sign(&json!({}), b"k", Scheme::Rs256).is_err());
        assert!(sign(&json!({}), b"k", Scheme::Es256).is_err());
    }

    /// RFC 8410, 10
    const ED25519: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    const ED25519_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

    #[test]
    fn secrets_sign_with_each_hash() {
        for algorithm in [Scheme::Hs384, Scheme::Hs512] {
            let token = sign(&json!({"a": 1}), b"k", algorithm).expect("any bytes are a secret");
            assert_eq!(verify(&token, b"k", &[algorithm], 0), Ok(json!({"a": 1})));
            assert!(verify(&token, b"k", &[Scheme::Hs256], 0).is_err());
        }
    }

    #[test]
    fn key_pairs_sign_and_verify() {
        let pairs = [
            (Scheme::Rs256, include_str!("keys/rsa.pem"), include_str!("keys/rsa.pub.pem")),
            (Scheme::Es256, include_str!("keys/ec.pem"), include_str!("keys/ec.pub.pem")),
            (Scheme::Es256, include_str!("keys/ec-sec1.pem"), include_str!("keys/ec.pub.pem")),
            (Scheme::Rs384, include_str!("keys/rsa.pem"), include_str!("keys/rsa.pub.pem")),
            (Scheme::Rs512, include_str!("keys/rsa.pem"), include_str!("keys/rsa.pub.pem")),
            (Scheme::Ps256, include_str!("keys/rsa.pem"), include_str!("keys/rsa.pub.pem")),
            (Scheme::Ps384, include_str!("keys/rsa.pem"), include_str!("keys/rsa.pub.pem")),
            (Scheme::Ps512, include_str!("keys/rsa.pem"), include_str!("keys/rsa.pub.pem")),
            (Scheme::EdDsa, ED25519, ED25519_PUBLIC),
        ];
        for (algorithm, private, public) in pairs {
            let claims = json!({"a": 1});
            let token = sign(&claims, private.as_bytes(), algorithm).expect("a good key");
            assert_eq!(verify(&token, public.as_bytes(), &[algorithm], 0), Ok(claims));
            // A public key is no secret: the algorithm of the token is not believed.
            let forged = sign(&json!({"a": 2}), public.as_bytes(), Scheme::Hs256);
            let forged = forged.expect("any bytes are a secret");
            assert!(verify(&forged, public.as_bytes(), &[algorithm], 0).is_err());
        }
    }

    #[test]
    fn claims_are_bounded() {
        let key = b"k";
        let long = json!({"a": "x".repeat(1_000)});
        assert_eq!(sign(&long, key, Scheme::Hs256), Err(ModuleError::TooLong));
        let wide = json!({"a": vec![Value::Null; 150]});
        let token = sign(&wide, key, Scheme::Hs256).expect("short");
        let read = verify(&token, key, &[Scheme::Hs256], 0);
        assert_eq!(read, Err(ModuleError::TooLarge));
    }
}
