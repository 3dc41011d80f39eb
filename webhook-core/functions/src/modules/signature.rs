//! Signatures by their schemes: HMAC, RSA, ECDSA and Ed25519.

use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED,
        ECDSA_P384_SHA384_FIXED_SIGNING, ED25519, EcdsaSigningAlgorithm,
        RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
        RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_2048_8192_SHA256,
        RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
        RSA_PSS_SHA512, RsaEncoding, UnparsedPublicKey, VerificationAlgorithm,
    },
};

use super::{
    ModuleError,
    keys::{self, Private},
};

/// How something is signed, by the names of RFC 7518 and RFC 8037.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Hs256,
    Hs384,
    Hs512,
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

const NAMES: [(&str, Scheme); 12] = [
    ("HS256", Scheme::Hs256),
    ("HS384", Scheme::Hs384),
    ("HS512", Scheme::Hs512),
    ("RS256", Scheme::Rs256),
    ("RS384", Scheme::Rs384),
    ("RS512", Scheme::Rs512),
    ("PS256", Scheme::Ps256),
    ("PS384", Scheme::Ps384),
    ("PS512", Scheme::Ps512),
    ("ES256", Scheme::Es256),
    ("ES384", Scheme::Es384),
    ("EdDSA", Scheme::EdDsa),
];

/// What a scheme consists of.
enum Kind {
    Hmac(hmac::Algorithm),
    Rsa(&'static dyn RsaEncoding, &'static dyn VerificationAlgorithm),
    Ecdsa(&'static EcdsaSigningAlgorithm, &'static dyn VerificationAlgorithm),
    Ed25519,
}

impl Scheme {
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, scheme)| *scheme)
    }

    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, scheme)| *scheme == self).map_or("", |(name, _)| name)
    }

    fn kind(self) -> Kind {
        match self {
            Self::Hs256 => Kind::Hmac(hmac::HMAC_SHA256),
            Self::Hs384 => Kind::Hmac(hmac::HMAC_SHA384),
            Self::Hs512 => Kind::Hmac(hmac::HMAC_SHA512),
            Self::Rs256 => Kind::Rsa(&RSA_PKCS1_SHA256, &RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Kind::Rsa(&RSA_PKCS1_SHA384, &RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Kind::Rsa(&RSA_PKCS1_SHA512, &RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => Kind::Rsa(&RSA_PSS_SHA256, &RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => Kind::Rsa(&RSA_PSS_SHA384, &RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => Kind::Rsa(&RSA_PSS_SHA512, &RSA_PSS_2048_8192_SHA512),
            Self::Es256 => Kind::Ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING, &ECDSA_P256_SHA256_FIXED),
            Self::Es384 => Kind::Ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING, &ECDSA_P384_SHA384_FIXED),
            Self::EdDsa => Kind::Ed25519,
        }
    }

    /// The signature of `data`.
    pub(crate) fn sign(self, key: Private<'_>, data: &[u8]) -> Result<Vec<u8>, ModuleError> {
        let failed = |_| ModuleError::invalid("signing failed");
        let rng = SystemRandom::new();
        match self.kind() {
            Kind::Hmac(algorithm) => {
                let key = hmac::Key::new(algorithm, key.bytes());
                Ok(hmac::sign(&key, data).as_ref().to_vec())
            }
            Kind::Rsa(encoding, _) => {
                let pair = keys::rsa_private(key)?;
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(encoding, &rng, data, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            Kind::Ecdsa(algorithm, _) => {
                let pair = keys::ec_private(key, algorithm, &rng)?;
                Ok(pair.sign(&rng, data).map_err(failed)?.as_ref().to_vec())
            }
            Kind::Ed25519 => Ok(keys::ed25519_private(key)?.sign(data).as_ref().to_vec()),
        }
    }

    /// Whether a signature is right. The key is a secret, or what is inside of a public key.
    pub(crate) fn verify(self, key: &[u8], data: &[u8], signature: &[u8]) -> bool {
        let by = |algorithm| UnparsedPublicKey::new(algorithm, key).verify(data, signature);
        match self.kind() {
            Kind::Hmac(algorithm) => {
                hmac::verify(&hmac::Key::new(algorithm, key), data, signature).is_ok()
            }
            Kind::Rsa(_, algorithm) | Kind::Ecdsa(_, algorithm) => by(algorithm).is_ok(),
            Kind::Ed25519 => by(&ED25519).is_ok(),
        }
    }

    /// Whether it takes a secret that both sides know.
    pub(crate) fn is_secret(self) -> bool {
        matches!(self.kind(), Kind::Hmac(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        hex::decode(text).expect("hex")
    }

    #[test]
    fn hmac_of_rfc_4231() {
        for (scheme, expected) in [
            (Scheme::Hs256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (
                Scheme::Hs384,
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
                 8e2240ca5e69e2c78b3239ecfab21649",
            ),
            (
                Scheme::Hs512,
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
                 9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
            ),
        ] {
            let data = b"what do ya want for nothing?";
            let signature = scheme.sign(Private::Secret(b"Jefe"), data);
            assert_eq!(signature, Ok(bytes(expected)), "{scheme:?}");
            assert!(scheme.verify(b"Jefe", data, &bytes(expected)));
        }
    }

    #[test]
    fn ed25519_of_rfc_8032() {
        let pkcs8 = bytes(
            "302e020100300506032b6570042204204ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        );
        let public = bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
        let expected = bytes(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        );
        let signature = Scheme::EdDsa.sign(Private::Pkcs8(&pkcs8), &[0x72]);
        assert_eq!(signature.as_deref(), Ok(&expected[..]));
        assert!(Scheme::EdDsa.verify(&public, &[0x72], &expected));
        assert!(!Scheme::EdDsa.verify(&public, &[0x73], &expected));
    }

    /// RFC 6979, A.2.5 and A.2.6: the message "sample".
    #[test]
    fn ecdsa_of_rfc_6979() {
        for (scheme, public, signature) in [
            (
                Scheme::Es256,
                "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6\
                 7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
                "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716\
                 f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
            ),
            (
                Scheme::Es384,
                "04ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64\
                 def8f0ea9055866064a254515480bc138015d9b72d7d57244ea8ef9ac0c62189\
                 6708a59367f9dfb9f54ca84b3f1c9db1288b231c3ae0d4fe7344fd2533264720",
                "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c\
                 81a648152e44acf96e36dd1e80fabe4699ef4aeb15f178cea1fe40db2603138f\
                 130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8",
            ),
        ] {
            assert!(scheme.verify(&bytes(public), b"sample", &bytes(signature)), "{scheme:?}");
            assert!(!scheme.verify(&bytes(public), b"other", &bytes(signature)), "{scheme:?}");
        }
    }
}
