//! A consistent copy of a SQLite file, made beside whoever has it open.

use std::{fs, io, path::Path, time::Duration};

use webhook_core::Error;

use super::look;
use crate::secret::private;

/// Copies the database at `from` to a new file at `to`, as it is at one moment, and checks the
/// copy. It takes no lock that a writer would wait for. The copy appears whole or not at all.
pub(crate) fn back_up(from: &Path, to: &Path, busy_timeout: Duration) -> Result<(), Error> {
    if to.exists() {
        return Err(Error::conflict(format!("{} is there already", to.display())));
    }
    if !look::is_sealed(from, busy_timeout)? {
        return Err(Error::invalid("database", format!("there is none at {}", from.display())));
    }
    let mut draft = to.as_os_str().to_os_string();
    draft.push(".new");
    let draft = Path::new(&draft);
    let copied = copy(from, draft, busy_timeout).and_then(|()| {
        let renamed = fs::rename(draft, to).and_then(|()| sync_folder(to));
        renamed.map_err(|error| file_error(to, error))
    });
    if copied.is_err() {
        // What is left of it is of no use; the error that matters is the first one.
        let _ = fs::remove_file(draft);
    }
    copied
}

fn copy(from: &Path, to: &Path, busy_timeout: Duration) -> Result<(), Error> {
    // Made here, because SQLite would make it for everybody to read.
    let made = private().write(true).create_new(true).open(to);
    let file = made.map_err(|error| file_error(to, error))?;
    let Some(name) = to.to_str() else {
        return Err(Error::invalid("backup", format!("{} is no text", to.display())));
    };
    let copied = look::open(from, busy_timeout)
        .and_then(|connection| connection.execute("VACUUM INTO ?", [name]));
    copied.map_err(|error| look::explain(from, error))?;
    // SQLite syncs what it commits, and not a file that is not used yet.
    file.sync_all().map_err(|error| file_error(to, error))?;
    let checked = look::open(to, busy_timeout).and_then(|connection| {
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    });
    match checked {
        Ok(fine) if fine == "ok" => Ok(()),
        Ok(finding) => Err(look::damaged(to, &finding)),
        Err(error) => Err(look::explain(to, error)),
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::File::open(folder)?.sync_all()
}

fn file_error(path: &Path, error: io::Error) -> Error {
    let reason = format!("cannot write {}: {error}", path.display());
    Error::invalid("backup", reason).caused_by(error)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::{DatabaseUrl, SecretKey, Storage, StorageOptions};

    #[tokio::test]
    async fn an_open_database_is_copied_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from.db"), folder.path().join("to.db"));
        let url = DatabaseUrl::Sqlite(from.clone());
        let key = SecretKey::generate().expect("a key");
        let options = StorageOptions::new(url.clone(), key.clone());
        let none = Storage::back_up(&url, &to).await.expect_err("there is no database");
        assert!(none.to_string().contains("there is none at"), "{none}");
        let storage = Storage::connect(&options).await.expect("it opens");
        storage.set_api_key_unshown(true).await.expect("written");
        Storage::back_up(&url, &to).await.expect("it is copied");
        let mode = to.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = Storage::back_up(&url, &to).await.expect_err("it is there already");
        assert_eq!(again.kind(), webhook_core::ErrorKind::Conflict);
        storage.close().await;

        let options = StorageOptions::new(DatabaseUrl::Sqlite(to), key);
        let copy = Storage::connect(&options).await.expect("the copy opens with the same key");
        assert!(copy.is_api_key_unshown().await.expect("read"));
        copy.close().await;
        let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").flatten().collect();
        assert!(left.iter().all(|entry| !entry.path().to_string_lossy().ends_with(".new")));
    }
}
