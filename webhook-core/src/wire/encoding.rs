//! Base64 as people and programs write it: with or without its padding.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose =
    GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT.with_encode_padding(false));

/// One of the two alphabets of base64 (RFC 4648). Both are read with and without
/// padding.
///
/// ```
/// use webhook_core::encoding::Base64;
///
/// assert_eq!(Base64::Standard.encode(b"a"), "YQ==");
/// assert_eq!(Base64::UrlSafe.encode(b"a"), "YQ");
/// assert_eq!(Base64::Standard.decode(b"YQ").as_deref(), Ok(&b"a"[..]));
/// assert_eq!(Base64::Standard.decode_spaced(b"Y\nQ ==").as_deref(), Ok(&b"a"[..]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base64 {
    /// With `+` and `/`; written with padding.
    Standard,
    /// With `-` and `_`; written without padding, as tokens have it.
    UrlSafe,
}

/// Text that is not base64: which byte is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct NotBase64(#[from] base64::DecodeError);

impl Base64 {
    const fn engine(self) -> &'static GeneralPurpose {
        match self {
            Self::Standard => &STANDARD,
            Self::UrlSafe => &URL_SAFE,
        }
    }

    /// `data` as text.
    #[must_use]
    pub fn encode(self, data: &[u8]) -> String {
        self.engine().encode(data)
    }

    /// The bytes that `text` stands for.
    ///
    /// # Errors
    ///
    /// White space, and whatever else is not in the alphabet.
    pub fn decode(self, text: &[u8]) -> Result<Vec<u8>, NotBase64> {
        Ok(self.engine().decode(text)?)
    }

    /// The bytes that `text` stands for; line breaks and spaces, which e-mail has,
    /// are passed over.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn decode_spaced(self, text: &[u8]) -> Result<Vec<u8>, NotBase64> {
        if !text.iter().any(u8::is_ascii_whitespace) {
            return self.decode(text);
        }
        let text: Vec<u8> =
            text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        self.decode(&text)
    }
}
