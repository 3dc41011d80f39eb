//! Keeps webhooks and their configuration in SQLite or PostgreSQL.
//!
//! [`Storage`] implements every store trait of `webhook-core`. It is opened
//! with a URL and the key that encrypts secrets at rest:
//!
//! ```no_run
//! use webhook_core::store::Stores;
//! use webhook_storage::{SecretKey, Storage, StorageOptions};
//!
//! # async fn open() -> Result<(), webhook_core::Error> {
//! let key = SecretKey::load_or_create("data/secret.key")?;
//! let options = StorageOptions::new("sqlite://data/webhooks.db".parse()?, key);
//! let storage = Storage::connect(&options).await?;
//! let stores = Stores::of(storage.clone());
//! # let _ = stores;
//! storage.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! * A call that returns `Ok` has been synced to disk: SQLite runs with
//!   `synchronous=FULL`, PostgreSQL as its server is set up.
//! * Concurrent [`accept`], [`claim`], [`settle`], [`redeliver`], [`drain`],
//!   [`report`] and [`record_execution`] calls share commits; what functions left on the way
//!   of a webhook is in those of [`accept`] and [`settle`]. When more wait than [`StorageOptions`] allows, further ones
//!   fail at once.
//! * One process at a time opens a SQLite file, but for
//!   [`Storage::connect_beside`]; several nodes share PostgreSQL.
//! * Secrets are encrypted with AES-256-GCM; a key that is not the database's
//!   own is refused at [`Storage::connect`].
//! * Lists of logs read indexes from one end, totals and statistics running
//!   counts: with a million logs they take milliseconds. What changes in the
//!   counts is appended in the transaction that changes the logs, and added to
//!   them later by a transaction of its own; totals are exact all the while.
//!   [`purge`] removes a hundred logs in one commit, between those of everybody else; where
//!   PostgreSQL has tables for each day ([`Storage::divide_by_day`]) it drops those.
//! * An idle storage runs no queries.
//! * With [`StorageOptions::objects`] large bodies are objects, in a bucket of S3 for example,
//!   and are there before the commit. Without it nothing of that costs anything.
//!
//! [`accept`]: webhook_core::store::DeliveryStore::accept
//! [`claim`]: webhook_core::store::DeliveryStore::claim
//! [`settle`]: webhook_core::store::DeliveryStore::settle
//! [`redeliver`]: webhook_core::store::DeliveryStore::redeliver
//! [`drain`]: webhook_core::store::LogStore::drain
//! [`report`]: webhook_core::store::LogStore::report
//! [`purge`]: webhook_core::store::LogStore::purge
//! [`record_execution`]: webhook_core::store::FunctionStore::record_execution

#[cfg(not(any(feature = "sqlite", feature = "postgres")))]
compile_error!("webhook-storage needs the feature `sqlite` or `postgres`");

mod codec;
mod database;
#[cfg(feature = "postgres")]
mod days;
mod documents;
mod entity;
mod fault;
mod first_key;
mod fold;
mod listing;
mod locked;
mod members;
mod migration;
mod objects;
mod options;
#[cfg(feature = "s3")]
pub mod s3;
mod secret;
mod storage;
mod store;
mod tally;
mod tx;
mod writer;

pub use members::Member;
pub use objects::{ObjectError, ObjectOptions, ObjectStore};
pub use options::{DatabaseUrl, StorageOptions};
pub use secret::SecretKey;
pub use storage::Storage;
pub use writer::WriteStats;
