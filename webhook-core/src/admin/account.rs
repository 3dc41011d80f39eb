//! Accounts and their API keys.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom, SystemRandom};

use super::{Admin, Caller, Credential, check};
use crate::{
    error::{Error, ErrorKind},
    id::AccountId,
    model::{Account, ApiKey, Secret},
};

/// What every API key starts with.
pub const API_KEY_PREFIX: &str = "sk-";
/// The shortest key that an operator may choose, in bytes.
const MIN_KEY_BYTES: usize = 16;
/// The longest key that is looked up, in bytes.
const MAX_KEY_BYTES: usize = 512;

impl Admin {
    /// Who shows this API key. A missing, wrong or disabled key is
    /// [`Unauthorized`](ErrorKind::Unauthorized).
    pub async fn authenticate_api_key(&self, candidate: &str) -> Result<Caller, Error> {
        let wrong = || Error::new(ErrorKind::Unauthorized, "unauthorized: unknown API key");
        let key = self.known_api_key(candidate).await?.ok_or_else(wrong)?;
        if !key.enabled {
            return Err(Error::new(
                ErrorKind::Unauthorized,
                "unauthorized: the API key is disabled",
            ));
        }
        Ok(Caller::new(key.account_id, Credential::ApiKey))
    }

    /// The key, enabled or not, that this is.
    pub(super) async fn known_api_key(&self, candidate: &str) -> Result<Option<ApiKey>, Error> {
        if !candidate.starts_with(API_KEY_PREFIX) || candidate.len() > MAX_KEY_BYTES {
            return Ok(None);
        }
        let key = self.stores.accounts.api_key_by_text(candidate).await?;
        // Compared again in constant time: a store may have looked it up in another way.
        Ok(key.filter(|key| key.key.matches(candidate.as_bytes())))
    }

    /// The account's key; one is made when there is none.
    pub async fn api_key(&self, caller: &Caller) -> Result<ApiKey, Error> {
        caller.require_account()?;
        let account = caller.account_id();
        let _guard = self.lock(account.as_uuid()).await;
        match self.stores.accounts.api_key(account).await? {
            Some(key) => Ok(key),
            None => self.put_new_key(account, None).await,
        }
    }

    /// Replaces the account's key; the old one is refused from then on, and
    /// its subscriptions end.
    pub async fn regenerate_api_key(&self, caller: &Caller) -> Result<ApiKey, Error> {
        caller.require_account()?;
        let account = caller.account_id();
        let _guard = self.lock(account.as_uuid()).await;
        self.put_new_key(account, None).await
    }

    /// Enables or disables the account's key without replacing it; disabling
    /// it ends its subscriptions. Without a key there is nothing to change:
    /// [`Invalid`](ErrorKind::Invalid).
    pub async fn set_api_key_enabled(
        &self,
        caller: &Caller,
        enabled: bool,
    ) -> Result<ApiKey, Error> {
        caller.require_account()?;
        let account = caller.account_id();
        let _guard = self.lock(account.as_uuid()).await;
        let key = self.stores.accounts.api_key(account).await?;
        let mut key =
            key.ok_or_else(|| Error::invalid("enabled", "the account has no API key yet"))?;
        if key.enabled != enabled {
            key.enabled = enabled;
            key.updated_at = self.now();
            self.stores.accounts.put_api_key(&key).await?;
            if !enabled {
                self.listeners.credential_changed(account, None);
            }
        }
        Ok(key)
    }

    /// Makes an account with an API key: `key`, or a random one.
    ///
    /// A taken name or key is a [`Conflict`](ErrorKind::Conflict).
    pub async fn create_account(
        &self,
        name: &str,
        key: Option<Secret>,
    ) -> Result<(Account, ApiKey), Error> {
        check::name("name", name, &self.options)?;
        if let Some(key) = &key {
            check_key(key)?;
            if self.stores.accounts.api_key_by_text(key.expose()).await?.is_some() {
                return Err(Error::conflict("the API key belongs to another account"));
            }
        }
        let account =
            Account { id: self.ids.next(), name: name.to_owned(), created_at: self.now() };
        self.stores.accounts.create_account(&account).await?;
        let key = self.put_new_key(account.id, key).await?;
        Ok((account, key))
    }

    /// Gives the account the key that its operator chose, unless it has it already.
    pub async fn set_api_key(&self, account: AccountId, key: Secret) -> Result<ApiKey, Error> {
        check_key(&key)?;
        let _guard = self.lock(account.as_uuid()).await;
        match self.stores.accounts.api_key(account).await? {
            Some(stored) if stored.key == key => Ok(stored),
            _ => self.put_new_key(account, Some(key)).await,
        }
    }

    /// All accounts, in the order they were made.
    pub async fn accounts(&self) -> Result<Vec<Account>, Error> {
        self.stores.accounts.accounts().await
    }

    /// The account with this ID or name.
    pub async fn find_account(&self, id_or_name: &str) -> Result<Account, Error> {
        let accounts = self.stores.accounts.accounts().await?;
        let id = id_or_name.parse::<AccountId>().ok();
        accounts
            .into_iter()
            .find(|account| Some(account.id) == id || account.name == id_or_name)
            .ok_or_else(|| Error::not_found("account"))
    }

    async fn put_new_key(&self, account: AccountId, key: Option<Secret>) -> Result<ApiKey, Error> {
        let now = self.now();
        let key = match key {
            Some(key) => key,
            None => random_key()?,
        };
        let key =
            ApiKey { account_id: account, key, enabled: true, created_at: now, updated_at: now };
        self.stores.accounts.put_api_key(&key).await?;
        self.listeners.credential_changed(account, None);
        Ok(key)
    }
}

/// `sk-` and 32 random bytes.
fn random_key() -> Result<Secret, Error> {
    let mut bytes = [0_u8; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Error::internal("the operating system gave no random bytes"))?;
    Ok(Secret::new(format!("{API_KEY_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
}

/// Whether a key that an operator chose can be sent in a header and is long enough.
fn check_key(key: &Secret) -> Result<(), Error> {
    let text = key.expose();
    if !text.starts_with(API_KEY_PREFIX) {
        return Err(Error::invalid("API key", "must start with \"sk-\""));
    }
    if !(MIN_KEY_BYTES..=MAX_KEY_BYTES).contains(&text.len()) {
        let reason = format!("must be {MIN_KEY_BYTES} to {MAX_KEY_BYTES} characters long");
        return Err(Error::invalid("API key", reason));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::invalid("API key", "must be printable ASCII without blanks"));
    }
    Ok(())
}
