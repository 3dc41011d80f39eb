//! What was acknowledged, on a file: written before it is counted, so that
//! whoever dies in between has not forgotten it.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Write},
    path::Path,
};

/// Bytes of an ID.
const WIDTH: usize = 8;

/// The ledger of one sender.
#[derive(Debug)]
pub(crate) struct Ledger(File);

impl Ledger {
    /// Goes on where the file ends.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(File::options().create(true).append(true).open(path)?))
    }

    pub(crate) fn write(&mut self, id: u64) -> io::Result<()> {
        self.0.write_all(&id.to_le_bytes())
    }

    /// All IDs of a file; none when it is not there.
    pub(crate) fn read(path: &Path) -> io::Result<HashSet<u64>> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let (ids, _) = bytes.as_chunks::<WIDTH>();
        Ok(ids.iter().copied().map(u64::from_le_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_and_a_ledger_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        assert!(Ledger::read(&path).expect("nothing yet").is_empty());
        for id in [7, 1 << 40] {
            Ledger::open(&path).expect("opened").write(id).expect("written");
        }
        assert_eq!(Ledger::read(&path).expect("read"), HashSet::from([7, 1 << 40]));
    }
}
