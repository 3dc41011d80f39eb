//! The ledger of a sender: a file with one entry for each webhook that is sent and for each
//! acknowledgement, in the order of time. An entry is written before the sender counts it, so
//! that a sender that dies has forgotten nothing.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use crate::content::Content;

/// Bytes of an ID.
const ID: usize = size_of::<u64>();
/// Bytes of an entry: its kind, its ID and its content.
const WIDTH: usize = 1 + ID + Content::BYTES;

/// One line of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A webhook is about to be sent.
    Sent(u64, Content),
    /// Its sender has the whole 2xx.
    Acknowledged(u64),
}

impl Entry {
    fn to_bytes(self) -> [u8; WIDTH] {
        let (kind, id, content) = match self {
            Self::Sent(id, content) => (0, id, content.to_bytes()),
            Self::Acknowledged(id) => (1, id, [0; Content::BYTES]),
        };
        let mut bytes = [kind; WIDTH];
        bytes[1..=ID].copy_from_slice(&id.to_le_bytes());
        bytes[1 + ID..].copy_from_slice(&content);
        bytes
    }

    fn from_bytes(bytes: &[u8; WIDTH]) -> Self {
        let mut id = [0; ID];
        id.copy_from_slice(&bytes[1..=ID]);
        let mut content = [0; Content::BYTES];
        content.copy_from_slice(&bytes[1 + ID..]);
        let id = u64::from_le_bytes(id);
        match bytes[0] {
            0 => Self::Sent(id, Content::from_bytes(&content)),
            _ => Self::Acknowledged(id),
        }
    }
}

/// The ledger of one sender.
#[derive(Debug)]
pub(crate) struct Ledger(File);

impl Ledger {
    /// Goes on where the file ends.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(File::options().create(true).append(true).open(path)?))
    }

    pub(crate) fn write(&mut self, entry: Entry) -> io::Result<()> {
        self.0.write_all(&entry.to_bytes())
    }

    /// Reads the entries of a file after the first `known`. A file that is missing has none.
    pub(crate) fn read(path: &Path, known: usize) -> io::Result<Vec<Entry>> {
        let mut file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        file.seek(SeekFrom::Start((known * WIDTH) as u64))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (entries, _) = bytes.as_chunks::<WIDTH>();
        Ok(entries.iter().map(Entry::from_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_and_a_ledger_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        assert!(Ledger::read(&path, 0).expect("nothing yet").is_empty());
        let content = Content::of("POST", "/a", std::iter::empty(), b"body");
        let entries = [Entry::Sent(7, content), Entry::Acknowledged(1 << 40)];
        for entry in entries {
            Ledger::open(&path).expect("opened").write(entry).expect("written");
        }
        assert_eq!(Ledger::read(&path, 0).expect("read"), entries);
        assert_eq!(Ledger::read(&path, 1).expect("read"), entries[1..]);
    }
}
