//! Base64 and hex.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::ModuleError;

const STANDARD: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Written without padding, as tokens have it; read with and without.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// One of the two alphabets of base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    Standard,
    UrlSafe,
}

impl Alphabet {
    const fn engine(self) -> &'static GeneralPurpose {
        match self {
            Self::Standard => &STANDARD,
            Self::UrlSafe => &URL_SAFE,
        }
    }
}

pub(crate) fn base64_encode(data: &[u8], alphabet: Alphabet) -> String {
    alphabet.engine().encode(data)
}

/// Line breaks and spaces are passed over, because e-mail has them.
pub(crate) fn base64_decode(text: &[u8], alphabet: Alphabet) -> Result<Vec<u8>, ModuleError> {
    let decoded = if text.iter().any(u8::is_ascii_whitespace) {
        let text: Vec<u8> =
            text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        alphabet.engine().decode(text)
    } else {
        alphabet.engine().decode(text)
    };
    decoded.map_err(|error| ModuleError::invalid(format!("not base64: {error}").to_lowercase()))
}

pub(crate) fn hex_encode(data: &[u8]) -> String {
    hex::encode(data)
}

pub(crate) fn hex_decode(text: &[u8]) -> Result<Vec<u8>, ModuleError> {
    hex::decode(text)
        .map_err(|error| ModuleError::invalid(format!("not hex: {error}").to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding() {
        for text in ["YQ==", "YQ", "Y\nQ ==\r\n"] {
            assert_eq!(base64_decode(text.as_bytes(), Alphabet::Standard), Ok(b"a".to_vec()));
        }
        assert_eq!(base64_encode(b"\xff\xfe", Alphabet::UrlSafe), "__4");
        assert!(base64_decode(b"a*", Alphabet::Standard).is_err());
    }

    #[test]
    fn hex_says_what_is_wrong() {
        assert_eq!(hex_decode(b"0aF"), Err(ModuleError::invalid("not hex: odd number of digits")));
        assert_eq!(hex_decode(b"0aFf"), Ok(vec![10, 255]));
    }
}
