//! The key that encrypts secrets at rest, and the file it is kept in.

use std::{
    fmt, fs,
    io::{self, Write},
    path::Path,
    str::FromStr,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::{
    hkdf,
    rand::{SecureRandom, SystemRandom},
};
use webhook_core::Error;

const LENGTH: usize = 32;

/// 32 random bytes, written as base64 text, under which [`Storage`](crate::Storage)
/// keeps API keys, passwords, tokens, variables and signing secrets.
///
/// The bytes are never used as they are: each purpose has its own key, derived
/// by HKDF-SHA-256. Neither `Debug` nor an error shows them.
///
/// ```
/// use webhook_storage::SecretKey;
///
/// let key: SecretKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".parse()?;
/// assert_eq!(format!("{key:?}"), "SecretKey(…)");
/// assert!("too short".parse::<SecretKey>().is_err());
/// # Ok::<(), webhook_core::Error>(())
/// ```
#[derive(Clone)]
pub struct SecretKey {
    bytes: [u8; LENGTH],
}

impl SecretKey {
    /// A new random key.
    ///
    /// # Errors
    /// The system has no randomness to give.
    pub fn generate() -> Result<Self, Error> {
        let mut bytes = [0; LENGTH];
        SystemRandom::new().fill(&mut bytes).map_err(|_| {
            Error::internal(io::Error::other("the system's source of randomness failed"))
        })?;
        Ok(Self { bytes })
    }

    /// The key in the file at `path`, which is made with a new key when there is none.
    ///
    /// The file appears whole or not at all, readable by its owner only, and
    /// two processes that start at once end up with the same key. A file that
    /// is there is never written to.
    ///
    /// # Errors
    /// The file cannot be read or made, or does not hold a key.
    pub fn load_or_create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        loop {
            match fs::read_to_string(path) {
                Ok(text) => {
                    return text.parse().map_err(|error: Error| {
                        Error::new(error.kind(), format!("{}: {error}", path.display()))
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(file_error("read", path, error)),
            }
            let key = Self::generate()?;
            match key.create(path) {
                Ok(()) => return Ok(key),
                // Somebody else was faster: theirs is the key.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(file_error("create", path, error)),
            }
        }
    }

    /// Makes the file; one that is there is left alone and an error.
    fn create(&self, path: &Path) -> io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        #[allow(clippy::disallowed_methods, reason = "a name that no other draft has")]
        name.push(format!(".{}.new", uuid::Uuid::new_v4().simple()));
        let draft = folder.join(name);

        let made = (|| {
            let mut file = private().write(true).create_new(true).open(&draft)?;
            file.write_all(STANDARD.encode(self.bytes).as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            // Unlike a rename, a link never replaces a file that is there.
            fs::hard_link(&draft, path)
        })();
        let removed = fs::remove_file(&draft);
        made.and(removed)?;
        fs::File::open(folder)?.sync_all()
    }

    /// A key for a purpose outside of the stores, such as sealing sessions: 32 bytes
    /// that say nothing about this key or about those of other purposes.
    ///
    /// # Errors
    /// Deriving fails, which HKDF does for nothing but lengths out of bounds.
    pub fn derive_for(&self, purpose: &str) -> Result<[u8; LENGTH], Error> {
        self.expand(&[b"outside of webhook-storage: ", purpose.as_bytes()])
    }

    /// The key for one purpose.
    pub(super) fn derive(&self, purpose: &'static [u8]) -> Result<[u8; LENGTH], Error> {
        self.expand(&[purpose])
    }

    fn expand(&self, purpose: &[&[u8]]) -> Result<[u8; LENGTH], Error> {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"webhook-storage");
        let mut derived = [0; LENGTH];
        salt.extract(&self.bytes)
            .expand(purpose, hkdf::HKDF_SHA256)
            .and_then(|key| key.fill(&mut derived))
            .map_err(|_| Error::internal(io::Error::other("deriving a key failed")))?;
        Ok(derived)
    }
}

impl FromStr for SecretKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = STANDARD.decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(|bytes| Self { bytes })
            .ok_or_else(|| Error::invalid("secret key", "must be 32 bytes as base64 text"))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

/// Options for files that only their owner may read.
pub(crate) fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

fn file_error(verb: &str, path: &Path, error: io::Error) -> Error {
    Error::invalid("secret key", format!("cannot {verb} {}: {error}", path.display()))
        .caused_by(error)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_file_is_made_once_and_read_afterwards() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("secret.key");
        let made = SecretKey::load_or_create(&path)?;
        let read = SecretKey::load_or_create(&path)?;
        assert_eq!(made.bytes, read.bytes);
        assert_eq!(fs::read_dir(folder.path())?.count(), 1, "no draft is left behind");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
        }
        Ok(())
    }

    #[test]
    fn a_file_that_holds_no_key_is_refused_and_left_alone() -> Result<(), Box<dyn std::error::Error>>
    {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("secret.key");
        fs::write(&path, "c2hvcnQ=\n")?;
        let error = SecretKey::load_or_create(&path).expect_err("five bytes are no key");
        assert!(error.to_string().contains("32 bytes"), "{error}");
        assert!(!error.to_string().contains("c2hvcnQ="), "{error}");
        assert_eq!(fs::read_to_string(&path)?, "c2hvcnQ=\n");
        Ok(())
    }

    #[test]
    fn each_purpose_has_a_key_of_its_own() -> Result<(), Error> {
        let key = SecretKey { bytes: [1; LENGTH] };
        let derived = key.derive_for("sessions")?;
        assert_eq!(derived, key.derive_for("sessions")?);
        for other in [key.derive_for("session")?, key.derive(b"sessions")?, key.bytes] {
            assert_ne!(derived, other);
        }
        Ok(())
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = SecretKey::load_or_create("/nonexistent/secret.key").expect_err("no folder");
        assert!(error.to_string().contains("/nonexistent/secret.key"), "{error}");
    }

    #[test]
    fn processes_that_start_at_once_share_the_key() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("secret.key");
        let keys: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| SecretKey::load_or_create(&path))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let keys = keys.into_iter().collect::<Result<Vec<_>, _>>()?;
        assert!(keys.windows(2).all(|pair| pair[0].bytes == pair[1].bytes));
        Ok(())
    }
}
