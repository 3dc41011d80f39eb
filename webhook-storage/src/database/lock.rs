//! One process per SQLite file.

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::{Instant, sleep};
use webhook_core::Error;

use crate::secret::private;

/// How often a lock that another process holds is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// An exclusive lock on a file beside the database, held until it is released
/// or the process ends in whatever way. The file itself stays: were it removed,
/// two processes could each lock one of that name.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock. When another process holds it, waits for so long at most.
    pub(super) async fn acquire(database: &Path, patience: Duration) -> Result<Self, Error> {
        let deadline = Instant::now() + patience;
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
        let mut is_told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file, path }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    if !std::mem::replace(&mut is_told, true) {
                        tracing::info!(path = %path.display(), "waiting for another process");
                    }
                    sleep(PAUSE).await;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::conflict(format!(
                        "the database {} is open in another process (it holds {})",
                        database.display(),
                        path.display(),
                    )));
                }
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
        }
    }

    pub(super) fn release(&self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(path = %self.path.display(), %error, "unlocking failed");
        }
    }
}
