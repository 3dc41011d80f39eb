//! One process per SQLite file.

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use webhook_core::Error;

use crate::secret::private;

/// An exclusive lock on a file beside the database, held until it is released
/// or the process ends in whatever way. The file itself stays: were it removed,
/// two processes could each lock one of that name.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    pub(super) fn acquire(database: &Path) -> Result<Self, Error> {
        let mut path = database.as_os_str().to_os_string();
        path.push(".lock");
        let path = PathBuf::from(path);

        let cannot = |error: io::Error| {
            Error::invalid("database url", format!("cannot lock {}: {error}", path.display()))
                .caused_by(error)
        };
        let file = private()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path }),
            Err(TryLockError::WouldBlock) => Err(Error::conflict(format!(
                "the database {} is open in another process (it holds {})",
                database.display(),
                path.display(),
            ))),
            Err(TryLockError::Error(error)) => Err(cannot(error)),
        }
    }

    pub(super) fn release(&self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(path = %self.path.display(), %error, "unlocking failed");
        }
    }
}
