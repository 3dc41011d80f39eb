//! Who asks, and what it may reach.

use std::sync::Arc;

use crate::{
    error::{Error, ErrorKind},
    id::{AccountId, BucketId, TokenId},
    model::{ApiAccess, Bucket},
};

/// Whoever an operation acts for, and with which credential.
///
/// The API key and the embedder may do everything in the account. An access
/// token may do less: without API access it only subscribes (which includes
/// pulling webhooks and reporting on them), and with a scope it reaches the
/// buckets of the scope and nothing that belongs to the account as a whole,
/// because with the API key or another token it would reach everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    account_id: AccountId,
    credential: Credential,
    allows_loops: bool,
    /// The versions of what it changes that it expects; none for any.
    expected: Option<Arc<[u64]>>,
}

/// What a caller showed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// The account's API key.
    ApiKey,
    /// An access token, as it was when it was shown.
    AccessToken {
        /// The token.
        id: TokenId,
        /// Whether it may call the management API.
        api_access: ApiAccess,
        /// Names or IDs of the buckets it reaches; empty for all.
        buckets: Arc<[String]>,
    },
    /// None: the program that embeds the library, or its operator.
    Embedder,
}

impl Caller {
    /// A caller inside the program, who needs no credential to act for the account.
    #[must_use]
    pub const fn for_account(account_id: AccountId) -> Self {
        Self::new(account_id, Credential::Embedder)
    }

    /// A caller who showed `credential` of the account.
    pub(super) const fn new(account_id: AccountId, credential: Credential) -> Self {
        Self { account_id, credential, allows_loops: false, expected: None }
    }

    /// The same caller, who means the outputs that lead webhooks back into their own bucket when
    /// `allows` is set. Without it saving such an output is a [`Conflict`](ErrorKind::Conflict).
    #[must_use]
    pub fn allowing_loops(self, allows: bool) -> Self {
        Self { allows_loops: allows, ..self }
    }

    /// The same caller, who changes a thing only in one of these versions (`If-Match`). In another
    /// version the change is a [`Conflict`](ErrorKind::Conflict), and nothing is changed.
    #[must_use]
    pub fn expecting(self, versions: Option<Arc<[u64]>>) -> Self {
        Self { expected: versions, ..self }
    }

    /// [`Conflict`](ErrorKind::Conflict) unless it expects this version.
    pub(super) fn require_version(&self, version: u64) -> Result<(), Error> {
        match &self.expected {
            Some(expected) if !expected.contains(&version) => Err(Error::conflict(format!(
                "If-Match: the version is {version} by now; read it again"
            ))),
            _ => Ok(()),
        }
    }

    /// The version that the store is to compare when this one is removed; none for any.
    pub(super) fn pin(&self, version: u64) -> Result<Option<u64>, Error> {
        self.require_version(version).map(|()| self.expected.as_ref().map(|_| version))
    }

    pub(super) const fn allows_loops(&self) -> bool {
        self.allows_loops
    }

    /// The account it acts for.
    #[must_use]
    pub const fn account_id(&self) -> AccountId {
        self.account_id
    }

    /// What it showed.
    #[must_use]
    pub const fn credential(&self) -> &Credential {
        &self.credential
    }

    /// The access token that it showed, if it was one.
    #[must_use]
    pub const fn token_id(&self) -> Option<TokenId> {
        match self.credential {
            Credential::AccessToken { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Whether it reaches some buckets only.
    #[must_use]
    pub fn is_scoped(&self) -> bool {
        !self.scope().is_empty()
    }

    /// Whether it reaches this bucket of its account.
    #[must_use]
    pub fn reaches(&self, bucket: &Bucket) -> bool {
        self.account_id == bucket.account_id
            && self.scope_includes(Some(bucket.id), &bucket.spec.name)
    }

    /// [`Forbidden`](ErrorKind::Forbidden) for an access token that may only subscribe.
    pub fn require_api_access(&self) -> Result<(), Error> {
        match self.credential {
            Credential::AccessToken { api_access: ApiAccess::Disabled, .. } => {
                Err(forbidden("the access token may only subscribe (its api_access is disabled)"))
            }
            _ => Ok(()),
        }
    }

    /// [`Forbidden`](ErrorKind::Forbidden) for an access token that may not call the management
    /// API, or reaches some buckets only: for what belongs to the account as a whole.
    pub fn require_account(&self) -> Result<(), Error> {
        self.require_api_access()?;
        match self.is_scoped() {
            true => Err(forbidden("the access token reaches some buckets only, not the account")),
            false => Ok(()),
        }
    }

    /// It may call the management API, and this bucket of its account.
    pub(super) fn require_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        self.require_api_access()?;
        self.require_scope(bucket)
    }

    /// This bucket of its account lies within its scope.
    pub(super) fn require_scope(&self, bucket: &Bucket) -> Result<(), Error> {
        match self.reaches(bucket) {
            true => Ok(()),
            false => Err(out_of_scope()),
        }
    }

    /// It would reach a new bucket of this name.
    pub(super) fn require_name(&self, name: &str) -> Result<(), Error> {
        match self.scope_includes(None, name) {
            true => Ok(()),
            false => Err(forbidden("name: a bucket of this name is not in the token's scope")),
        }
    }

    /// Names or IDs of the buckets it reaches; empty for all.
    pub(super) fn scope(&self) -> &[String] {
        match &self.credential {
            Credential::AccessToken { buckets, .. } => buckets,
            _ => &[],
        }
    }

    fn scope_includes(&self, id: Option<BucketId>, name: &str) -> bool {
        let scope = self.scope();
        // What looks like an ID is one, and never a name: nobody else can
        // slip a bucket into the scope by calling it after another one's ID.
        let includes = |entry: &String| match entry.parse::<BucketId>() {
            Ok(listed) => Some(listed) == id,
            Err(_) => entry == name,
        };
        scope.is_empty() || scope.iter().any(includes)
    }

    /// What `created_by` says of things it makes.
    pub(super) fn label(&self) -> String {
        match &self.credential {
            Credential::ApiKey => "api key".to_owned(),
            Credential::AccessToken { id, .. } => id.to_string(),
            Credential::Embedder => String::new(),
        }
    }
}

pub(super) fn out_of_scope() -> Error {
    forbidden("the bucket is not in the access token's scope")
}

fn forbidden(message: &str) -> Error {
    Error::new(ErrorKind::Forbidden, format!("forbidden: {message}"))
}
