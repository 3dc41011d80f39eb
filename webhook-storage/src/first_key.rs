//! What one start tells the next about the first account's API key.

use sea_orm::EntityTrait;
use webhook_core::{Error, model::Secret};

use crate::{
    Storage,
    entity::meta,
    fault,
    tx::{Tx, with},
};

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
        let database = self.database();
        let (sql, values) = match unshown {
            true => (
                "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                vec![UNSHOWN_NAME.into(), Vec::new().into()],
            ),
            false => ("DELETE FROM meta WHERE name = ?", vec![UNSHOWN_NAME.into()]),
        };
        let done = Tx::execute(&database.write, with(sql, values)).await;
        done.map(|_| ()).map_err(|error| fault::error(error, "database"))
    }

    /// What [`set_api_key_unshown`](Self::set_api_key_unshown) was told last; at first, that it
    /// is not.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the database does not answer.
    pub async fn is_api_key_unshown(&self) -> Result<bool, Error> {
        let row = meta::Entity::find_by_id(UNSHOWN_NAME).one(&self.database().write).await;
        row.map(|row| row.is_some()).map_err(|error| fault::error(error, "database"))
    }

    /// Keeps in mind that the operator's choice of the first account's API key was put into
    /// force. Of the key a keyed hash is kept.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the database does not answer.
    pub async fn set_api_key_applied(&self, chosen: &Secret) -> Result<(), Error> {
        let sql = "INSERT INTO meta (name, value) VALUES (?, ?) \
            ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        let hash = self.vault().lookup_hash(chosen.expose());
        let values = [APPLIED_NAME.into(), hash.into()];
        let done = Tx::execute(&self.database().write, with(sql, values)).await;
        done.map(|_| ()).map_err(|error| fault::error(error, "database"))
    }

    /// Whether this is what [`set_api_key_applied`](Self::set_api_key_applied) was told last.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the database does not answer.
    pub async fn is_api_key_applied(&self, chosen: &Secret) -> Result<bool, Error> {
        let row = meta::Entity::find_by_id(APPLIED_NAME).one(&self.database().write).await;
        let row = row.map_err(|error| fault::error(error, "database"))?;
        Ok(row.is_some_and(|row| row.value == self.vault().lookup_hash(chosen.expose())))
    }
}
