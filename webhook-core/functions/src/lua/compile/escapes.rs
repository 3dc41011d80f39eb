//! `\u{…}` as Lua has it: any code up to 2^31, surrogates included.
//!
//! piccolo's lexer takes what Rust takes for a character, so such escapes
//! become escapes of their bytes before it reads the source.

use std::borrow::Cow;

use super::Refusal;

/// The smallest code that no escape may have.
const TOO_LARGE: u64 = 1 << 31;

/// The source with every `\u{…}` as `\ddd`.
pub(super) fn expand(source: &[u8]) -> Result<Cow<'_, [u8]>, Refusal> {
    if memchr::memmem::find(source, b"\\u{").is_none() {
        return Ok(Cow::Borrowed(source));
    }
    let mut scan = Scan { source, at: 0, out: Vec::with_capacity(source.len() * 2) };
    while let Some(byte) = scan.peek(0) {
        match byte {
            b'-' if scan.peek(1) == Some(b'-') => scan.comment(),
            b'[' if scan.long_level(0).is_some() => scan.long(0),
            b'\'' | b'"' => scan.short(byte)?,
            _ => scan.copy(1),
        }
    }
    Ok(Cow::Owned(scan.out))
}

struct Scan<'a> {
    source: &'a [u8],
    at: usize,
    out: Vec<u8>,
}

impl Scan<'_> {
    fn peek(&self, offset: usize) -> Option<u8> {
        self.source.get(self.at + offset).copied()
    }

    fn copy(&mut self, bytes: usize) {
        let end = self.source.len().min(self.at + bytes);
        self.out.extend_from_slice(self.source.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    /// How many `=` are in the long bracket that opens here.
    fn long_level(&self, offset: usize) -> Option<usize> {
        let rest = self.source.get(self.at + offset..)?.strip_prefix(b"[")?;
        let level = rest.iter().take_while(|byte| **byte == b'=').count();
        (rest.get(level) == Some(&b'[')).then_some(level)
    }

    fn long(&mut self, offset: usize) {
        let level = self.long_level(offset).unwrap_or(0);
        let close = [&b"]"[..], &vec![b'='; level], b"]"].concat();
        let rest = self.source.get(self.at + offset..).unwrap_or_default();
        let length = memchr::memmem::find(rest, &close).map_or(rest.len(), |at| at + close.len());
        self.copy(offset + length);
    }

    fn comment(&mut self) {
        if self.long_level(2).is_some() {
            return self.long(2);
        }
        let rest = self.source.get(self.at..).unwrap_or_default();
        self.copy(memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()));
    }

    fn short(&mut self, quote: u8) -> Result<(), Refusal> {
        self.copy(1);
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.escape()?,
                // The lexer refuses a text that the line does not end.
                b'\n' | b'\r' => return Ok(()),
                byte => {
                    self.copy(1);
                    if byte == quote {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Refusal> {
        match (self.peek(1), self.peek(2)) {
            (Some(b'u'), Some(b'{')) => self.code(),
            (Some(b'z'), _) => {
                self.copy(2);
                while self.peek(0).is_some_and(|byte| matches!(byte, b' ' | b'\t'..=b'\r')) {
                    self.copy(1);
                }
                Ok(())
            }
            (Some(b'\r'), Some(b'\n')) | (Some(b'\n'), Some(b'\r')) => {
                self.copy(3);
                Ok(())
            }
            _ => {
                self.copy(2);
                Ok(())
            }
        }
    }

    fn code(&mut self) -> Result<(), Refusal> {
        let rest = self.source.get(self.at + 3..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits == 0 || rest.get(digits) != Some(&b'}') {
            // The lexer says what is wrong.
            self.copy(3 + digits);
            return Ok(());
        }
        let code = rest.iter().take(digits).fold(0_u64, |code, digit| {
            let digit = char::from(*digit).to_digit(16).unwrap_or(0);
            (code << 4 | u64::from(digit)).min(TOO_LARGE)
        });
        if code >= TOO_LARGE {
            let line = self.source.get(..self.at).unwrap_or_default();
            let line = 1 + memchr::memchr_iter(b'\n', line).count();
            let reason = "UTF-8 value too large in \\u{…}, it must be below 2^31".to_owned();
            return Err(Refusal {
                line: u32::try_from(line).unwrap_or(u32::MAX),
                reason,
                is_of_signs: false,
            });
        }
        for byte in crate::lua::bytes::utf8::encoded(code as u32) {
            self.out.extend_from_slice(format!("\\{byte:03}").as_bytes());
        }
        self.at += 3 + digits + 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(source: &str) -> String {
        match expand(source.as_bytes()) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(refusal) => format!("{}: {}", refusal.line, refusal.reason),
        }
    }

    #[test]
    fn codes_become_their_bytes_in_short_texts_only() {
        for (source, wanted) in [
            (r#""\u{41}\u{7FFFFFFF}""#, r#""\065\253\191\191\191\191\191""#),
            (r"'\u{D800}\\u{41}'", r"'\237\160\128\\u{41}'"),
            (r"'\'\u{41}'", r"'\'\065'"),
            (
                "x = [==[\\u{41}]==] -- '\\u{41}\n--[[\\u{41}]] y",
                "x = [==[\\u{41}]==] -- '\\u{41}\n--[[\\u{41}]] y",
            ),
            ("'\\z\n  \\u{41}'", "'\\z\n  \\065'"),
            (r"'\u{}' '\u{4' '\u{'", r"'\u{}' '\u{4' '\u{'"),
        ] {
            assert_eq!(expanded(source), wanted, "{source}");
        }
        let refused = expanded("\n'\\u{80000000}'");
        assert!(refused.starts_with("2: UTF-8 value too large"), "{refused}");
        assert!(expanded("'\\u{100000041}'").starts_with("1: UTF-8 value too large"));
    }
}
