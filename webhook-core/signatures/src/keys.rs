//! Keys that are fetched: by the caller, because this crate does no I/O.

use std::{collections::HashMap, fmt, sync::Arc};

use crate::Secret;

/// A key that the caller is to fetch.
///
/// The URL is `https`, and its host one that the scheme names: it is safe to fetch by a
/// client that guards against private addresses and follows no redirect. Whoever sends to
/// the input can make any number of different ones: what is under way and what is kept
/// needs a bound.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyRequest {
    /// Where the key is.
    pub url: String,
    /// What is there.
    pub kind: KeyKind,
    /// With a body, the request is a POST of this JSON, which has a secret in it. Without,
    /// it is a GET.
    pub body: Option<String>,
}

impl fmt::Debug for KeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, kind, body } = self;
        let body = body.as_ref().map(|_| "…");
        f.debug_struct("KeyRequest")
            .field("url", url)
            .field("kind", kind)
            .field("body", &body)
            .finish()
    }
}

/// What a [`KeyRequest`] fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyKind {
    /// A certificate in PEM (RFC 7468).
    Certificate,
    /// A JSON Web Key Set (RFC 7517), or one key of it.
    Jwks,
}

/// What the caller has fetched so far.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    documents: HashMap<KeyRequest, Option<Arc<[u8]>>>,
}

/// A document of keys is at most this long; a longer one counts as none.
pub const MAX_KEY_DOCUMENT_BYTES: usize = 256 * 1024;

impl Keys {
    /// Nothing fetched.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what `request` was answered: bytes, or an `Arc` of what a cache has.
    pub fn insert(&mut self, request: KeyRequest, document: impl Into<Arc<[u8]>>) {
        let document: Arc<[u8]> = document.into();
        let document = (document.len() <= MAX_KEY_DOCUMENT_BYTES).then_some(document);
        self.documents.insert(request, document);
    }

    /// Notes that `request` was not answered: what needs it fails and does not ask again.
    pub fn insert_unavailable(&mut self, request: KeyRequest) {
        self.documents.insert(request, None);
    }

    pub(crate) fn get(&self, request: &KeyRequest) -> Option<Option<&[u8]>> {
        self.documents.get(request).map(Option::as_deref)
    }
}

/// What a handshake asks of the caller beside its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Fetch this URL once, by GET, as [`KeyRequest::url`] is fetched: it confirms a
    /// subscription.
    Fetch {
        /// `https`, and on a host that the scheme names.
        url: String,
    },
    /// Keep this as the secret of the input, before the answer is sent: the provider signs
    /// with it from now on. Only asked for while there is none.
    StoreSecret(Secret),
}
