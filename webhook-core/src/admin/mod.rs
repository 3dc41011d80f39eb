//! The management operations: what a caller may do with accounts, keys,
//! buckets, inputs, outputs, rules and domains.
//!
//! Everything here acts for a [`Caller`] and on its account only. A server adds
//! transport and nothing else, because the kind of each error is the one that
//! the document lists for the operation:
//!
//! | operation | no such bucket | another account's bucket | no such input or output | duplicate name, quota |
//! |---|---|---|---|---|
//! | get bucket | `NotFound` | `Forbidden` | | |
//! | update bucket | `NotFound` | `NotFound` | | `Conflict` |
//! | delete bucket | `NotFound` | `Forbidden` | | `Conflict` when it is not empty |
//! | create input | `Invalid` | `Invalid` | | `Conflict` |
//! | create output | `NotFound` | `NotFound` | | `Conflict` |
//! | functions, variables, runs: what is missing is `Invalid` | | | | `Invalid` |
//! | reserve domain | | | | `Conflict`, or `Refused` by the operator or the plan |
//! | delete domain | | | `NotFound` for no such domain | `Conflict` while it is used |
//! | everything else on inputs, outputs and rules | `NotFound` | `NotFound` | `NotFound` | `Conflict` |
//! | crons, notifications | | | `NotFound` (no such one) | `Invalid` |
//!
//! An access token with a scope gets `Forbidden` for everything else, one
//! without API access for everything but subscribing; see [`Caller`].
//!
//! What a caller sends is checked whole before anything is stored, and every
//! refusal names the field.
//!
//! ```
//! use webhook_core::{
//!     Webhooks,
//!     admin::Caller,
//!     model::BucketSpec,
//!     store::{Stores, memory::MemoryStore},
//! };
//!
//! # async fn example() -> Result<(), webhook_core::Error> {
//! let webhooks = Webhooks::builder(Stores::of(MemoryStore::default())).build();
//! let admin = webhooks.admin();
//!
//! let (account, _key) = admin.create_account("example", None).await?;
//! let caller = Caller::for_account(account.id);
//! let bucket = admin.create_bucket(&caller, BucketSpec::new("orders")).await?;
//! assert_eq!(bucket.inputs[0].spec.name, "Default public endpoint");
//! # Ok(())
//! # }
//! ```

mod account;
mod billing;
mod bucket;
mod caller;
mod check;
mod cron;
mod domain;
mod erasure;
mod function;
mod input;
mod log;
mod notification;
mod options;
mod output;
mod pause;
mod replay;
mod selection;
mod session;
mod token;
mod usage;

use std::{fmt, sync::Arc};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::{Mutex, MutexGuard, Notify, Semaphore};

pub use crate::guard::names::{DomainBlocklist, InvalidBlocklist};
pub use account::API_KEY_PREFIX;
pub use bucket::DEFAULT_INPUT_NAME;
pub use caller::{Caller, Credential};
pub use cron::BucketCron;
pub use function::{ExecutionQuery, ExecutionsPage};
pub use log::{
    BucketRef, DayQuery, DrainQuery, Handed, HeadsPage, LogQuery, LogsPage, MinuteQuery,
};
pub use options::AdminOptions;
pub use token::{API_KEY_USER, NewToken};
pub use usage::Usage;

use crate::{
    billing::BillingProvider,
    clock::Ids,
    clock::{Clock, Timestamp},
    error::{Error, ErrorKind},
    function::{FunctionRuntime, generate::FunctionGenerator},
    id::{AccountId, BucketId, FunctionId, TokenId},
    model::Bucket,
    plan::Quotas,
    relay::Relay,
    store::{BucketStore, Configured, Find, Page, Stores},
};

/// Told of every change to a bucket, a function, a domain or a credential
/// before the operation that made it returns, so that what it caches is never
/// older than an answer the caller has seen.
///
/// ```
/// use webhook_core::{AccountId, FunctionId, TokenId, admin::ChangeListener, model::Bucket};
///
/// /// Says what changed, where another process would be told.
/// #[derive(Debug)]
/// struct Says;
///
/// impl ChangeListener for Says {
///     fn bucket_changed(&self, bucket: &Bucket) {
///         println!("bucket {}", bucket.id);
///     }
///     fn function_changed(&self, _: AccountId, function: FunctionId) {
///         println!("function {function}");
///     }
///     fn credential_changed(&self, account: AccountId, _: Option<TokenId>) {
///         println!("a credential of {account}");
///     }
///     fn domain_changed(&self, name: &str) {
///         println!("domain {name}");
///     }
///     fn crons_changed(&self) {
///         println!("crons");
///     }
/// }
/// ```
pub trait ChangeListener: Send + Sync + fmt::Debug {
    /// `bucket` was made, changed or removed. Its inputs and outputs are all
    /// that it had before the change and all that it has after it.
    fn bucket_changed(&self, bucket: &Bucket);

    /// A function of `account`, or one of its variables, was changed or removed.
    fn function_changed(&self, account: AccountId, function: FunctionId);

    /// A credential of `account` was withdrawn or reaches other buckets now:
    /// what is still open with it must end. No `token` means the API key.
    fn credential_changed(&self, account: AccountId, token: Option<TokenId>);

    /// The domain of this name was reserved or given back, or an input came to
    /// it or left it.
    fn domain_changed(&self, name: &str);
    /// A cron was made or changed: it may run sooner than any other.
    fn crons_changed(&self);
}

impl ChangeListener for Relay {
    fn bucket_changed(&self, bucket: &Bucket) {
        self.bucket_changed(bucket);
    }

    fn function_changed(&self, _: AccountId, function: FunctionId) {
        self.function_changed(function);
    }

    fn credential_changed(&self, account: AccountId, token: Option<TokenId>) {
        self.credential_changed(account, token);
    }

    fn domain_changed(&self, name: &str) {
        self.domain_changed(name);
    }

    fn crons_changed(&self) {
        self.crons_changed();
    }
}

/// The management operations over a set of stores, which
/// [`Webhooks`](crate::Webhooks) puts together with a relay.
///
/// A change reads what is stored, and its write compares the version that was read. When another
/// program, or another call, was first, the change is made again of what is stored then. So no
/// change is lost, and the bounds on counts hold exactly, over all programs that share a store.
#[derive(Debug)]
pub struct Admin {
    stores: Stores,
    clock: Arc<dyn Clock>,
    ids: Arc<Ids>,
    options: AdminOptions,
    relay: Relay,
    listener: Option<Arc<dyn ChangeListener>>,
    functions: Option<Arc<dyn FunctionRuntime>>,
    generator: Option<Arc<dyn FunctionGenerator>>,
    generations: Semaphore,
    running: function::Running,
    searching: function::Running,
    logins: Arc<token::Logins>,
    /// Told when logs are to be kept for another time than before.
    retention_changed: Notify,
    quotas: Arc<Quotas>,
    billing: Arc<dyn BillingProvider>,
    /// Held while the payment processor is asked: one call for an account at a time.
    bills: [Mutex<()>; BILLS],
}

/// What an [`Admin`] is made of.
#[derive(Debug)]
pub(crate) struct AdminParts {
    pub(crate) stores: Stores,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<Ids>,
    pub(crate) options: AdminOptions,
    /// Where functions are invoked and webhooks are sent again.
    pub(crate) relay: Relay,
    /// Whom to tell of changes beside the relay.
    pub(crate) listener: Option<Arc<dyn ChangeListener>>,
    /// Compiles functions before they are saved.
    pub(crate) functions: Option<Arc<dyn FunctionRuntime>>,
    pub(crate) generator: Option<Arc<dyn FunctionGenerator>>,
    pub(crate) quotas: Arc<Quotas>,
    pub(crate) billing: Arc<dyn BillingProvider>,
}

/// 32 random bytes in base64url.
fn random_text() -> Result<String, Error> {
    let mut bytes = [0_u8; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Error::internal("the operating system gave no random bytes"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The same error, with `Invalid` instead of `NotFound`: the interface gives that status to some
/// operations.
fn as_invalid(error: Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => error.with_kind(ErrorKind::Invalid),
        _ => error,
    }
}

/// How many accounts can call the payment processor concurrently.
const BILLS: usize = 64;

impl Admin {
    /// Operations of these parts.
    #[must_use]
    pub(crate) fn new(parts: AdminParts) -> Self {
        let generations = parts.options.max_generations.min(Semaphore::MAX_PERMITS);
        Self {
            stores: parts.stores,
            clock: parts.clock,
            ids: parts.ids,
            options: parts.options,
            relay: parts.relay,
            listener: parts.listener,
            functions: parts.functions,
            generator: parts.generator,
            generations: Semaphore::new(generations),
            running: function::Running::default(),
            searching: function::Running::default(),
            logins: Arc::default(),
            retention_changed: Notify::new(),
            quotas: parts.quotas,
            billing: parts.billing,
            bills: [const { Mutex::const_new(()) }; BILLS],
        }
    }

    /// The bounds that specs are checked against.
    #[must_use]
    pub fn options(&self) -> &AdminOptions {
        &self.options
    }

    /// Tells the relay of a change, and then the listener of the embedder.
    fn tell(&self, change: impl Fn(&dyn ChangeListener)) {
        change(&self.relay);
        self.tell_listener(change);
    }

    /// Tells the listener of a change that the relay knows.
    pub(crate) fn tell_listener(&self, change: impl Fn(&dyn ChangeListener)) {
        self.listener.iter().for_each(|listener| change(&**listener));
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Waits until nobody else is at this account's bills.
    async fn bill(&self, account: AccountId) -> MutexGuard<'_, ()> {
        // The last bytes of a version 7 identifier are the random ones.
        let slot = usize::from(account.as_uuid().as_bytes()[15]) % BILLS;
        self.bills[slot].lock().await
    }

    /// A page of what the account has of a kind, such as functions and domains, in the order they
    /// were made.
    pub async fn list<T: Configured>(&self, caller: &Caller, page: Page) -> Result<Vec<T>, Error> {
        caller.require_account()?;
        self.stores.documents.search(Find::OfAccount(caller.account_id(), T::KIND, page)).await
    }

    /// The caller's bucket, which the operation needs.
    async fn owned_bucket(&self, caller: &Caller, id: BucketId) -> Result<Bucket, Error> {
        let bucket = self.stores.documents.bucket(caller.account_id(), id).await?;
        let mut bucket = bucket.ok_or_else(|| Error::not_found("bucket"))?;
        bucket.end_pauses(self.now());
        caller.require_bucket(&bucket).map(|()| bucket)
    }
}

#[cfg(test)]
mod tests;
