//! What one start tells the next about the first account's API key.

use webhook_core::{Error, model::Secret};

use crate::{Storage, entity::meta, fault::About};

/// In the table `meta`: that the key is still to be shown.
const UNSHOWN_NAME: &str = "api_key_unshown";
/// Beside it: the keyed hash of the key that the operator chose last.
const APPLIED_NAME: &str = "api_key_applied";

impl Storage {
    /// Keeps in mind whether the first account's API key is still to be shown to the
    /// operator, so that a start that ends early takes it from nobody.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the database does not answer.
    pub async fn set_api_key_unshown(&self, unshown: bool) -> Result<(), Error> {
        let write = &self.database().write;
        let done = match unshown {
            true => meta::add(write, UNSHOWN_NAME, Vec::new()).await,
            false => meta::remove(write, UNSHOWN_NAME).await,
        };
        done.about("database")
    }

    /// What [`set_api_key_unshown`](Self::set_api_key_unshown) was told last; at first, that it
    /// is not.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the database does not answer.
    pub async fn is_api_key_unshown(&self) -> Result<bool, Error> {
        let row = meta::get(&self.database().write, UNSHOWN_NAME).await;
        row.map(|row| row.is_some()).about("database")
    }

    /// Keeps in mind that the operator's choice of the first account's API key was put into
    /// force. Of the key a keyed hash is kept.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the database does not answer.
    pub async fn set_api_key_applied(&self, chosen: &Secret) -> Result<(), Error> {
        let hash = self.vault().lookup_hash(chosen.expose());
        meta::set(&self.database().write, APPLIED_NAME, hash).await.about("database")
    }

    /// Whether this is what [`set_api_key_applied`](Self::set_api_key_applied) was told last.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the database does not answer.
    pub async fn is_api_key_applied(&self, chosen: &Secret) -> Result<bool, Error> {
        let row = meta::get(&self.database().write, APPLIED_NAME).await.about("database")?;
        Ok(row.is_some_and(|value| value == self.vault().lookup_hash(chosen.expose())))
    }
}
