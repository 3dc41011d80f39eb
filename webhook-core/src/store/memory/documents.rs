//! Documents in memory.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use async_trait::async_trait;
use uuid::Uuid;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, FunctionId, NodeId, NotificationId, OutputId},
    model::Bucket,
    store::{
        ApplyError, Bounds, Change, Configured, Document, DocumentKey, DocumentKind, DocumentState,
        DocumentStore, Find, MAX_VERSIONS, Refusal, StateChange,
    },
};

/// Every document, and ways to find it.
#[derive(Default)]
pub(super) struct Directory {
    /// Shared, so that a reader copies documents after it let go of the lock.
    kept: BTreeMap<DocumentKey, Arc<Kept>>,
    index: BTreeSet<(Entry, DocumentKey)>,
    /// How many documents of each kind an account has.
    counts: HashMap<(AccountId, DocumentKind), u64>,
}

/// A property that finds documents.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    Account(AccountId),
    Bucket(BucketId),
    /// A kind, the scope of its names, and a name that is unique there.
    Name(DocumentKind, Uuid, String),
    Route(String),
    /// The used document.
    Use(DocumentKey),
}

/// The properties of a document.
fn entries(document: &Document) -> impl Iterator<Item = Entry> {
    let Document { key, account_id, bucket_id, name, route, uses, .. } = document;
    let scope = key.kind.scope_of_names(*account_id, *bucket_id).filter(|_| !name.is_empty());
    let name = scope.map(|scope| Entry::Name(key.kind, scope, name.clone()));
    let route = (!route.is_empty()).then(|| Entry::Route(route.clone()));
    let uses = uses.iter().copied().map(Entry::Use);
    let bucket = bucket_id.map(Entry::Bucket);
    [Entry::Account(*account_id)].into_iter().chain(bucket).chain(name).chain(route).chain(uses)
}

/// A document with its former versions, the newest first.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) document: Document,
    former: Vec<Document>,
    /// Which node makes the run of a cron, and until when.
    pub(super) held: Option<(NodeId, Timestamp)>,
}

/// The smallest key of a kind.
const fn first(kind: DocumentKind) -> DocumentKey {
    DocumentKey { kind, id: Uuid::nil() }
}

const fn last(kind: DocumentKind) -> DocumentKey {
    DocumentKey { kind, id: Uuid::max() }
}

/// A document as it is answered: what it uses is for the store alone.
fn answered(document: &Document) -> Document {
    Document { uses: Vec::new(), ..document.clone() }
}

impl Directory {
    pub(super) fn get(&self, key: DocumentKey) -> Option<&Kept> {
        self.kept.get(&key).map(|kept| &**kept)
    }

    pub(super) fn get_mut(&mut self, key: DocumentKey) -> Option<&mut Kept> {
        self.kept.get_mut(&key).map(Arc::make_mut)
    }

    /// All documents of a kind, of every account.
    pub(super) fn of_kind(&self, kind: DocumentKind) -> impl Iterator<Item = &Kept> {
        self.kept.range(first(kind)..=last(kind)).map(|(_, kept)| &**kept)
    }

    /// The documents with a property, of some kinds.
    fn with(
        &self,
        entry: Entry,
        kinds: std::ops::RangeInclusive<DocumentKind>,
    ) -> impl Iterator<Item = DocumentKey> {
        let range = (entry.clone(), first(*kinds.start()))..=(entry, last(*kinds.end()));
        self.index.range(range).map(|(_, key)| *key)
    }

    fn count(&self, account: AccountId, kind: DocumentKind) -> u64 {
        self.counts.get(&(account, kind)).copied().unwrap_or_default()
    }

    fn of(&self, account: AccountId, kind: DocumentKind) -> impl Iterator<Item = DocumentKey> {
        self.with(Entry::Account(account), kind..=kind)
    }

    fn named(&self, kind: DocumentKind, scope: Uuid, name: &str) -> Option<DocumentKey> {
        self.with(Entry::Name(kind, scope, name.to_owned()), kind..=kind).next()
    }

    /// The bucket with its inputs and outputs.
    fn whole(&self, bucket: BucketId) -> impl Iterator<Item = DocumentKey> {
        self.with(Entry::Bucket(bucket), DocumentKind::Bucket..=DocumentKind::Output)
    }

    fn find(&self, find: &Find) -> Vec<DocumentKey> {
        let of_account = |account: AccountId, key: DocumentKey| {
            self.get(key).is_some_and(|kept| kept.document.account_id == account)
        };
        match find {
            Find::One(account, key) => {
                Some(*key).filter(|key| of_account(*account, *key)).into_iter().collect()
            }
            Find::Any(key) => vec![*key],
            Find::These(DocumentKind::Bucket, ids) => {
                ids.iter().flat_map(|id| self.whole(BucketId::from_uuid(*id))).collect()
            }
            Find::These(kind, ids) => {
                ids.iter().map(|id| DocumentKey { kind: *kind, id: *id }).collect()
            }
            Find::OfAccount(account, kind, page) => page.of(self.of(*account, *kind)).collect(),
            Find::Named(kind @ DocumentKind::Domain, None, name) => {
                self.named(*kind, Uuid::nil(), name).into_iter().collect()
            }
            Find::Named(kind, account, name) => {
                let documents = self.of_kind(*kind).map(|kept| &kept.document);
                let owned = documents
                    .filter(|document| account.is_none_or(|owner| document.account_id == owner));
                let named = owned.filter(|document| document.name == *name);
                named.map(|document| document.key).collect()
            }
            Find::Users(kind, used) => self.with(Entry::Use(*used), *kind..=*kind).collect(),
            Find::Watched(kind, after, limit) => {
                let watched = self.of_kind(*kind).map(|kept| &kept.document);
                let watched = watched.filter(|document| document.is_watched);
                let watched = watched.map(|document| document.key);
                let later = watched.filter(|key| after.is_none_or(|after| key.id > after));
                later.take(*limit).collect()
            }
            Find::Bucket(account, id) if of_account(*account, Bucket::key(id.as_uuid())) => {
                self.whole(*id).collect()
            }
            Find::Bucket(..) => Vec::new(),
            Find::BucketOf(key) => {
                let bucket = self.get(*key).and_then(|kept| kept.document.bucket_id);
                bucket.into_iter().flat_map(|id| self.whole(id)).collect()
            }
            Find::BucketNamed(account, name) => {
                let key = self.named(DocumentKind::Bucket, account.as_uuid(), name);
                key.into_iter().flat_map(|key| self.whole(BucketId::from_uuid(key.id))).collect()
            }
            Find::Buckets(account, page) => {
                let buckets = page.of(self.of(*account, DocumentKind::Bucket));
                buckets.flat_map(|key| self.whole(BucketId::from_uuid(key.id))).collect()
            }
        }
    }

    /// Stores or removes a document with its index entries, and answers the former one.
    fn set(&mut self, key: DocumentKey, new: Option<Arc<Kept>>) -> Option<Arc<Kept>> {
        let old = match &new {
            Some(new) => self.kept.insert(key, new.clone()),
            None => self.kept.remove(&key),
        };
        if let Some(Kept { document, .. }) = old.as_deref() {
            for entry in entries(document) {
                self.index.remove(&(entry, key));
            }
            *self.counts.entry((document.account_id, key.kind)).or_default() -= 1;
        }
        if let Some(Kept { document, .. }) = new.as_deref() {
            self.index.extend(entries(document).map(|entry| (entry, key)));
            *self.counts.entry((document.account_id, key.kind)).or_default() += 1;
        }
        old
    }
}

/// Changes that can be taken back.
struct Applying<'a> {
    directory: &'a mut Directory,
    before: Vec<(DocumentKey, Option<Arc<Kept>>)>,
}

impl Applying<'_> {
    fn set(&mut self, key: DocumentKey, new: Option<Kept>) {
        let old = self.directory.set(key, new.map(Arc::new));
        self.before.push((key, old));
    }

    fn take_back(self) {
        for (key, old) in self.before.into_iter().rev() {
            self.directory.set(key, old);
        }
    }

    fn owned(&self, key: DocumentKey, account: AccountId) -> Result<&Kept, Refusal> {
        let kept = self.directory.get(key).filter(|kept| kept.document.account_id == account);
        kept.ok_or(Refusal::Missing(key.kind))
    }

    /// Refuses a document whose bucket or used documents are missing, or whose name or route
    /// belongs to another document.
    fn check(&self, document: &Document) -> Result<(), Refusal> {
        let Document { key, account_id, bucket_id, uses, .. } = document;
        if let Some(bucket) = bucket_id.filter(|_| key.kind != DocumentKind::Bucket) {
            self.owned(Bucket::key(bucket.as_uuid()), *account_id)?;
        }
        for used in uses {
            self.owned(*used, *account_id)?;
        }
        let mut unique = entries(document).filter_map(|entry| match entry {
            Entry::Name(..) => Some((entry, Refusal::NameTaken(key.kind))),
            Entry::Route(_) => Some((entry, Refusal::RouteTaken)),
            _ => None,
        });
        let kinds = key.kind..=key.kind;
        let is_other = |entry| self.directory.with(entry, kinds.clone()).any(|other| other != *key);
        match unique.find_map(|(entry, refusal)| is_other(entry).then_some(refusal)) {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    }

    fn apply(&mut self, change: &Change) -> Result<(), Refusal> {
        match change {
            Change::Create { document, bounds } => self.create(document, *bounds),
            Change::Update { document, expected_version } => {
                self.update(document, *expected_version)
            }
            Change::Delete { key, account_id, expected_version } => {
                let found = self.owned(*key, *account_id)?.document.version;
                if expected_version.is_some_and(|expected| expected != found) {
                    return Err(Refusal::Stale);
                }
                let kinds = DocumentKind::Bucket..=DocumentKind::Notification;
                let inside = Entry::Bucket(BucketId::from_uuid(key.id));
                let gone: Vec<_> = match key.kind {
                    DocumentKind::Bucket => self.directory.with(inside, kinds).collect(),
                    _ => vec![*key],
                };
                gone.into_iter().for_each(|key| self.set(key, None));
                Ok(())
            }
            Change::Unused(key) => {
                let inside = (key.kind == DocumentKind::Bucket)
                    .then(|| Entry::Bucket(BucketId::from_uuid(key.id)));
                let kinds = DocumentKind::Input..=DocumentKind::Notification;
                let inside = inside.into_iter().flat_map(|inside| {
                    self.directory.with(inside, DocumentKind::Input..=DocumentKind::Output)
                });
                match inside.chain(self.directory.with(Entry::Use(*key), kinds)).next() {
                    Some(_) => Err(Refusal::Used),
                    None => Ok(()),
                }
            }
            Change::State(change) => self.change_state(change),
        }
    }

    fn create(&mut self, document: &Document, bounds: Bounds) -> Result<(), Refusal> {
        let Document { key, account_id, bucket_id, .. } = document;
        let kind = key.kind;
        if self.directory.get(*key).is_some() {
            return Err(Refusal::Exists(kind));
        }
        self.check(document)?;
        if let Some(bucket) = bucket_id.filter(|_| kind.is_counted_in_bucket())
            && self.directory.with(Entry::Bucket(bucket), kind..=kind).count() as u64
                >= bounds.in_bucket
        {
            return Err(Refusal::BucketFull(kind));
        }
        if self.directory.count(*account_id, kind) >= bounds.in_account {
            return Err(Refusal::AccountFull(kind));
        }
        let document = Document { version: 1, ..document.clone() };
        self.set(*key, Some(Kept { document, former: Vec::new(), held: None }));
        Ok(())
    }

    fn update(&mut self, new: &Document, expected_version: u64) -> Result<(), Refusal> {
        let mut kept = self.owned(new.key, new.account_id)?.clone();
        let stays = new.key.kind != DocumentKind::Notification;
        if stays && kept.document.bucket_id != new.bucket_id {
            return Err(Refusal::Missing(new.key.kind));
        }
        if kept.document.version != expected_version {
            return Err(Refusal::Stale);
        }
        self.check(new)?;
        let Document { created_at, ref state, .. } = kept.document;
        let (version, state) = (expected_version + 1, state.clone());
        let new = Document { created_at, state, version, ..new.clone() };
        let former = std::mem::replace(&mut kept.document, new);
        kept.former.insert(0, former);
        kept.former.truncate(MAX_VERSIONS - 1);
        self.set(kept.document.key, Some(kept));
        Ok(())
    }

    fn change_state(&mut self, change: &StateChange) -> Result<(), Refusal> {
        let key = change.key();
        let Some(mut kept) = self.directory.get(key).cloned() else { return Ok(()) };
        let state = &mut kept.document.state;
        match change {
            StateChange::Pauses(_, change) => state.pauses.change(change.clone()),
            StateChange::Failing(_, since) => {
                state.failing_since.get_or_insert(*since);
            }
            StateChange::Working(_) => state.failing_since = None,
            StateChange::Schedule { known, next_run, .. } => {
                if state.cron.next_run != *known {
                    return Err(Refusal::Stale);
                }
                if next_run != known {
                    state.cron.next_run = *next_run;
                    state.cron.is_over = false;
                    kept.held = None;
                }
            }
            StateChange::Sent(_, at) => state.last_sent_at = Some(*at),
        }
        self.set(key, Some(kept));
        Ok(())
    }
}

impl MemoryStore {
    /// Brings other parts of the store in line with documents that were made or removed.
    fn follow(&self, directory: &Directory, changed: Vec<(DocumentKey, Option<Arc<Kept>>)>) {
        for (key, old) in changed {
            match (key.kind, old, directory.get(key)) {
                (DocumentKind::Function, None, Some(new)) => {
                    let id = FunctionId::from_uuid(key.id);
                    self.functions.lock().insert(new.document.account_id, id);
                }
                (DocumentKind::Function, Some(_), None) => {
                    self.functions.lock().remove(FunctionId::from_uuid(key.id));
                }
                (DocumentKind::Notification, Some(_), None) => {
                    let gone = NotificationId::from_uuid(key.id);
                    self.notices.lock().retain(|(notification, ..), _| *notification != gone);
                }
                (DocumentKind::Bucket, Some(_), None) => {
                    let gone = Some(BucketId::from_uuid(key.id));
                    self.notices.lock().retain(|_, notice| notice.bucket != gone);
                }
                (DocumentKind::Output, Some(_), None) => {
                    self.queue().give_up(OutputId::from_uuid(key.id));
                }
                _ => {}
            }
        }
    }
}

#[async_trait]
impl DocumentStore for MemoryStore {
    async fn find(&self, find: Find) -> Result<Vec<Document>, Error> {
        let found: Vec<_> = {
            let directory = self.directory();
            let keys = directory.find(&find).into_iter();
            keys.filter_map(|key| directory.kept.get(&key).cloned()).collect()
        };
        Ok(found.iter().map(|kept| answered(&kept.document)).collect())
    }

    async fn apply(&self, changes: &[Change]) -> Result<(), ApplyError> {
        let mut directory = self.directory_mut();
        let mut applying = Applying { directory: &mut directory, before: Vec::new() };
        if let Err(refusal) = changes.iter().try_for_each(|change| applying.apply(change)) {
            applying.take_back();
            return Err(refusal.into());
        }
        let changed = std::mem::take(&mut applying.before);
        self.follow(&directory, changed);
        Ok(())
    }

    async fn counts(&self, account: AccountId) -> Result<Vec<(DocumentKind, u64)>, Error> {
        let directory = self.directory();
        let count = |kind| (kind, directory.count(account, kind));
        Ok(DocumentKind::ALL.into_iter().map(count).filter(|(_, count)| *count > 0).collect())
    }

    async fn history(&self, account: AccountId, key: DocumentKey) -> Result<Vec<Document>, Error> {
        let kept = self.directory().kept.get(&key).cloned();
        let kept = kept.filter(|kept| kept.document.account_id == account);
        let versions =
            kept.iter().flat_map(|kept| [&kept.document].into_iter().chain(&kept.former));
        // A state belongs to the document, not to one of its versions.
        let without_state =
            |version| Document { state: DocumentState::default(), ..answered(version) };
        Ok(versions.map(without_state).collect())
    }
}
