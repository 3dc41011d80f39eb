//! The data folder: which files belong together, and which the first start makes.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use webhook_storage::{DatabaseUrl, SecretKey, Storage, StorageOptions};

use crate::{config::StorageConfig, failure::Failure, node};

/// How to open the database. Makes the folder and the secret key when this is a first start.
///
/// # Errors
/// When a part of what belongs together is missing: to go on without it would hide
/// what is lost, or seal the rest with another key. Nothing is made then.
pub(crate) async fn open(config: &StorageConfig) -> Result<StorageOptions, Failure> {
    let folder = &config.data_dir;
    create_private(folder).map_err(|error| {
        Failure::io(format!("cannot make the data folder {}", folder.display()), error)
    })?;
    let url = match &config.database_url {
        Some(url) => url.clone(),
        None => DatabaseUrl::Sqlite(folder.join("webhooks.db")),
    };
    expect_database(folder, &url).await?;
    let key = match &config.secret_key {
        Some(key) => key.clone(),
        None => secret_key(folder.join("secret.key"), &url).await?,
    };
    let mut options = StorageOptions::new(url, key);
    options.check_timeout = config.database_check_timeout;
    options.sqlite_thread = config.sqlite_thread;
    Ok(options)
}

/// Refuses to begin with an empty file of SQLite where a server has run before.
///
/// A server writes its name after the database. A folder without a name is one of a first
/// start, also of one that was interrupted, or that the operator laid a key into.
async fn expect_database(folder: &Path, url: &DatabaseUrl) -> Result<(), Failure> {
    let (DatabaseUrl::Sqlite(path), Some(name)) = (url, node::file(folder)) else {
        return Ok(());
    };
    if Storage::was_opened(url).await? {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the database {} is missing or empty, though this server has run before: put it back \
         from a backup, or remove {} to begin with an empty one",
        path.display(),
        name.display(),
    )))
}

/// The key in the file, which is made unless the database was opened with another one.
async fn secret_key(path: PathBuf, url: &DatabaseUrl) -> Result<SecretKey, Failure> {
    let missing = path.metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if missing && Storage::was_opened(url).await? {
        return Err(Failure::new(format!(
            "{} is missing, and the secrets in the database {url} can be read with that key \
             only: put it back from a backup or set WEBHOOK_SECRET_KEY, or begin with an empty \
             database",
            path.display(),
        )));
    }
    Ok(SecretKey::load_or_create(path)?)
}

/// Makes a folder that only its owner may look into; one that is there stays as it is.
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
