//! Accounts and their API keys.

use super::{Admin, Caller, Credential, check, random_text};
use crate::{
    error::{Error, ErrorKind, invalid_if},
    id::AccountId,
    model::{Account, ApiKey, Secret},
    store::{Refusal, again},
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
        self.key_of(caller.account_id(), |former| former.is_none().then_some(None)).await
    }

    /// Replaces the account's key; the old one is refused from then on, and
    /// its subscriptions end.
    pub async fn regenerate_api_key(&self, caller: &Caller) -> Result<ApiKey, Error> {
        caller.require_account()?;
        self.key_of(caller.account_id(), |_| Some(None)).await
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
        again(|| async {
            let former = self.stores.accounts.api_key(account).await?;
            let former = former
                .ok_or_else(|| Error::invalid("enabled", "the account has no API key yet"))?;
            if former.enabled == enabled {
                return Ok(former);
            }
            let key = ApiKey { enabled, updated_at: self.now(), ..former.clone() };
            if self.stores.accounts.put_api_key(&key, Some(&former)).await? {
                if !enabled {
                    self.tell(|it| it.credential_changed(account, None));
                }
                return Ok(key);
            }
            Err(Refusal::Stale.into())
        })
        .await
    }

    /// Makes an account with an API key: `key`, or a random one.
    ///
    /// A taken name or key is a [`Conflict`](ErrorKind::Conflict).
    pub async fn create_account(
        &self,
        name: &str,
        key: Option<Secret>,
    ) -> Result<(Account, ApiKey), Error> {
        check::name("name", name)?;
        if let Some(key) = &key {
            check_key(key)?;
            if self.stores.accounts.api_key_by_text(key.expose()).await?.is_some() {
                return Err(Error::conflict("the API key belongs to another account"));
            }
        }
        let account =
            Account { id: self.ids.next(), name: name.to_owned(), created_at: self.now() };
        self.stores.accounts.create_account(&account).await?;
        let key = self.key_of(account.id, |_| Some(key.clone())).await?;
        Ok((account, key))
    }

    /// Gives the account the key that its operator chose, unless it has it already.
    pub async fn set_api_key(&self, account: AccountId, key: Secret) -> Result<ApiKey, Error> {
        check_key(&key)?;
        let is_there = |former: Option<&ApiKey>| former.is_some_and(|former| former.key == key);
        self.key_of(account, |former| (!is_there(former)).then(|| Some(key.clone()))).await
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

    /// The account's key, after `wanted` looked at the one that is stored: none keeps that, and
    /// a key, or a random one where it names none, takes its place.
    async fn key_of(
        &self,
        account: AccountId,
        wanted: impl Fn(Option<&ApiKey>) -> Option<Option<Secret>>,
    ) -> Result<ApiKey, Error> {
        again(|| async {
            let former = self.stores.accounts.api_key(account).await?;
            let key = match (wanted(former.as_ref()), &former) {
                (None, Some(former)) => return Ok(former.clone()),
                (Some(Some(key)), _) => key,
                (Some(None) | None, _) => {
                    Secret::new(format!("{API_KEY_PREFIX}{}", random_text()?))
                }
            };
            let now = self.now();
            let (account_id, created_at, updated_at) = (account, now, now);
            let key = ApiKey { account_id, key, enabled: true, created_at, updated_at };
            if self.stores.accounts.put_api_key(&key, former.as_ref()).await? {
                self.tell(|it| it.credential_changed(account, None));
                return Ok(key);
            }
            Err(Refusal::Stale.into())
        })
        .await
    }
}

/// Whether a key that an operator chose can be sent in a header and is long enough.
fn check_key(key: &Secret) -> Result<(), Error> {
    let text = key.expose();
    invalid_if(!text.starts_with(API_KEY_PREFIX), "API key", "must start with \"sk-\"")?;
    let reason = format_args!("must be {MIN_KEY_BYTES} to {MAX_KEY_BYTES} characters long");
    invalid_if(!(MIN_KEY_BYTES..=MAX_KEY_BYTES).contains(&text.len()), "API key", reason)?;
    let reason = "must be printable ASCII without blanks";
    invalid_if(!text.bytes().all(|byte| byte.is_ascii_graphic()), "API key", reason)?;
    Ok(())
}
