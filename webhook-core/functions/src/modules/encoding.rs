//! Base64 and hex.

use webhook_core::encoding::Base64;

use super::ModuleError;

/// Line breaks and spaces are passed over, because e-mail has them.
pub(crate) fn base64_decode(text: &[u8], alphabet: Base64) -> Result<Vec<u8>, ModuleError> {
    let decoded = alphabet.decode_spaced(text);
    decoded.map_err(|error| ModuleError::invalid(format!("not base64: {error}").to_lowercase()))
}

pub(crate) fn hex_encode(data: &[u8]) -> String {
    hex::encode(data)
}

pub(crate) fn hex_decode(text: &[u8]) -> Result<Vec<u8>, ModuleError> {
    hex::decode(text)
        .map_err(|error| ModuleError::invalid(format!("not hex: {error}").to_lowercase()))
}

/// The base64 of a text whose characters stand for bytes, as `btoa` of the web makes it.
#[cfg(feature = "js")]
pub(crate) fn btoa(text: &str) -> Result<String, ModuleError> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    let bytes = bytes.ok_or_else(|| {
        ModuleError::invalid("the text has characters that are no bytes, above U+00FF")
    })?;
    Ok(Base64::Standard.encode(&bytes))
}

/// The opposite: each byte becomes a character.
#[cfg(feature = "js")]
pub(crate) fn atob(text: &str) -> Result<String, ModuleError> {
    let bytes = base64_decode(text.as_bytes(), Base64::Standard)?;
    Ok(bytes.into_iter().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding() {
        for text in ["YQ==", "YQ", "Y\nQ ==\r\n"] {
            assert_eq!(base64_decode(text.as_bytes(), Base64::Standard), Ok(b"a".to_vec()));
        }
        assert_eq!(Base64::UrlSafe.encode(b"\xff\xfe"), "__4");
        assert!(base64_decode(b"a*", Base64::Standard).is_err());
    }

    #[test]
    fn hex_says_what_is_wrong() {
        assert_eq!(hex_decode(b"0aF"), Err(ModuleError::invalid("not hex: odd number of digits")));
        assert_eq!(hex_decode(b"0aFf"), Ok(vec![10, 255]));
    }

    #[cfg(feature = "js")]
    #[test]
    fn characters_stand_for_bytes() {
        assert_eq!(btoa("\u{ff}a").as_deref(), Ok("/2E="));
        assert_eq!(atob(" /2E= ").as_deref(), Ok("\u{ff}a"));
        assert!(btoa("\u{100}").is_err() && atob("a*").is_err());
    }
}
