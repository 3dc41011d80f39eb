//! Which writes to a log wait for each other.

/// What is before each page in a log (file format, section 4.1): four bytes of
/// the page's number, then four of the size of the database if the page is the
/// last of a transaction, else zero.
const FRAME_HEADER: usize = 24;

/// Consecutive bytes of a log that are not in the file yet.
#[derive(Debug)]
pub(crate) struct Gathered {
    bytes: Vec<u8>,
    capacity: usize,
    at: i64,
    /// What comes next is the end of the transaction.
    commits: bool,
}

/// What becomes of something that was to be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It waits.
    Wait,
    /// It has joined what waited, all of which is to be written now.
    Write,
    /// What waited is to be written now, and then this.
    WriteThrough,
}

impl Gathered {
    /// Never holds more than `capacity` bytes.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), capacity, at: 0, commits: false }
    }

    /// What is to be done with `data` for the offset `at`.
    ///
    /// The page that ends a transaction never waits: from then on others may
    /// read it.
    pub(crate) fn add(&mut self, data: &[u8], at: i64) -> Next {
        let waits = !self.bytes.is_empty();
        let follows = waits && self.end() == Some(at);
        let fits = self.bytes.len() + data.len() <= self.capacity;
        let begins = !waits && is_header(data) && !commits(data);
        if !fits || !(follows || begins) {
            return Next::WriteThrough;
        }
        if begins {
            self.at = at;
        }
        self.bytes.extend_from_slice(data);
        if self.commits {
            return Next::Write;
        }
        self.commits = is_header(data) && commits(data);
        Next::Wait
    }

    /// What waits, and its offset.
    pub(crate) fn waiting(&self) -> Option<(&[u8], i64)> {
        (!self.bytes.is_empty()).then_some((&self.bytes, self.at))
    }

    /// Forgets what has been written, or could not be.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.commits = false;
    }

    fn end(&self) -> Option<i64> {
        self.at.checked_add(self.bytes.len().try_into().ok()?)
    }
}

/// Pages have 512 bytes at least, and the log's own header has 32.
fn is_header(data: &[u8]) -> bool {
    data.len() == FRAME_HEADER
}

fn commits(header: &[u8]) -> bool {
    header.get(4..8).is_some_and(|size| size != [0; 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: [u8; 512] = [7; 512];

    fn header(size: u8) -> [u8; FRAME_HEADER] {
        let mut header = [9; FRAME_HEADER];
        header[4..8].copy_from_slice(&[0, 0, 0, size]);
        header
    }

    /// What becomes of a page and of what goes before it.
    fn add_frame(gathered: &mut Gathered, size: u8, at: i64) -> [Next; 2] {
        let header = gathered.add(&header(size), at);
        [header, gathered.add(&PAGE, at + FRAME_HEADER as i64)]
    }

    #[test]
    fn a_transaction_waits_for_its_end() {
        let mut gathered = Gathered::with_capacity(4_096);
        assert_eq!(add_frame(&mut gathered, 0, 32), [Next::Wait, Next::Wait]);
        assert_eq!(add_frame(&mut gathered, 2, 568), [Next::Wait, Next::Write]);
        let all = [&header(0)[..], &PAGE, &header(2), &PAGE].concat();
        assert_eq!(gathered.waiting(), Some((&all[..], 32)));
        gathered.clear();
        assert_eq!(gathered.waiting(), None);
        let next = add_frame(&mut gathered, 0, 1_104);
        assert_eq!(next, [Next::Wait, Next::Wait], "this one does not end it");
    }

    #[test]
    fn a_transaction_of_one_page_does_not_wait() {
        let mut gathered = Gathered::with_capacity(4_096);
        assert_eq!(add_frame(&mut gathered, 1, 32), [Next::WriteThrough, Next::WriteThrough]);
        assert_eq!(gathered.waiting(), None);
    }

    /// SQLite writes pages of a transaction anew, and then the headers of what follows.
    #[test]
    fn what_is_written_elsewhere_comes_after_what_waits() {
        let mut gathered = Gathered::with_capacity(4_096);
        assert_eq!(gathered.add(&[1; 32], 0), Next::WriteThrough, "the log's own header");
        assert_eq!(gathered.add(&header(0), 32), Next::Wait);
        assert_eq!(gathered.add(&PAGE, 9_000), Next::WriteThrough);
        gathered.clear();
        assert_eq!(gathered.add(&header(0), 32), Next::Wait);
        assert_eq!(gathered.add(&header(3), 568), Next::WriteThrough, "the last of them");
    }

    #[test]
    fn what_waits_is_bounded_whether_or_not_it_ends_a_transaction() {
        for size in [0, 2] {
            let mut gathered = Gathered::with_capacity(560);
            assert_eq!(add_frame(&mut gathered, 0, 32), [Next::Wait, Next::Wait]);
            assert_eq!(add_frame(&mut gathered, size, 568), [Next::Wait, Next::WriteThrough]);
            gathered.clear();
            // A page whose header was written already.
            assert_eq!(gathered.add(&PAGE, 592), Next::WriteThrough);
            assert_eq!(add_frame(&mut gathered, 0, 1_104), [Next::Wait, Next::Wait]);
        }
    }
}
