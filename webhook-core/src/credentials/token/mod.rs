//! Tokens that are fetched, and kept until shortly before they expire.

mod google;
mod oauth2;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::wire::Secret;
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use http::{HeaderMap, StatusCode, Uri};
use ring::digest::{Context, SHA256};

pub(crate) use google::ServiceAccount;

use crate::credentials::{AuthSpec, CredentialError};

/// How many tokens are kept. With more, those that expire first go.
pub const MAX_TOKENS: usize = 4_096;
/// How much sooner than it expires a token is replaced; of one that lives less than ten
/// minutes it is a tenth of its life.
const MARGIN_SECS: i64 = 60;
/// How long a token is used whose server does not say, and at most.
const DEFAULT_LIFE_SECS: i64 = 300;
const MAX_LIFE_SECS: i64 = 24 * 60 * 60;
/// How often refused tokens are replaced: a destination that refuses every token does not
/// make the server of tokens pay for it.
const REFUSAL_SECS: i64 = 10;
const MAX_TOKEN_BYTES: usize = 16 << 10;

/// Asks for tokens: the way to their servers, with the guards and timeouts of the caller.
#[async_trait]
pub trait Fetch: Send + Sync + fmt::Debug {
    /// Sends a POST and returns what is answered, whatever its status. An error is a
    /// sentence without secrets.
    async fn fetch(&self, question: Question) -> Result<Answer, String>;
}

/// A POST that asks for a token.
#[derive(Clone, Debug)]
pub struct Question {
    /// Where to.
    pub url: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// A form.
    pub body: Bytes,
}

/// What a server of tokens answers.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its body.
    pub body: Bytes,
}

/// A token. A clone is the same token.
#[derive(Clone)]
pub struct Token(Arc<Issued>);

struct Issued {
    text: Secret,
    /// Until when it is used, in seconds since 1970.
    until: i64,
}

impl Token {
    /// A token that lives for so many seconds from `now` on.
    fn new(text: String, life_secs: Option<i64>, now: i64) -> Result<Self, CredentialError> {
        let sendable = |byte: u8| byte.is_ascii_graphic();
        if text.is_empty() || text.len() > MAX_TOKEN_BYTES || !text.bytes().all(sendable) {
            return Err(CredentialError::new("the token that was answered cannot be sent"));
        }
        let life = life_secs.unwrap_or(DEFAULT_LIFE_SECS).clamp(0, MAX_LIFE_SECS);
        let until = now.saturating_add(life - MARGIN_SECS.min(life / 10));
        Ok(Self(Arc::new(Issued { text: Secret::new(text), until })))
    }

    /// The text that is sent.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.text.expose()
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("until", &self.0.until).finish_non_exhaustive()
    }
}

type Asking = Shared<BoxFuture<'static, Result<Token, CredentialError>>>;

/// The tokens of all outputs. Outputs of one owner with the same credentials share one; of
/// several that need it at once, one asks.
#[derive(Debug)]
pub struct Tokens {
    fetch: Arc<dyn Fetch>,
    slots: Mutex<HashMap<[u8; 32], Slot>>,
}

/// What is known of the token for some credentials.
#[derive(Debug, Default)]
struct Slot {
    token: Option<Token>,
    /// Whoever asks holds it: when nobody waits any more, nobody asks.
    asking: Option<WeakShared<BoxFuture<'static, Result<Token, CredentialError>>>>,
    /// When the destination's refusal last made it ask.
    refused_at: Option<i64>,
}

impl Slot {
    fn usable(&self, now: i64) -> Option<&Token> {
        self.token.as_ref().filter(|token| now < token.0.until)
    }

    fn asking(&self) -> Option<Asking> {
        self.asking.as_ref().and_then(WeakShared::upgrade)
    }
}

impl Tokens {
    /// None yet; `fetch` gets them.
    #[must_use]
    pub fn new(fetch: Arc<dyn Fetch>) -> Self {
        Self { fetch, slots: Mutex::default() }
    }

    /// The token for `auth`, or none if it needs none. `owner` keeps tokens of several
    /// accounts apart, and `now` is the time in seconds since 1970. Whoever stops waiting
    /// does not disturb others that wait for the same token.
    ///
    /// # Errors
    /// Why there is none. The next call asks again.
    pub async fn token(
        &self,
        owner: &[u8],
        auth: &AuthSpec,
        now: i64,
    ) -> Result<Option<Token>, CredentialError> {
        if !auth.has_token() {
            return Ok(None);
        }
        let key = key(owner, auth);
        let asking = {
            let mut slots = self.slots();
            make_room(&mut slots, &key, now);
            let slot = slots.entry(key).or_default();
            if let Some(token) = slot.usable(now) {
                return Ok(Some(token.clone()));
            }
            match slot.asking() {
                Some(asking) => asking,
                None => {
                    let asking = ask(Arc::clone(&self.fetch), auth.clone(), now).boxed().shared();
                    slot.asking = asking.downgrade();
                    asking
                }
            }
        };
        let result = asking.clone().await;
        if let Some(slot) = self.slots().get_mut(&key)
            && slot.asking().is_some_and(|current| current.ptr_eq(&asking))
        {
            slot.asking = None;
            if let Ok(token) = &result {
                slot.token = Some(token.clone());
            }
        }
        result.map(Some)
    }

    /// The destination has refused `token`. Whether another one is worth a try:
    /// [`token`](Self::token) gives it. Of a destination that refuses every token the
    /// answer is no, but for once in ten seconds.
    pub fn refused(&self, owner: &[u8], auth: &AuthSpec, token: &Token, now: i64) -> bool {
        let mut slots = self.slots();
        let Some(slot) = slots.get_mut(&key(owner, auth)) else { return false };
        if !slot.token.as_ref().is_some_and(|current| current.is_same(token)) {
            // Somebody else was faster.
            return true;
        }
        if slot.refused_at.is_some_and(|before| now.abs_diff(before) < REFUSAL_SECS.unsigned_abs())
        {
            return false;
        }
        (slot.token, slot.refused_at) = (None, Some(now));
        true
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<[u8; 32], Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for one more, if it is not there.
fn make_room(slots: &mut HashMap<[u8; 32], Slot>, key: &[u8; 32], now: i64) {
    if slots.len() < MAX_TOKENS || slots.contains_key(key) {
        return;
    }
    slots.retain(|_, slot| slot.usable(now).is_some() || slot.asking().is_some());
    if slots.len() >= MAX_TOKENS {
        let until = |slot: &Slot| slot.token.as_ref().map_or(i64::MIN, |token| token.0.until);
        let first = slots.iter().min_by_key(|(_, slot)| until(slot)).map(|(key, _)| *key);
        first.map(|key| slots.remove(&key));
    }
}

async fn ask(fetch: Arc<dyn Fetch>, auth: AuthSpec, now: i64) -> Result<Token, CredentialError> {
    match &auth {
        AuthSpec::GcpServiceAccount(auth) => google::ask(&*fetch, auth, now).await,
        AuthSpec::Oauth2ClientCredentials(auth) => oauth2::ask(&*fetch, auth, now).await,
        _ => Err(CredentialError::new("the credentials need no token")),
    }
}

/// A digest that tells credentials apart. It reveals no secret.
fn key(owner: &[u8], auth: &AuthSpec) -> [u8; 32] {
    let auth = serde_json::to_vec(auth).unwrap_or_default();
    let mut context = Context::new(&SHA256);
    context.update(&owner.len().to_be_bytes());
    context.update(owner);
    context.update(&auth);
    let mut key = [0; 32];
    key.copy_from_slice(context.finish().as_ref());
    key
}
