//! Who wants to be told of what, and which buckets have changed since somebody looked.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::json;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::{
    clock::{Clock, Timestamp},
    error::Error,
    id::{AccountId, BucketId, NotificationId},
    lock::Lock,
    model::{Bucket, Notification, NotificationEvent, Replay, ReplayTotals},
    store::{
        DocumentKind, DocumentStore, Find, Note, Notice, NotificationStore, ReplayStore, Stores,
    },
};

/// The field of a notice's detail that counts the relays which the webhook in question had
/// passed: a notification about a webhook in a loop may cause another loop.
pub(super) const HOPS: &str = "hops";

/// A notification that is not disabled.
#[derive(Debug)]
pub(super) struct Subscriber {
    pub(super) notification: Notification,
    pub(super) target: BucketId,
    /// Empty for all.
    buckets: Vec<BucketId>,
}

/// Those of one account.
#[derive(Debug, Default)]
pub(super) struct Subscribers(pub(super) Vec<Arc<Subscriber>>);

impl Subscribers {
    /// Those that are told of what happens in a bucket: none of what happens where one of them
    /// leads, or what it puts there could bring forth the next.
    pub(super) fn about(&self, bucket: BucketId) -> impl Iterator<Item = &Arc<Subscriber>> {
        self.about_any(Some(bucket))
    }

    /// As [`about`](Self::about); without a bucket, of what happens in all of them.
    fn about_any(&self, bucket: Option<BucketId>) -> impl Iterator<Item = &Arc<Subscriber>> {
        let is_target = self.0.iter().any(|subscriber| Some(subscriber.target) == bucket);
        self.0.iter().filter(move |subscriber| {
            let buckets = &subscriber.buckets;
            let is_meant = || bucket.is_some_and(|bucket| buckets.contains(&bucket));
            !is_target && (buckets.is_empty() || is_meant())
        })
    }
}

impl Subscriber {
    pub(super) fn wants(&self, event: NotificationEvent) -> bool {
        self.notification.spec.events.contains(&event)
    }

    /// Whether it wants to be told of it, or of its end.
    pub(super) fn follows(&self, event: NotificationEvent) -> bool {
        use NotificationEvent::{
            OutputFailing, OutputPaused, OutputRecovered, OutputResumed, QueueDeep, QueueDrained,
        };
        self.wants(event)
            || match event {
                OutputFailing => self.wants(OutputRecovered),
                OutputPaused => self.wants(OutputResumed),
                // Each begins where the other has ended.
                QueueDeep | QueueDrained => self.follows_queues(),
                _ => false,
            }
    }

    /// Whether it wants to be told of queues that become deep, or that do no longer.
    pub(super) fn follows_queues(&self) -> bool {
        self.wants(NotificationEvent::QueueDeep) || self.wants(NotificationEvent::QueueDrained)
    }
}

/// What happened since the store was told, and when its notice is due at the latest.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) note: Note,
    until: Timestamp,
}

type Key = (NotificationId, NotificationEvent, Uuid);

const fn key(notice: &Notice) -> Key {
    (notice.notification, notice.event, notice.subject)
}

type Place = (AccountId, BucketId);

/// Knows which accounts want to be told of something. What happens to others costs a look into
/// a map that is empty as long as nobody wants anything.
#[derive(Debug)]
pub(crate) struct Watch {
    documents: Arc<dyn DocumentStore>,
    pub(super) store: Arc<dyn NotificationStore>,
    pub(super) clock: Arc<dyn Clock>,
    known: RwLock<Arc<HashMap<AccountId, Subscribers>>>,
    /// When to look at which bucket.
    looks: Lock<BTreeMap<Place, Timestamp>>,
    /// What happened again that the store has a notice of, which is still to be told.
    gathered: Lock<HashMap<Key, Gathered>>,
    pub(super) changed: Notify,
}

impl Watch {
    pub(crate) fn new(stores: &Stores, clock: Arc<dyn Clock>) -> Self {
        Self {
            documents: stores.documents.clone(),
            store: stores.notifications.clone(),
            clock,
            known: RwLock::default(),
            looks: Lock::default(),
            gathered: Lock::default(),
            changed: Notify::new(),
        }
    }

    /// Reads anew who wants to be told of something.
    pub(crate) async fn read(&self) -> Result<(), Error> {
        let mut known: HashMap<_, Subscribers> = HashMap::new();
        let enabled = Find::Watched(DocumentKind::Notification, None, usize::MAX);
        for notification in self.documents.search::<Notification>(enabled).await? {
            let Some(target) = notification.spec.target() else { continue };
            let ids = notification.spec.buckets.iter().map(|id| id.parse());
            let Ok(buckets) = ids.collect() else { continue };
            let account = known.entry(notification.account_id).or_default();
            account.0.push(Arc::new(Subscriber { notification, target, buckets }));
        }
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        self.changed.notify_one();
        Ok(())
    }

    pub(super) fn known(&self) -> Arc<HashMap<AccountId, Subscribers>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says that a bucket has changed, or what is in it.
    pub(crate) fn bucket_changed(&self, account: AccountId, bucket: BucketId) {
        let known = self.known();
        let about = |account: &Subscribers| account.about(bucket).next().is_some();
        if known.get(&account).is_some_and(about) {
            self.look((account, bucket), self.clock.now());
            self.changed.notify_one();
        }
    }

    /// Has the bucket looked at then, or sooner if that was said before.
    pub(super) fn look(&self, place: Place, at: Timestamp) {
        let mut looks = self.looks.lock();
        let first = looks.entry(place).or_insert(at);
        *first = at.min(*first);
    }

    /// The buckets to look at now, and when the next is to be.
    pub(super) fn due(&self, now: Timestamp) -> (Vec<Place>, Option<Timestamp>) {
        let mut looks = self.looks.lock();
        let due = looks.extract_if(.., |_, at| *at <= now).map(|(place, _)| place).collect();
        (due, looks.values().min().copied())
    }

    /// Whether somebody wants to be told of it.
    fn is_wanted(&self, bucket: &Bucket, event: NotificationEvent) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let about = known.get(&bucket.account_id).map(|account| account.about(bucket.id));
        about.into_iter().flatten().any(|subscriber| subscriber.wants(event))
    }

    /// Notes that something fails because of a webhook that has passed `hops` relays, before the
    /// failure itself is stored: the first time in the store, so that it does not go untold, and
    /// the next times, until that one is told, here.
    pub(crate) async fn failed(
        &self,
        bucket: &Bucket,
        event: NotificationEvent,
        subject: Uuid,
        hops: u16,
        error: impl Fn() -> String,
    ) {
        if self.is_wanted(bucket, event) {
            let mut detail = json!({ "last_error": error() });
            if hops > 0 {
                detail[HOPS] = json!(hops);
            }
            let detail = detail.to_string();
            // Boxed: rare, and too large for every webhook to carry.
            Box::pin(self.note_failure(bucket, event, subject, detail)).await;
        }
    }

    async fn note_failure(
        &self,
        bucket: &Bucket,
        event: NotificationEvent,
        subject: Uuid,
        detail: String,
    ) {
        let known = self.known();
        let Some(account) = known.get(&bucket.account_id) else { return };
        for subscriber in account.about(bucket.id).filter(|subscriber| subscriber.wants(event)) {
            let Notification { id, spec, .. } = &subscriber.notification;
            let (key, now) = ((*id, event, subject), self.clock.now());
            if let Some(gathered) = self.gathered.lock().get_mut(&key) {
                gathered.note.notice.count += 1;
                gathered.note.notice.detail.clone_from(&detail);
                continue;
            }
            let mut notice = Notice::new(*id, event, subject, Some(bucket.id), now);
            notice.detail.clone_from(&detail);
            let note = Note { again: true, ..Note::new(notice, spec.min_interval) };
            let none_yet = Note { notice: Notice { count: 0, ..note.notice.clone() }, ..note };
            let until = now + spec.min_interval;
            self.gathered.lock().insert(key, Gathered { note: none_yet, until });
            if let Err(error) = self.store.note(&note).await {
                tracing::warn!(notification = %id, %error, "not noted");
                self.gathered.lock().remove(&key);
            }
            self.changed.notify_one();
        }
    }

    /// Notes that a replay ends by itself, before that is stored: so it is told, whenever a node
    /// ends. Whoever ends it again notes the same moment, and tells it by the same webhook.
    pub(crate) async fn replay_ends(
        &self,
        replay: &Replay,
        replays: &dyn ReplayStore,
    ) -> Result<(), Error> {
        let event = NotificationEvent::ReplayFinished;
        let known = self.known();
        let Some(account) = known.get(&replay.account_id) else { return Ok(()) };
        let about = account.about_any(replay.bucket_id);
        let subscribers: Vec<_> = about.filter(|subscriber| subscriber.wants(event)).collect();
        if subscribers.is_empty() {
            return Ok(());
        }
        let Replay { id, status, error, skipped, created_at, .. } = replay;
        let totals = replays.replay_totals(&[*id]).await?.pop().unwrap_or_default();
        let ReplayTotals { queued, sent, failed, rejected } = totals;
        let detail = json!({ "status": status, "error": error, "queued": queued, "sent": sent,
            "failed": failed, "rejected": rejected, "skipped": skipped });
        for subscriber in subscribers {
            let Notification { id: notification, spec, .. } = &subscriber.notification;
            let (subject, now) = (id.as_uuid(), self.clock.now());
            let mut notice = Notice::new(*notification, event, subject, replay.bucket_id, now);
            (notice.moment, notice.due_at) = (*created_at, Some(*created_at));
            notice.detail = detail.to_string();
            self.store.note(&Note::new(notice, spec.min_interval)).await?;
        }
        self.changed.notify_one();
        Ok(())
    }

    /// What was gathered here of a notice; what comes from now on is noted in the store.
    pub(super) fn take(&self, notice: &Notice) -> Option<Gathered> {
        self.gathered.lock().remove(&key(notice))
    }

    /// What was taken and could not be told.
    pub(super) fn put_back(&self, gathered: Gathered) {
        match self.gathered.lock().entry(key(&gathered.note.notice)) {
            Entry::Occupied(mut new) => {
                new.get_mut().note.notice.count += gathered.note.notice.count;
            }
            Entry::Vacant(place) => drop(place.insert(gathered)),
        }
    }

    /// Notes in the store what was gathered here of notices that another node has told. When
    /// there may be more of it.
    pub(super) async fn note_gathered(&self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let is_late = |_: &_, gathered: &mut Gathered| gathered.until <= now;
        let late: Vec<_> = self.gathered.lock().extract_if(is_late).collect();
        for (_, Gathered { mut note, .. }) in late {
            if note.notice.count > 0 {
                note.notice.due_at = Some(now);
                (note.notice.moment, note.notice.last_at) = (now, now);
                self.store.note(&note).await?;
            }
        }
        Ok(self.gathered.lock().values().map(|gathered| gathered.until).min())
    }
}

/// The text about an answer that is a failure.
pub(crate) fn answered(status: u16) -> String {
    format!("the destination answered {status}")
}
