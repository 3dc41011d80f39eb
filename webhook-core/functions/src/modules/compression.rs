//! Compressed data in the formats of the web: gzip (RFC 1952), zlib (RFC 1950) and plain deflate
//! (RFC 1951).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Bounds, ModuleError};

/// How many bytes are made between two looks at the limits.
const STEP: usize = 64 << 10;
/// The largest window of deflate, as a power of two.
const WINDOW_BITS: u8 = 15;

/// A format, by the names of `CompressionStream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Zlib,
    Deflate,
}

impl Format {
    const ALL: [Self; 3] = [Self::Gzip, Self::Zlib, Self::Deflate];

    pub(crate) fn named(name: &str) -> Result<Self, ModuleError> {
        let named = Self::ALL.into_iter().find(|format| format.name() == name);
        named.ok_or_else(|| ModuleError::invalid("the format must be gzip, deflate or deflate-raw"))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zlib => "deflate",
            Self::Deflate => "deflate-raw",
        }
    }

    fn reader(self) -> Decompress {
        match self {
            Self::Gzip => Decompress::new_gzip(WINDOW_BITS),
            Self::Zlib => Decompress::new(true),
            Self::Deflate => Decompress::new(false),
        }
    }

    pub(crate) fn compress(
        self,
        data: &[u8],
        bounds: &mut Bounds,
        longest: usize,
    ) -> Result<Vec<u8>, ModuleError> {
        let level = Compression::default();
        let mut writer = match self {
            Self::Gzip => Compress::new_gzip(level, WINDOW_BITS),
            Self::Zlib => Compress::new(level, true),
            Self::Deflate => Compress::new(level, false),
        };
        let (mut made, mut rest) = (Vec::new(), data);
        loop {
            reserve(&mut made, bounds, longest)?;
            let (piece, flush) = match rest.len() {
                0..=STEP => (rest, FlushCompress::Finish),
                _ => (&rest[..STEP], FlushCompress::None),
            };
            let before = writer.total_in();
            let status = writer.compress_vec(piece, &mut made, flush);
            rest = &rest[taken(before, writer.total_in())..];
            check_length(&made, longest)?;
            match status {
                Ok(Status::StreamEnd) => return Ok(made),
                Ok(_) => {}
                Err(error) => return Err(ModuleError::invalid(error.to_string())),
            }
        }
    }

    /// Reads all of `data`: several members of gzip one after the other, and nothing behind them.
    pub(crate) fn decompress(
        self,
        data: &[u8],
        bounds: &mut Bounds,
        longest: usize,
    ) -> Result<Vec<u8>, ModuleError> {
        let wrong = |why: &str| ModuleError::invalid(format!("not {}: {why}", self.name()));
        let (mut reader, mut made, mut rest) = (self.reader(), Vec::new(), data);
        loop {
            reserve(&mut made, bounds, longest)?;
            let (before, had) = (reader.total_in(), made.len());
            let status = reader.decompress_vec(rest, &mut made, FlushDecompress::None);
            let read = taken(before, reader.total_in());
            rest = &rest[read..];
            check_length(&made, longest)?;
            match status {
                Ok(Status::StreamEnd) if rest.is_empty() => return Ok(made),
                Ok(Status::StreamEnd) if self == Self::Gzip => reader = self.reader(),
                Ok(Status::StreamEnd) => return Err(wrong("there is more behind its end")),
                Ok(_) if read == 0 && made.len() == had => return Err(wrong("its end is missing")),
                Ok(_) => {}
                Err(_) => return Err(wrong("the data is damaged")),
            }
        }
    }
}

/// Makes room for one step, within the limits.
fn reserve(made: &mut Vec<u8>, bounds: &mut Bounds, longest: usize) -> Result<(), ModuleError> {
    bounds.check_time()?;
    if made.len() == made.capacity() {
        let more = made.len().max(STEP.min(longest.saturating_add(1)));
        bounds.take(more)?;
        made.reserve_exact(more);
    }
    Ok(())
}

fn check_length(made: &[u8], longest: usize) -> Result<(), ModuleError> {
    if made.len() > longest { Err(ModuleError::TooLong) } else { Ok(()) }
}

fn taken(before: u64, after: u64) -> usize {
    usize::try_from(after.saturating_sub(before)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn roomy() -> Bounds {
        Bounds::of_memory(64 << 20)
    }

    fn read(format: Format, data: &[u8]) -> Result<Vec<u8>, ModuleError> {
        format.decompress(data, &mut roomy(), 8 << 20)
    }

    #[test]
    fn what_others_made_is_read() {
        // Of Python's `gzip.compress(b"hello", mtime=0)` and `zlib.compress(b"hello")`.
        let gzip = hex::decode("1f8b0800000000000203cb48cdc9c9070086a6103605000000");
        let zlib = hex::decode("789ccb48cdc9c90700062c0215").expect("hex");
        let gzip = gzip.expect("hex");
        assert_eq!(read(Format::Gzip, &gzip).as_deref(), Ok(&b"hello"[..]));
        assert_eq!(read(Format::Zlib, &zlib).as_deref(), Ok(&b"hello"[..]));
        assert_eq!(read(Format::Deflate, &zlib[2..9]).as_deref(), Ok(&b"hello"[..]));
        let twice = [&gzip[..], &gzip[..]].concat();
        assert_eq!(read(Format::Gzip, &twice).as_deref(), Ok(&b"hellohello"[..]));
    }

    #[test]
    fn what_is_cut_or_damaged_says_so() {
        for format in Format::ALL {
            let made = format.compress(b"hello hello", &mut roomy(), 1_000).expect("compressed");
            for length in 0..made.len() {
                let error = read(format, &made[..length]).expect_err("cut").to_string();
                assert_eq!(error, format!("not {}: its end is missing", format.name()));
            }
            assert!(read(format, &[&made[..], b"more"].concat()).is_err(), "{format:?}");
        }
        let error = read(Format::Gzip, b"plain text").expect_err("no gzip").to_string();
        assert_eq!(error, "not gzip: the data is damaged");
        assert!(Format::named("br").is_err());
    }

    #[test]
    fn the_limits_hold() {
        let zeros = vec![0; 1 << 20];
        let bomb = Format::Gzip.compress(&zeros, &mut roomy(), 8 << 20).expect("compressed");
        assert!(bomb.len() < 2_000);
        let within = Format::Gzip.decompress(&bomb, &mut roomy(), 1 << 20);
        assert_eq!(within.map(|made| made.len()), Ok(1 << 20));
        let too_long = Format::Gzip.decompress(&bomb, &mut roomy(), (1 << 20) - 1);
        assert_eq!(too_long, Err(ModuleError::TooLong));
        let mut little = Bounds::of_memory(500_000);
        assert_eq!(
            Format::Gzip.decompress(&bomb, &mut little, 8 << 20),
            Err(ModuleError::TooLarge)
        );
        let mut late = roomy().until(std::time::Instant::now());
        assert_eq!(Format::Gzip.compress(&zeros, &mut late, 8 << 20), Err(ModuleError::TooSlow));
    }

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(
            data in prop::collection::vec(any::<u8>(), 0..1_000),
            repeated in 1..200_usize,
        ) {
            let data = data.repeat(repeated);
            for format in Format::ALL {
                let made = format.compress(&data, &mut roomy(), 8 << 20).expect("compressed");
                let back = read(format, &made);
                prop_assert_eq!(back.as_deref(), Ok(&data[..]));
            }
        }

        #[test]
        fn any_bytes_are_looked_at(data in prop::collection::vec(any::<u8>(), 0..200)) {
            for format in Format::ALL {
                let _ = read(format, &data);
            }
        }
    }
}
