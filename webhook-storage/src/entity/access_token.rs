//! Access tokens.

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, Error, TokenId,
    model::{AccessToken, TokenSpec},
};

use super::{json, millis, moment, name, named, table};
use crate::fault::Row;

table! {
    /// A row.
    Model in "access_token" {
        id: Uuid,
        account_id: Uuid,
        secret_hash: Vec<u8>,
        description: String,
        scopes: String,
        api_access: String,
        created_at: i64,
        updated_at: i64,
        last_login: Option<i64>,
    }
}

impl Model {
    pub(crate) fn of(token: &AccessToken) -> Result<Self, Error> {
        let AccessToken { id, account_id, secret_hash, spec, created_at, updated_at, last_login } =
            token;
        let TokenSpec { description, scopes, api_access, .. } = spec;
        Ok(Self {
            id: id.as_uuid(),
            account_id: account_id.as_uuid(),
            secret_hash: secret_hash.to_vec(),
            description: description.clone(),
            scopes: json(scopes)?,
            api_access: name(api_access)?,
            created_at: millis(*created_at),
            updated_at: millis(*updated_at),
            last_login: last_login.map(millis),
        })
    }

    pub(crate) fn read(self) -> Result<AccessToken, Error> {
        let row = Row { table: "access_token", id: self.id };
        let hash = <[u8; 32]>::try_from(self.secret_hash);
        let mut spec = TokenSpec::default();
        spec.description = self.description;
        spec.scopes = row.read("scopes", serde_json::from_str(&self.scopes))?;
        spec.api_access = row.read("api_access", named(self.api_access))?;
        Ok(AccessToken {
            id: TokenId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            secret_hash: row.read("secret_hash", hash.map_err(|_| "is not 32 bytes"))?,
            spec,
            created_at: moment(self.created_at),
            updated_at: moment(self.updated_at),
            last_login: self.last_login.map(moment),
        })
    }
}
