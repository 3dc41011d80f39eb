//! Access tokens, and who shows one.

use std::{collections::HashSet, sync::Arc};

use ring::digest::{SHA256, digest};

use super::{Admin, Caller, Credential, check, random_text};
use crate::{
    error::{Error, ErrorKind},
    id::TokenId,
    lock::Lock,
    model::{AccessToken, ApiAccess, Secret, TokenSpec, constant_time_eq},
    plan::Limited,
    store::Page,
};

/// The key that goes with an API key where a key and a secret are asked for.
pub const API_KEY_USER: &str = "whr";
/// How old a noted login may be before the next one is noted, in milliseconds.
const LOGIN_INTERVAL_MS: i64 = 60_000;
/// Logins that are noted at once; more are left for another time.
const MAX_LOGINS: usize = 16;
/// The longest secret that is looked at, in bytes.
const MAX_SECRET_BYTES: usize = 512;

/// An access token that was just made, with the secret that is never shown again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// The token.
    pub token: AccessToken,
    /// 32 random bytes in base64url.
    pub secret: Secret,
}

/// The tokens whose login is being noted.
#[derive(Debug, Default)]
pub(super) struct Logins(Lock<HashSet<TokenId>>);

impl Logins {
    /// Whether the login of this token is to be noted.
    fn begin(&self, id: TokenId) -> bool {
        let mut noting = self.0.lock();
        noting.len() < MAX_LOGINS && noting.insert(id)
    }

    fn end(&self, id: TokenId) {
        self.0.lock().remove(&id);
    }
}

fn caller_of(token: AccessToken) -> Caller {
    let TokenSpec { description: _, scopes, api_access } = token.spec;
    let buckets = Arc::from(scopes.buckets);
    Caller::new(token.account_id, Credential::AccessToken { id: token.id, api_access, buckets })
}

impl Admin {
    /// Who shows this key and secret: an access token, or an API key as the
    /// secret of the key [`API_KEY_USER`]. Anything missing, wrong or disabled
    /// is [`Unauthorized`](ErrorKind::Unauthorized).
    pub async fn authenticate(&self, key: &str, secret: &str) -> Result<Caller, Error> {
        match key {
            API_KEY_USER => self.authenticate_api_key(secret).await,
            _ => self.authenticate_token(key, secret).await,
        }
    }

    /// Who shows this access token. A missing or wrong one is
    /// [`Unauthorized`](ErrorKind::Unauthorized).
    ///
    /// The caller carries the token's scope of this moment. What outlives one
    /// request (a subscription) is ended through
    /// [`ChangeListener::credential_changed`](super::ChangeListener::credential_changed)
    /// when the scope changes.
    pub async fn authenticate_token(&self, key: &str, secret: &str) -> Result<Caller, Error> {
        let wrong = || Error::new(ErrorKind::Unauthorized, "unauthorized: unknown access token");
        let token = self.known_token(key, secret).await?.ok_or_else(wrong)?;
        self.note_login(&token);
        Ok(caller_of(token))
    }

    /// Whether this key and secret still make the same caller, with the same scope: for what
    /// outlives a request where others may change the credential, which then tell nobody here.
    pub async fn is_still(&self, caller: &Caller, key: &str, secret: &str) -> Result<bool, Error> {
        let shown = match key {
            API_KEY_USER => {
                let known = self.known_api_key(secret).await?.filter(|key| key.enabled);
                known.map(|key| Caller::new(key.account_id, Credential::ApiKey))
            }
            _ => self.known_token(key, secret).await?.map(caller_of),
        };
        Ok(shown.as_ref() == Some(caller))
    }

    /// Notes now and then that a token is shown. Nobody waits for it, and what
    /// fails is noted the next time.
    fn note_login(&self, token: &AccessToken) {
        let now = self.now();
        let age = token.last_login.map(|last| now.as_millis() - last.as_millis());
        // A clock that was set back is no reason to stay silent.
        if age.is_some_and(|age| (0..LOGIN_INTERVAL_MS).contains(&age)) {
            return;
        }
        let id = token.id;
        if !self.logins.begin(id) {
            return;
        }
        let (logins, tokens) = (Arc::clone(&self.logins), Arc::clone(&self.stores.tokens));
        tokio::spawn(async move {
            if let Err(error) = tokens.note_login(id, now).await {
                tracing::debug!(%error, %id, "the login of an access token is not noted");
            }
            logins.end(id);
        });
    }

    /// Whether this key and secret belong to an account, an API key that is
    /// disabled included: a request that carries them is meant for the management
    /// operations, and nobody else may see it.
    pub async fn is_credential(&self, key: &str, secret: &str) -> Result<bool, Error> {
        match key {
            API_KEY_USER => Ok(self.known_api_key(secret).await?.is_some()),
            _ => Ok(self.known_token(key, secret).await?.is_some()),
        }
    }

    async fn known_token(&self, key: &str, secret: &str) -> Result<Option<AccessToken>, Error> {
        if secret.len() > MAX_SECRET_BYTES {
            return Ok(None);
        }
        let Ok(id) = key.parse::<TokenId>() else { return Ok(None) };
        let token = self.stores.tokens.token(id).await?;
        Ok(token.filter(|token| constant_time_eq(hash(secret).as_ref(), &token.secret_hash)))
    }

    /// All access tokens of the account, in the order they were made.
    pub async fn tokens(&self, caller: &Caller) -> Result<Vec<AccessToken>, Error> {
        self.tokens_page(caller, Page::ALL).await
    }

    /// A page of the access tokens of the account, in the order they were made.
    pub async fn tokens_page(
        &self,
        caller: &Caller,
        page: Page,
    ) -> Result<Vec<AccessToken>, Error> {
        caller.require_account()?;
        self.stores.tokens.tokens(caller.account_id(), page).await
    }

    /// Makes an access token.
    pub async fn create_token(&self, caller: &Caller, spec: TokenSpec) -> Result<NewToken, Error> {
        caller.require_account()?;
        check::token(&spec, &self.options)?;
        let account = caller.account_id();
        let most = self.options.max_tokens_per_account;
        let full = Error::conflict(format!("the account has all of its {most} tokens"));
        let (bound, full) = self.bound(caller, Limited::Tokens, most, full).await?;

        let secret = Secret::new(random_text()?);
        let now = self.now();
        let token = AccessToken {
            id: self.ids.next(),
            account_id: account,
            secret_hash: hash(secret.expose()),
            spec: with_access(spec),
            created_at: now,
            updated_at: now,
            last_login: None,
        };
        match self.stores.tokens.create_token(&token, bound).await? {
            true => Ok(NewToken { token, secret }),
            false => Err(full),
        }
    }

    /// Replaces what a caller may write of an access token. When that changes
    /// which buckets it reaches, its subscriptions end.
    pub async fn update_token(
        &self,
        caller: &Caller,
        id: TokenId,
        spec: TokenSpec,
    ) -> Result<AccessToken, Error> {
        caller.require_account()?;
        check::token(&spec, &self.options)?;
        let mut token = self.owned_token(caller, id).await?;
        let old = std::mem::replace(&mut token.spec, with_access(spec));
        token.updated_at = self.now();
        self.stores.tokens.update_token(&token).await?;
        if old.scopes.buckets != token.spec.scopes.buckets {
            self.tell(|it| it.credential_changed(token.account_id, Some(id)));
        }
        Ok(token)
    }

    /// Removes an access token: it is refused from then on, and its
    /// subscriptions end.
    pub async fn delete_token(&self, caller: &Caller, id: TokenId) -> Result<(), Error> {
        caller.require_account()?;
        let token = self.owned_token(caller, id).await?;
        self.stores.tokens.delete_token(token.account_id, id).await?;
        self.tell(|it| it.credential_changed(token.account_id, Some(id)));
        Ok(())
    }

    async fn owned_token(&self, caller: &Caller, id: TokenId) -> Result<AccessToken, Error> {
        let token = self.stores.tokens.token(id).await?;
        let token = token.filter(|token| token.account_id == caller.account_id());
        token.ok_or_else(|| Error::not_found("access token"))
    }
}

/// What is not said about API access means that there is.
fn with_access(mut spec: TokenSpec) -> TokenSpec {
    if spec.api_access == ApiAccess::None {
        spec.api_access = ApiAccess::Enabled;
    }
    spec
}

/// The secret has 256 random bits: a plain digest is as good as a slow one.
pub(super) fn hash(secret: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, secret.as_bytes()).as_ref());
    hash
}
