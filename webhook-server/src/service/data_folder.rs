//! The data folder: which files belong together, and which the first start makes.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use webhook_storage::{DatabaseUrl, SecretKey, Storage, StorageOptions};

use crate::{config::StorageConfig, failure::Failure, service::node};

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
    let url = database_url(config);
    expect_database(folder, &url).await?;
    let key = match &config.secret_key {
        Some(key) => key.clone(),
        None => secret_key(key_file(folder), &url).await?,
    };
    let mut options = StorageOptions::new(url, key);
    options.check_timeout = config.database_check_timeout;
    options.sqlite_thread = config.sqlite_thread;
    options.writers = config.database_writers as usize;
    options.write_connections = config.database_write_connections;
    options.read_connections = config.database_read_connections;
    options.route_connections = config.database_route_connections;
    options.search_connections = config.database_search_connections;
    options.connection_timeout = config.database_connection_timeout;
    Ok(options)
}

/// Which database: the one that was asked for, or the file in the data folder.
pub(crate) fn database_url(config: &StorageConfig) -> DatabaseUrl {
    match &config.database_url {
        Some(url) => url.clone(),
        None => DatabaseUrl::Sqlite(config.data_dir.join("webhooks.db")),
    }
}

/// Where the secret key is, unless an option holds it.
pub(crate) fn key_file(folder: &Path) -> PathBuf {
    folder.join("secret.key")
}

/// What would keep [`open`] from opening the database. It makes and changes nothing.
///
/// # Errors
/// As those of [`open`]; also when the folder cannot be made or written to.
pub(crate) async fn check(config: &StorageConfig) -> Result<(), Failure> {
    let folder = &config.data_dir;
    writable(folder)?;
    let url = database_url(config);
    expect_database(folder, &url).await?;
    let was_opened = Storage::was_opened(&url).await?;
    let path = key_file(folder);
    if config.secret_key.is_some() {
        return Ok(());
    }
    match std::fs::read_to_string(&path) {
        Ok(text) => text
            .parse::<SecretKey>()
            .map(|_| ())
            .map_err(|error| Failure::new(format!("{}: {error}", path.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound && !was_opened => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(key_is_missing(&path, &url)),
        Err(error) => Err(Failure::io(format!("cannot read {}", path.display()), error)),
    }
}

/// Whether files can be made in the folder, or in the first one above it that is there.
fn writable(folder: &Path) -> Result<(), Failure> {
    let there = folder.ancestors().find(|folder| folder.exists());
    let there = there.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !there.is_dir() {
        return Err(Failure::new(format!("{} is not a folder", there.display())));
    }
    let probe = there.join(format!(".webhook-server.{}.probe", std::process::id()));
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&probe);
    made.and_then(|_| std::fs::remove_file(&probe))
        .map_err(|error| Failure::io(format!("cannot write to {}", there.display()), error))
}

fn key_is_missing(path: &Path, url: &DatabaseUrl) -> Failure {
    Failure::new(format!(
        "{} is missing, and the secrets in the database {url} can be read with that key only: put \
         it back from a backup or set WEBHOOK_SECRET_KEY, or begin with an empty database",
        path.display(),
    ))
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
        return Err(key_is_missing(&path, url));
    }
    Ok(SecretKey::load_or_create(path)?)
}

/// Makes a folder that only its owner may look into; one that is there stays as it is.
pub(crate) fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
