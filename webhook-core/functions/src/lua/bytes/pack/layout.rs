//! The options of a pack format, read one by one.

use super::super::error::Error;

/// The widest integer and the widest alignment.
const MAX_INTEGER: usize = 16;

const NATIVE_ALIGNMENT: usize = 8;

/// What an option stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Signed,
    Unsigned,
    Float,
    Double,
    /// `c`: a string of just this size.
    Fixed,
    /// `s`: a string behind its length.
    Counted,
    /// `z`: a string with a zero behind it.
    ZeroEnded,
    /// `x`: one byte of padding.
    Pad,
    /// `X`, which aligns, and what only changes the layout.
    Nothing,
}

/// One option and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opt {
    pub(super) kind: Kind,
    /// Bytes that it takes, of a counted string those of the length.
    pub(super) size: usize,
    /// Bytes before it, for its alignment.
    pub(super) padding: usize,
    pub(super) little: bool,
}

/// Reads a format.
#[derive(Debug)]
pub(super) struct Layout<'f> {
    rest: &'f [u8],
    function: &'static str,
    little: bool,
    max_alignment: usize,
}

impl<'f> Layout<'f> {
    pub(super) const fn new(format: &'f [u8], function: &'static str) -> Self {
        Self { rest: format, function, little: true, max_alignment: 1 }
    }

    /// The next option of a format of which the options so far take `offset` bytes.
    pub(super) fn next(&mut self, offset: usize) -> Result<Option<Opt>, Error> {
        let Some((kind, size, aligns)) = self.read()? else { return Ok(None) };
        let mut alignment = size;
        if aligns {
            // `X` stands before the option that it aligns for.
            match self.read()? {
                Some((kind, size, false)) if kind != Kind::Fixed && size > 0 => alignment = size,
                _ => {
                    return Err(self.wrong("invalid next option for option 'X'"));
                }
            }
        }
        let mut padding = 0;
        if alignment > 1 && kind != Kind::Fixed {
            let alignment = alignment.min(self.max_alignment);
            if !alignment.is_power_of_two() {
                return Err(self.wrong("format asks for alignment not power of 2"));
            }
            padding = offset.wrapping_neg() & (alignment - 1);
        }
        Ok(Some(Opt { kind, size, padding, little: self.little }))
    }

    fn wrong(&self, message: &'static str) -> Error {
        Error::argument(self.function, 1, message)
    }

    /// The next option's kind, its size, and whether it is an `X`.
    fn read(&mut self) -> Result<Option<(Kind, usize, bool)>, Error> {
        let Some((&letter, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        let (kind, size) = match letter {
            b'b' => (Kind::Signed, 1),
            b'B' => (Kind::Unsigned, 1),
            b'h' => (Kind::Signed, 2),
            b'H' => (Kind::Unsigned, 2),
            b'l' | b'j' => (Kind::Signed, 8),
            b'L' | b'J' | b'T' => (Kind::Unsigned, 8),
            b'i' => (Kind::Signed, self.integer_size(4)?),
            b'I' => (Kind::Unsigned, self.integer_size(4)?),
            b'f' => (Kind::Float, 4),
            b'd' | b'n' => (Kind::Double, 8),
            b's' => (Kind::Counted, self.integer_size(8)?),
            b'c' => {
                let size = self
                    .number()
                    .ok_or_else(|| Error::message("missing size for format option 'c'"))?;
                (Kind::Fixed, size)
            }
            b'z' => (Kind::ZeroEnded, 0),
            b'x' => (Kind::Pad, 1),
            b'X' => return Ok(Some((Kind::Nothing, 0, true))),
            b' ' => (Kind::Nothing, 0),
            b'<' | b'=' | b'>' => {
                self.little = letter != b'>';
                (Kind::Nothing, 0)
            }
            b'!' => {
                self.max_alignment = self.integer_size(NATIVE_ALIGNMENT)?;
                (Kind::Nothing, 0)
            }
            other => {
                let shown = String::from_utf8_lossy(&[other]).into_owned();
                return Err(Error::message(format!("invalid format option '{shown}'")));
            }
        };
        Ok(Some((kind, size, false)))
    }

    /// The number at this place; reading stops before it could overflow, as in Lua, and its rest is then no option.
    fn number(&mut self) -> Option<usize> {
        const LAST_TO_GROW: usize = (i32::MAX as usize - 9) / 10;
        let mut value = None;
        while let Some((digit @ b'0'..=b'9', rest)) = self.rest.split_first() {
            let so_far = value.unwrap_or(0);
            if so_far > LAST_TO_GROW {
                break;
            }
            value = Some(so_far * 10 + usize::from(digit - b'0'));
            self.rest = rest;
        }
        value
    }

    fn integer_size(&mut self, default: usize) -> Result<usize, Error> {
        let size = self.number().unwrap_or(default);
        if (1..=MAX_INTEGER).contains(&size) {
            return Ok(size);
        }
        Err(Error::message(format!("integral size ({size}) out of limits [1,{MAX_INTEGER}]")))
    }
}
