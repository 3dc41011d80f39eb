//! Texts that end when they grow too long.

use std::{fmt, io};

use super::ModuleError;

/// A text of at most so many bytes. What would make it longer is refused, and
/// so is everything after that.
#[derive(Debug)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    longest: usize,
    refused: bool,
}

impl Output {
    pub(crate) const fn of_at_most(longest: usize) -> Self {
        Self { bytes: Vec::new(), longest, refused: false }
    }

    /// How many bytes there are.
    #[cfg(any(feature = "js", test))]
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), ModuleError> {
        self.refused |= bytes.len() > self.longest.saturating_sub(self.bytes.len());
        if self.refused {
            return Err(ModuleError::TooLong);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends a value as JSON.
    pub(crate) fn push_json(
        &mut self,
        value: &(impl serde::Serialize + ?Sized),
    ) -> Result<(), ModuleError> {
        // Plain values are always written, but for what is too long.
        serde_json::to_writer(self, value).map_err(|_| ModuleError::TooLong)
    }

    /// What was written, unless some of it was refused.
    pub(crate) fn finish(self) -> Result<Vec<u8>, ModuleError> {
        if self.refused { Err(ModuleError::TooLong) } else { Ok(self.bytes) }
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_refused_for_good() {
        let mut output = Output::of_at_most(5);
        assert_eq!(output.push(b"abc"), Ok(()));
        assert_eq!(output.push_json("x"), Err(ModuleError::TooLong));
        assert_eq!(output.push(b"d"), Err(ModuleError::TooLong));
        assert_eq!(output.finish(), Err(ModuleError::TooLong));
        let mut output = Output::of_at_most(5);
        assert_eq!((output.push_json("abc"), output.len()), (Ok(()), 5));
        assert_eq!(output.finish(), Ok(b"\"abc\"".to_vec()));
    }
}
