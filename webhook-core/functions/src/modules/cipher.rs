//! AES in CBC mode with PKCS#7 padding, and in GCM.

use aes::{
    Aes128, Aes192, Aes256,
    cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _, block_padding::Pkcs7},
};
#[cfg(feature = "js")]
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use super::ModuleError;

/// Fails when `name` is no cipher that is available: `aes-cbc`, or with the key's bits in between.
fn check(name: &str, key: &[u8]) -> Result<(), ModuleError> {
    let bits = match name.to_ascii_lowercase().as_str() {
        "aes-cbc" => None,
        "aes-128-cbc" => Some(128),
        "aes-192-cbc" => Some(192),
        "aes-256-cbc" => Some(256),
        _ => {
            let shown: String = name.chars().take(32).collect();
            return Err(ModuleError::invalid(format!(
                "unknown cipher {shown:?}, expected aes-cbc"
            )));
        }
    };
    match bits {
        Some(bits) if key.len() * 8 != bits => Err(ModuleError::invalid(format!(
            "a key of {} bytes, {name} takes {}",
            key.len(),
            bits / 8
        ))),
        _ => Ok(()),
    }
}

fn key_error() -> ModuleError {
    ModuleError::invalid("the key must have 16, 24 or 32 bytes, the iv 16")
}

/// Runs a cipher with a key of 16, 24 or 32 bytes.
macro_rules! with_cipher {
    ($mode:ident, $key:expr, $iv:expr, |$cipher:ident| $result:expr) => {
        match $key.len() {
            16 => cbc::$mode::<Aes128>::new_from_slices($key, $iv).map(|$cipher| $result),
            24 => cbc::$mode::<Aes192>::new_from_slices($key, $iv).map(|$cipher| $result),
            32 => cbc::$mode::<Aes256>::new_from_slices($key, $iv).map(|$cipher| $result),
            _ => return Err(key_error()),
        }
        .map_err(|_| key_error())
    };
}

pub(crate) fn encrypt(
    data: &[u8],
    cipher: &str,
    key: &[u8],
    iv: &[u8],
) -> Result<Vec<u8>, ModuleError> {
    check(cipher, key)?;
    with_cipher!(Encryptor, key, iv, |cipher| cipher.encrypt_padded_vec::<Pkcs7>(data))
}

pub(crate) fn decrypt(
    data: &[u8],
    cipher: &str,
    key: &[u8],
    iv: &[u8],
) -> Result<Vec<u8>, ModuleError> {
    check(cipher, key)?;
    with_cipher!(Decryptor, key, iv, |cipher| cipher.decrypt_padded_vec::<Pkcs7>(data))?
        .map_err(|_| ModuleError::invalid("cannot be decrypted with this key and iv"))
}

/// AES in GCM: the tag of 16 bytes follows the text.
#[cfg(feature = "js")]
pub(crate) fn encrypt_gcm(
    data: &[u8],
    key: &[u8],
    iv: &[u8],
    more: &[u8],
) -> Result<Vec<u8>, ModuleError> {
    let (key, nonce) = gcm(key, iv)?;
    let mut sealed = data.to_vec();
    key.seal_in_place_append_tag(nonce, Aad::from(more), &mut sealed)
        .map_err(|_| ModuleError::invalid("cannot be encrypted"))?;
    Ok(sealed)
}

/// The opposite; fails when anything was changed.
#[cfg(feature = "js")]
pub(crate) fn decrypt_gcm(
    data: &[u8],
    key: &[u8],
    iv: &[u8],
    more: &[u8],
) -> Result<Vec<u8>, ModuleError> {
    let (key, nonce) = gcm(key, iv)?;
    let mut sealed = data.to_vec();
    let opened = key.open_in_place(nonce, Aad::from(more), &mut sealed);
    let length = opened
        .map_err(|_| ModuleError::invalid("cannot be decrypted with this key, iv and data"))?
        .len();
    sealed.truncate(length);
    Ok(sealed)
}

#[cfg(feature = "js")]
fn gcm(key: &[u8], iv: &[u8]) -> Result<(LessSafeKey, Nonce), ModuleError> {
    let wrong = || ModuleError::invalid("AES-GCM takes a key of 16 or 32 bytes and an iv of 12");
    let algorithm = match key.len() {
        16 => &AES_128_GCM,
        32 => &AES_256_GCM,
        _ => return Err(wrong()),
    };
    let key = UnboundKey::new(algorithm, key).map_err(|_| wrong())?;
    let nonce = Nonce::try_assume_unique_for_key(iv).map_err(|_| wrong())?;
    Ok((LessSafeKey::new(key), nonce))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encrypted_is_decrypted_with_every_length_of_key() {
        let iv = [7; 16];
        for length in [16, 24, 32] {
            let key = vec![1; length];
            for data in [&b""[..], b"exactly 16 bytes", b"some more than sixteen bytes"] {
                let encrypted = encrypt(data, "aes-cbc", &key, &iv).expect("a good key");
                assert_eq!(decrypt(&encrypted, "AES-CBC", &key, &iv), Ok(data.to_vec()));
            }
        }
    }

    #[test]
    fn a_known_answer() {
        // NIST SP 800-38A, F.2.1, its first block; the padding follows.
        let key = hex::decode("2b7e151628aed2a6abf7158809cf4f3c").expect("hex");
        let iv = hex::decode("000102030405060708090a0b0c0d0e0f").expect("hex");
        let data = hex::decode("6bc1bee22e409f96e93d7e117393172a").expect("hex");
        let encrypted = encrypt(&data, "aes-128-cbc", &key, &iv).expect("a good key");
        assert!(hex::encode(encrypted).starts_with("7649abac8119b246cee98e9b12e9197d"));
    }

    #[test]
    fn wrong_keys_and_ivs_are_refused() {
        for (cipher, key, iv) in
            [("aes-cbc", 15, 16), ("aes-cbc", 16, 8), ("aes-256-cbc", 16, 16), ("des", 16, 16)]
        {
            assert!(encrypt(b"x", cipher, &vec![0; key], &vec![0; iv]).is_err());
            assert!(decrypt(&[0; 16], cipher, &vec![0; key], &vec![0; iv]).is_err());
        }
        assert!(decrypt(b"not blocks", "aes-cbc", &[0; 16], &[0; 16]).is_err());
    }

    #[cfg(feature = "js")]
    #[test]
    fn gcm_gives_a_known_answer_and_notices_changes() {
        // NIST's test vectors for GCM, case 4.
        let hex = |text| hex::decode(text).expect("hex");
        let key = hex("feffe9928665731c6d6a8f9467308308");
        let iv = hex("cafebabefacedbaddecaf888");
        let more = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let data = hex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        let sealed = encrypt_gcm(&data, &key, &iv, &more).expect("a good key");
        assert!(hex::encode(&sealed).ends_with("5bc94fbc3221a5db94fae95ae7121a47"));
        assert_eq!(decrypt_gcm(&sealed, &key, &iv, &more), Ok(data));
        let mut changed = sealed.clone();
        changed[0] ^= 1;
        assert!(decrypt_gcm(&changed, &key, &iv, &more).is_err());
        assert!(decrypt_gcm(&sealed, &key, &iv, b"").is_err());
        assert!(encrypt_gcm(b"", &[0; 24], &iv, b"").is_err());
        assert!(encrypt_gcm(b"", &key, &[0; 16], b"").is_err());
    }
}
