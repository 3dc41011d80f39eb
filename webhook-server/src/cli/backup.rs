//! `backup` and `restore`: a copy of what a server keeps in SQLite, and back (`docs/backup.md`).

use std::{
    fs,
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use webhook_storage::{DatabaseUrl, SecretKey, Storage, StorageOptions};

use crate::{
    config::StorageConfig,
    failure::Failure,
    print::print,
    service::{data_folder, node},
};

/// What the copy of the database is called in a backup, whatever it is called elsewhere.
const DATABASE: &str = "webhooks.db";
/// The logs of SQLite beside a database.
const LOGS: [&str; 2] = ["-wal", "-shm"];

/// Copies what a server keeps, which may be running.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Backup {
    /// A folder for the copy; made when it is missing, and empty otherwise.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Leaves the secret key out, which is then to be kept elsewhere: whoever has both can read
    /// the secrets.
    #[arg(long)]
    without_key: bool,
}

/// Puts a backup where a server finds it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Restore {
    /// The folder of the backup, which stays as it is.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// `backup`
pub(crate) async fn back_up(options: Backup, config: &StorageConfig) -> Result<(), Failure> {
    let Backup { folder, without_key } = options;
    let url = data_folder::database_url(config);
    if matches!(url, DatabaseUrl::Postgres(_)) {
        return Err(Failure::new(format!(
            "the database {url} is copied with pg_dump; the secret key is in {} unless \
             WEBHOOK_SECRET_KEY is set",
            data_folder::key_file(&config.data_dir).display(),
        )));
    }
    let failed = |error| Failure::io(format!("cannot use {}", folder.display()), error);
    data_folder::create_private(&folder).map_err(failed)?;
    if fs::read_dir(&folder).map_err(failed)?.next().is_some() {
        return Err(Failure::new(format!("{} is not empty", folder.display())));
    }
    let database = folder.join(DATABASE);
    Storage::back_up(&url, &database).await?;
    let said = match &config.secret_key {
        Some(_) => "without the secret key, which is in WEBHOOK_SECRET_KEY: keep that as well",
        None if without_key => "without the secret key: keep secret.key of the data folder as well",
        None => {
            // The key last: a folder with a key is a whole backup.
            let key = data_folder::key_file(&config.data_dir);
            put(&read_key(&key)?, &data_folder::key_file(&folder))?;
            "with the secret key: whoever has it can read the secrets"
        }
    };
    fs::File::open(&folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    let bytes = database.metadata().map_or(0, |metadata| metadata.len());
    print(&format!("{}: {bytes} bytes, {said}\n", folder.display()))
}

/// `restore`
pub(crate) async fn restore(options: Restore, config: &StorageConfig) -> Result<(), Failure> {
    let Restore { folder } = options;
    let url = data_folder::database_url(config);
    let DatabaseUrl::Sqlite(target) = &url else {
        return Err(Failure::new(format!("the database {url} is restored with pg_restore")));
    };
    let source = folder.join(DATABASE);
    if !Storage::was_opened(&DatabaseUrl::Sqlite(source.clone())).await? {
        return Err(Failure::new(format!("{} has no backup", folder.display())));
    }
    let key_of_backup = data_folder::key_file(&folder);
    let text = match &config.secret_key {
        None if !key_of_backup.exists() => {
            let reason = "has no secret key: set WEBHOOK_SECRET_KEY to that of the backup";
            return Err(Failure::new(format!("{} {reason}", folder.display())));
        }
        None => Some(read_key(&key_of_backup)?),
        Some(_) => None,
    };
    let key_file = data_folder::key_file(&config.data_dir);
    if let Some(taken) = occupied(target, &key_file, &config.data_dir) {
        return Err(Failure::new(format!(
            "{} is there already: a backup is restored to a folder without a server's data, so \
             move that away",
            taken.display()
        )));
    }
    let failed = |error| Failure::io(format!("cannot write {}", target.display()), error);
    data_folder::create_private(&config.data_dir).map_err(failed)?;
    let made = Made { files: vec![target.clone(), key_file.clone()], keep: false };
    copy(&source, target).map_err(failed)?;
    let key = match (&config.secret_key, &text) {
        (Some(key), _) => key.clone(),
        (None, Some(text)) => {
            put(text, &key_file)?;
            text.parse()?
        }
        (None, None) => SecretKey::generate()?,
    };
    // Opened as a server does: the key fits, the file is whole, the schema becomes this version's.
    let mut options = StorageOptions::new(url.clone(), key);
    options.check_timeout = config.database_check_timeout;
    Storage::connect(&options).await?.close().await;
    made.keep();
    print(&format!("{} is restored to {}\n", folder.display(), target.display()))
}

/// Files that go again unless all of it succeeds.
struct Made {
    files: Vec<PathBuf>,
    keep: bool,
}

impl Made {
    fn keep(mut self) {
        self.keep = true;
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        for file in &self.files {
            let _ = fs::remove_file(file);
            for log in LOGS {
                let _ = fs::remove_file(beside(file, log));
            }
        }
    }
}

/// What of a server's data is there already.
fn occupied(target: &Path, key_file: &Path, folder: &Path) -> Option<PathBuf> {
    let has_data = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() > 0);
    let logs = LOGS.map(|log| beside(target, log));
    let files = [target.to_owned(), key_file.to_owned()].into_iter().chain(logs);
    files.chain(node::file(folder)).find(has_data)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(ending);
    name.into()
}

fn read_key(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::io(format!("cannot read {}", path.display()), error);
    let text = fs::read_to_string(path).map_err(failed)?;
    let key = text.parse::<SecretKey>();
    key.map(|_| text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// A new file for its owner alone, on the disk.
fn put(text: &str, path: &Path) -> Result<(), Failure> {
    let made = new_file(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    made.map_err(|error| Failure::io(format!("cannot write {}", path.display()), error))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    // An empty one is as good as none.
    match fs::remove_file(to) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = new_file(to)?;
    std::io::copy(&mut fs::File::open(from)?, &mut file)?;
    file.sync_all()
}

fn new_file(path: &Path) -> std::io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
