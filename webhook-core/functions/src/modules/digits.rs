//! Numbers in JSON texts whose digits a script's number would not keep.

/// The numbers of a JSON text in their order, as they are written.
pub(crate) fn numbers(json: &[u8]) -> Numbers<'_> {
    Numbers { json, at: 0 }
}

pub(crate) struct Numbers<'j> {
    json: &'j [u8],
    at: usize,
}

impl<'j> Iterator for Numbers<'j> {
    type Item = &'j str;

    fn next(&mut self) -> Option<&'j str> {
        loop {
            match *self.json.get(self.at)? {
                b'"' => self.skip_text(),
                b'-' | b'0'..=b'9' => {
                    let rest = &self.json[self.at..];
                    let is_part =
                        |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                    let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                    self.at += length;
                    return std::str::from_utf8(&rest[..length]).ok();
                }
                _ => self.at += 1,
            }
        }
    }
}

impl Numbers<'_> {
    /// Goes behind the quote that ends a text.
    fn skip_text(&mut self) {
        self.at += 1;
        while let Some(found) =
            self.json.get(self.at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
        {
            self.at += found + 1;
            if self.json[self.at - 1] == b'"' {
                return;
            }
            self.at += 1;
        }
        self.at = self.json.len();
    }
}

/// Digits that every floating-point number keeps.
const KEPT_DIGITS: usize = 15;

/// Whether a number has more digits than every floating-point number keeps.
pub(crate) fn is_long(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    mantissa.bytes().filter(u8::is_ascii_digit).count() > KEPT_DIGITS
}

/// Whether JavaScript writes a number as it is written here, and reads no other one as the same.
#[cfg(feature = "js")]
pub(crate) fn is_plain_in_js(number: &str) -> bool {
    if is_long(number) || number == "-0" || number.contains(['e', 'E']) {
        return false;
    }
    if !number.contains('.') {
        return true;
    }
    // JavaScript writes smaller ones with an exponent.
    let value = number.parse::<f64>().unwrap_or(0.0);
    value.abs() >= 1e-6 && value.to_string() == number
}

/// Whether Lua writes a number as it is written here, and reads no other one as the same.
#[cfg(feature = "lua")]
pub(crate) fn is_plain_in_lua(number: &str) -> bool {
    if number != "-0" && number.parse::<i64>().is_ok() {
        return true;
    }
    let value = serde_json::from_str::<f64>(number).ok();
    let written = value.and_then(|value| serde_json::to_string(&value).ok());
    !is_long(number) && written.as_deref() == Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_outside_of_texts() {
        let json = br#"{"1": [-2.5e+3, "3\"4", {"a\\": 5}], "b": 6}"#;
        assert_eq!(numbers(json).collect::<Vec<_>>(), ["-2.5e+3", "5", "6"]);
        assert_eq!(numbers(br#"["1\"#).count(), 0);
        assert_eq!(numbers(b"12").collect::<Vec<_>>(), ["12"]);
    }

    #[cfg(feature = "js")]
    #[test]
    fn plain_numbers_in_javascript() {
        for number in ["0", "-1", "19.99", "123456789012345", "0.000001"] {
            assert!(is_plain_in_js(number), "{number}");
        }
        for number in ["-0", "1.0", "19.90", "1e2", "820982911946154508", "0.0000001", "0.0"] {
            assert!(!is_plain_in_js(number), "{number}");
        }
    }

    #[cfg(feature = "lua")]
    #[test]
    fn plain_numbers_in_lua() {
        for number in ["0", "-1", "19.99", "9223372036854775807", "1.0"] {
            assert!(is_plain_in_lua(number), "{number}");
        }
        for number in ["-0", "19.90", "1e2", "12345678901234567890", "0.12345678901234567"] {
            assert!(!is_plain_in_lua(number), "{number}");
        }
    }
}
