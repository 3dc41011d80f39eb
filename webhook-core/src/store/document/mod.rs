//! Documents: configured things, each with a version.

mod kinds;
mod state;
mod typed;

pub use self::{
    kinds::{Configured, SCHEMA},
    state::{CronState, DocumentState, StateChange},
    typed::{BucketStore, InputStore, OutputStore, RulesVersion},
};

use std::{fmt, time::Duration};

use async_trait::async_trait;
use uuid::Uuid;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId},
};

/// How many versions of a document are kept, the present one included.
pub const MAX_VERSIONS: usize = 20;

/// What a document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is named after the model that it keeps")]
pub enum DocumentKind {
    Bucket,
    Input,
    Output,
    Cron,
    Function,
    Domain,
    Notification,
}

impl DocumentKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Bucket,
        Self::Input,
        Self::Output,
        Self::Cron,
        Self::Function,
        Self::Domain,
        Self::Notification,
    ];

    /// Its name in a store, and for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bucket => "bucket",
            Self::Input => "input",
            Self::Output => "output",
            Self::Cron => "cron",
            Self::Function => "function",
            Self::Domain => "domain",
            Self::Notification => "notification",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Among which documents a name is unique that is not empty; none where names are free.
    #[must_use]
    pub fn scope_of_names(self, account: AccountId, bucket: Option<BucketId>) -> Option<Uuid> {
        match self {
            Self::Bucket => Some(account.as_uuid()),
            Self::Output => bucket.map(|id| id.as_uuid()),
            Self::Domain => Some(Uuid::nil()),
            Self::Input | Self::Cron | Self::Function | Self::Notification => None,
        }
    }

    /// Whether the documents of each bucket are counted, too, not only those of the account.
    #[must_use]
    pub const fn is_counted_in_bucket(self) -> bool {
        matches!(self, Self::Input | Self::Output)
    }
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Names one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentKey {
    /// Its kind.
    pub kind: DocumentKind,
    /// Its identifier, unique among the documents of its kind.
    pub id: Uuid,
}

/// A configured thing as a store keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Which one it is.
    pub key: DocumentKey,
    /// The account that owns it.
    pub account_id: AccountId,
    /// The bucket with which it goes: that of an input, of an output or of a cron, the one that a
    /// notification leads to, and a bucket itself.
    pub bucket_id: Option<BucketId>,
    /// Unique within [`scope_of_names`](DocumentKind::scope_of_names), unless it is empty.
    pub name: String,
    /// The domain and the prefix at which requests reach an input; unique over all accounts,
    /// unless it is empty.
    pub route: String,
    /// Whether a pass over all accounts looks for it: a bucket with a retention of its own, an
    /// enabled notification.
    pub is_watched: bool,
    /// 1 when it is made, and one more with each update.
    pub version: u64,
    /// The form of `json`.
    pub schema: u32,
    /// What it is configured to be: the text of a JSON object, without secrets.
    pub json: String,
    /// Its secrets: the text of a JSON object, which a store seals. Empty for none.
    pub secrets: String,
    /// The documents that it cannot do without. A store answers none.
    pub uses: Vec<DocumentKey>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// What became of it since. A store takes it from a new document, and leaves it in an update.
    pub state: DocumentState,
}

/// How many there may be after a document is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Of its kind in its bucket; counts for inputs and outputs.
    pub in_bucket: u64,
    /// Of its kind in its account.
    pub in_account: u64,
}

impl Bounds {
    /// No bound.
    pub const NONE: Self = Self { in_bucket: u64::MAX, in_account: u64::MAX };
}

/// One change of several that happen together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// Makes a document.
    Create {
        /// The document.
        document: Document,
        /// How many there may be then.
        bounds: Bounds,
    },
    /// Replaces a document, but for its creation and its state.
    Update {
        /// What it becomes. Its version becomes one more than that of `expected_version`.
        document: Document,
        /// The version that was read.
        expected_version: u64,
    },
    /// Removes a document with its versions and its state; a bucket with all that goes with it.
    /// Deliveries that wait for a removed output are not attempted any more, and their logs
    /// stay. A removed function takes its variables, its keys and its runs with it.
    Delete {
        /// Which one.
        key: DocumentKey,
        /// Whose it is.
        account_id: AccountId,
        /// The version that was read; none for any version.
        expected_version: Option<u64>,
    },
    /// Fails while a document uses this one, or, of a bucket, while it has an input or an output.
    Unused(DocumentKey),
    /// Changes the state of a document, not its version.
    State(StateChange),
}

/// Why nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Another document has the identifier.
    #[error("there is another {0} of this id")]
    Exists(DocumentKind),
    /// Another document has the name.
    #[error("name: it is taken by another {0}")]
    NameTaken(DocumentKind),
    /// Another input is reached at the same domain and prefix.
    #[error("path_prefix: another input has this domain and prefix")]
    RouteTaken,
    /// A document that the change names is missing, or belongs to another account.
    #[error("there is no such {0}")]
    Missing(DocumentKind),
    /// Another change came first: the version is another one, or the next run of a cron.
    #[error("another change came first: read it again")]
    Stale,
    /// Another document uses it, or is in it.
    #[error("it is in use")]
    Used,
    /// The bucket has as many as there may be.
    #[error("the bucket has all of its {0}s")]
    BucketFull(DocumentKind),
    /// The account has as many as there may be.
    #[error("the account has all of its {0}s")]
    AccountFull(DocumentKind),
}

/// Why [`DocumentStore::apply`] changed nothing.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum ApplyError {
    /// The stored documents do not allow the change.
    Refused(#[from] Refusal),
    /// The store failed.
    Failed(#[from] Error),
}

impl From<ApplyError> for Error {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Failed(error) => error,
            ApplyError::Refused(Refusal::Missing(kind)) => Self::not_found(kind.as_str()),
            ApplyError::Refused(refusal) => Self::conflict(refusal.to_string()),
        }
    }
}

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many come before it.
    pub offset: usize,
    /// How many it has at most.
    pub limit: usize,
}

impl Page {
    /// The whole list.
    pub const ALL: Self = Self { offset: 0, limit: usize::MAX };

    /// The items of a list that are in this part.
    pub fn of<T>(self, list: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        list.skip(self.offset).take(self.limit)
    }
}

/// Which documents are read, all as they were at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Find {
    /// One document of an account.
    One(AccountId, DocumentKey),
    /// One document of any account.
    Any(DocumentKey),
    /// These documents of any account; of buckets, with their inputs and outputs.
    These(DocumentKind, Vec<Uuid>),
    /// A page of the documents of a kind of an account, in the order of their identifiers.
    OfAccount(AccountId, DocumentKind, Page),
    /// The documents of a kind with this name, of one account or of any.
    Named(DocumentKind, Option<AccountId>, String),
    /// The documents of a kind that use another document.
    Users(DocumentKind, DocumentKey),
    /// The watched documents of a kind after this identifier, in the order of identifiers.
    Watched(DocumentKind, Option<Uuid>, usize),
    /// A bucket of an account with its inputs and outputs.
    Bucket(AccountId, BucketId),
    /// The bucket that an input or an output is in, with its inputs and outputs.
    BucketOf(DocumentKey),
    /// The bucket of this name with its inputs and outputs.
    BucketNamed(AccountId, String),
    /// A page of the buckets of an account, in the order of their identifiers, with the inputs
    /// and outputs of each. The documents come in any order.
    Buckets(AccountId, Page),
}

/// Keeps documents.
///
/// A write compares versions. When two programs change the same document concurrently, the store
/// refuses the second write with [`Refusal::Stale`], and that program reads again. No lock of one
/// process is involved.
#[async_trait]
pub trait DocumentStore: Send + Sync + fmt::Debug {
    /// The documents with their state.
    async fn find(&self, find: Find) -> Result<Vec<Document>, Error>;

    /// Makes all of these changes, or none.
    async fn apply(&self, changes: &[Change]) -> Result<(), ApplyError>;

    /// How many documents of each kind an account has, counted without reading them; without
    /// those that it never had.
    async fn counts(&self, account: AccountId) -> Result<Vec<(DocumentKind, u64)>, Error>;

    /// The versions of a document of the account that are kept, the newest first, which is the
    /// present one; at most [`MAX_VERSIONS`]. They have no state.
    async fn history(&self, account: AccountId, key: DocumentKey) -> Result<Vec<Document>, Error>;
}

/// How often a change is made at most.
const MAX_TRIES: u32 = 8;
/// When a caller may try again whose change was never first.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Reads, changes and writes by `change`, again while another change comes between the read and
/// the write.
///
/// # Errors
/// Every error of `change`, and [`Unavailable`](crate::ErrorKind::Unavailable) when other changes
/// were first each time.
pub(crate) async fn again<T, F>(change: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, ApplyError>>,
{
    for _ in 0..MAX_TRIES {
        match change().await {
            Err(ApplyError::Refused(Refusal::Stale)) => {}
            done => return Ok(done?),
        }
    }
    Err(Error::unavailable("other changes of the same thing were first; try again", RETRY_AFTER))
}
