//! A file system for SQLite that writes what a transaction adds to the
//! write-ahead log at once.
//!
//! SQLite writes each page of a transaction to its log with two system calls,
//! one for the page and one for what goes before it. Where many small
//! transactions are committed, these calls are a good part of the time that it
//! takes. This file system is SQLite's own, except that pages of a log wait for
//! the last one of their transaction, 127 KiB at most, and are written together.
//!
//! Nothing else changes, and no promise of SQLite's does: pages wait only while
//! nobody else may read them. They are written before the log is synced, and
//! before others are told of the transaction. Both ends of a connection need not
//! agree: connections through this file system and through any other share
//! databases as they always do.
//!
//! ```
//! use rusqlite::{Connection, OpenFlags};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("my.db");
//! let connection =
//!     Connection::open_with_flags_and_vfs(path, OpenFlags::default(), sqlite_gather::vfs()?)?;
//! connection.pragma_update(None, "journal_mode", "WAL")?;
//! # Ok(())
//! # }
//! ```

mod gathered;
mod vfs;

use std::ffi::CStr;

const NAME: &CStr = c"gather";

/// The name of the file system, which SQLite knows from then on.
///
/// # Errors
///
/// When SQLite has no file system of its own for this platform, or cannot start.
pub fn vfs() -> rusqlite::Result<&'static CStr> {
    vfs::register()?;
    Ok(NAME)
}
