//! API keys, sealed, with a hash to look them up by.

use sea_orm::prelude::Uuid;
use webhook_core::{AccountId, Error, model::ApiKey};

use super::{millis, moment, table};
use crate::secret::{Cell, Vault};

table! {
    /// A row.
    Model in "api_key" {
        account_id: Uuid,
        key_sealed: Vec<u8>,
        key_hash: Vec<u8>,
        enabled: bool,
        created_at: i64,
        updated_at: i64,
    }
}

const fn cell(account: Uuid) -> Cell<'static> {
    Cell::new("api_key", "key_sealed", account)
}

impl Model {
    pub(crate) fn seal(key: &ApiKey, vault: &Vault) -> Result<Self, Error> {
        let ApiKey { account_id, key, enabled, created_at, updated_at } = key;
        let account_id = account_id.as_uuid();
        Ok(Self {
            account_id,
            key_sealed: vault.seal(cell(account_id), key.expose().as_bytes())?,
            key_hash: vault.lookup_hash(key.expose()),
            enabled: *enabled,
            created_at: millis(*created_at),
            updated_at: millis(*updated_at),
        })
    }

    pub(crate) fn open(self, vault: &Vault) -> Result<ApiKey, Error> {
        let Self { account_id, key_sealed, key_hash: _, enabled, created_at, updated_at } = self;
        Ok(ApiKey {
            account_id: AccountId::from_uuid(account_id),
            key: vault.open_secret(cell(account_id), Some(&key_sealed))?,
            enabled,
            created_at: moment(created_at),
            updated_at: moment(updated_at),
        })
    }
}
