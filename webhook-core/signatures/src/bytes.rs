//! Bytes as text, and the checksum that PayPal signs.

use base64::{
    Engine, alphabet,
    engine::{
        DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig,
        general_purpose::{PAD, STANDARD},
    },
};

use crate::Encoding;

const LENIENT: GeneralPurposeConfig = PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent);
const LENIENT_STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose =
    GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT.with_encode_padding(false));

impl Encoding {
    /// The bytes that `text` stands for. There is one text for some bytes, except for the case of
    /// hexadecimal digits and the padding of the alphabet for URLs.
    pub(crate) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex | Self::HexUpper => decode_hex(text),
            // Strict: with its padding, and no other text for the same bytes.
            Self::Base64 => STANDARD.decode(text).ok(),
            Self::Base64url => URL_SAFE.decode(text).ok(),
        }
    }

    /// `bytes` as text.
    pub(crate) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => encode_hex(bytes, b"0123456789abcdef"),
            Self::HexUpper => encode_hex(bytes, b"0123456789ABCDEF"),
            Self::Base64 => STANDARD.encode(bytes),
            Self::Base64url => URL_SAFE.encode(bytes),
        }
    }
}

/// A secret in base64: of either alphabet, with or without padding, as people copy it.
pub(crate) fn decode_secret_base64(text: &str) -> Option<Vec<u8>> {
    LENIENT_STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

/// Hexadecimal digits of either case.
pub(crate) fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let value =
        |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(value(high)? << 4 | value(low)?)).collect()
}

fn encode_hex(bytes: &[u8], digits: &[u8; 16]) -> String {
    let both = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    both.map(|digit| char::from(digits[usize::from(digit)])).collect()
}

/// The CRC-32 of ISO 3309, as zlib and PayPal compute it.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < table.len() {
            let mut rest = index as u32;
            let mut bit = 0;
            while bit < 8 {
                rest = if rest & 1 == 1 { 0xEDB8_8320 ^ (rest >> 1) } else { rest >> 1 };
                bit += 1;
            }
            table[index] = rest;
            index += 1;
        }
        table
    };
    let step = |crc: u32, byte: &u8| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zlib() {
        // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn one_text_stands_for_some_bytes() {
        assert_eq!(Encoding::Hex.decode("00ff"), Some(vec![0, 255]));
        assert_eq!(Encoding::HexUpper.decode("00FF"), Some(vec![0, 255]));
        assert_eq!(Encoding::Hex.decode("00fF"), Some(vec![0, 255]));
        assert_eq!(Encoding::HexUpper.decode("00ff"), Some(vec![0, 255]));
        for text in ["00f", "0x00", "00ff ", "00fg", "é1"] {
            assert_eq!(Encoding::Hex.decode(text), None, "{text}");
        }
        assert_eq!(Encoding::Base64.decode("YQ=="), Some(vec![b'a']));
        for text in ["YQ", "YR==", "YQ==\n", "Y Q==", "_-8="] {
            assert_eq!(Encoding::Base64.decode(text), None, "{text}");
        }
        assert_eq!(Encoding::Base64url.decode("_-8"), Some(vec![0xFF, 0xEF]));
        for encoding in [Encoding::Hex, Encoding::HexUpper, Encoding::Base64, Encoding::Base64url] {
            let bytes: Vec<u8> = (0..=255).collect();
            assert_eq!(encoding.decode(&encoding.encode(&bytes)), Some(bytes));
        }
    }
}
