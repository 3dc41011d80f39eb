//! Notifications: webhooks about what happens to others.
//!
//! What happens to an output is stored with the output; what is told of it follows from that
//! ([`compare`]), is noted in a notice, and becomes a webhook in a bucket of the account, which
//! takes the way of any other. Between each two of these a node may end: whoever looks next
//! finds the same happening with the same moment, and the webhook has an identifier that
//! follows from the notice. So it is told once.

mod compare;
mod event;

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde_json::{Map, json};

use self::event::Told;
use crate::{
    clock::{Clock, Ids, Timestamp, sleep_until},
    error::Error,
    id::{AccountId, BucketId, NotificationId, OutputId, WebhookId},
    model::{Bucket, DeliveryStatus, Notification, NotificationEvent, Output},
    relay::{
        RelayOptions, RelayParts,
        intake::{accept::Intake, inject::derived_id},
        watch::{self, Subscriber, Subscribers, Watch},
    },
    store::{
        BucketStore, Change, CountQuery, DocumentStore, LogStore, Note, Notice, NoticeSent,
        StateChange,
    },
    wire::Choice,
};

/// How long to wait when the store did not answer.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// How often a node that others share the store with looks at all that somebody wants to be told
/// of: one of the others may have ended between what happened and what is told of it.
const EVERYWHERE: Duration = Duration::from_secs(300);
/// How often it is counted what waits for outputs, where somebody wants to be told of that.
const QUEUES: Duration = Duration::from_secs(15);
/// How many notices are read at once.
const AT_ONCE: usize = 64;

/// Tells what happens.
#[derive(Debug)]
pub(crate) struct Notifier {
    watch: Arc<Watch>,
    documents: Arc<dyn DocumentStore>,
    logs: Arc<dyn LogStore>,
    intake: Arc<Intake>,
    clock: Arc<dyn Clock>,
    ids: Arc<Ids>,
    options: Arc<RelayOptions>,
}

impl Notifier {
    pub(in crate::relay) fn new(
        parts: &RelayParts,
        watch: &Arc<Watch>,
        intake: &Arc<Intake>,
    ) -> Self {
        Self {
            watch: watch.clone(),
            documents: parts.stores.documents.clone(),
            logs: parts.stores.logs.clone(),
            intake: intake.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            options: parts.options.clone(),
        }
    }

    /// Tells what happens for as long as this is awaited. As long as nobody wants to know
    /// anything the store is asked nothing, unless others may change it
    /// ([`RelayOptions::crons_max_age`](crate::relay::RelayOptions)).
    pub(in crate::relay) async fn run(&self) {
        let others = self.options.crons_max_age;
        let mut read_at = others.map(|age| self.clock.now() + age);
        let mut look_at = self.clock.now() + EVERYWHERE;
        loop {
            let now = self.clock.now();
            if read_at.is_some_and(|at| at <= now) {
                let read = match look_at <= now {
                    true => self.look_everywhere().await,
                    false => self.watch.read().await,
                };
                if let Err(error) = read {
                    tracing::error!(%error, "notifications cannot be read");
                }
                if look_at <= now {
                    look_at = now + EVERYWHERE;
                }
                read_at = others.map(|age| now + age);
            }
            let wake = self.tell_due().await.unwrap_or_else(|error| {
                tracing::error!(%error, "notifications wait");
                Some(self.clock.now() + STORE_PAUSE)
            });
            let next = wake.into_iter().chain(read_at).min();
            tokio::select! {
                () = sleep_until(&*self.clock, next) => {}
                () = self.watch.changed.notified() => {}
            }
        }
    }

    /// Reads who wants to know what, and has every bucket looked at that is meant: what
    /// happened while nobody looked is told, too.
    pub(in crate::relay) async fn look_everywhere(&self) -> Result<(), Error> {
        self.watch.read().await?;
        for account in self.watch.known().keys() {
            self.look_at_buckets_of(*account).await?;
        }
        Ok(())
    }

    /// The account wants to know something else.
    pub(in crate::relay) async fn changed(&self, account: AccountId) -> Result<(), Error> {
        self.watch.read().await?;
        self.look_at_buckets_of(account).await
    }

    async fn look_at_buckets_of(&self, account: AccountId) -> Result<(), Error> {
        let now = self.clock.now();
        for bucket in self.documents.buckets(account).await? {
            self.watch.look((account, bucket.id), now);
        }
        self.watch.changed.notify_one();
        Ok(())
    }

    /// Notes what has happened and tells what is due. When the next is.
    pub(in crate::relay) async fn tell_due(&self) -> Result<Option<Timestamp>, Error> {
        let known = self.watch.known();
        if known.is_empty() {
            return Ok(None);
        }
        let (due, next) = self.watch.due(self.clock.now());
        let mut looks = next;
        for (account, bucket) in due {
            let Some(subscribers) = known.get(&account) else { continue };
            match self.look_at(subscribers, account, bucket).await {
                Ok(again) => {
                    let Some(again) = again else { continue };
                    self.watch.look((account, bucket), again);
                    looks = Some(looks.map_or(again, |next| next.min(again)));
                }
                Err(error) => {
                    self.watch.look((account, bucket), self.clock.now() + STORE_PAUSE);
                    return Err(error);
                }
            }
        }
        loop {
            let now = self.clock.now();
            let gathered = self.watch.note_gathered(now).await?;
            let wake = self.watch.store.notices_wake_at().await?;
            if wake.is_none_or(|wake| wake > now) {
                return Ok(wake.into_iter().chain(looks).chain(gathered).min());
            }
            let due = self.watch.store.due_notices(now, AT_ONCE).await?;
            if due.is_empty() {
                // Another node was quicker, or a newer one knows an event that this one does not.
                return Ok(Some(now + STORE_PAUSE));
            }
            for notice in due {
                self.tell(&known, notice).await?;
            }
        }
    }

    /// Notes what has happened in a bucket. When to look again.
    async fn look_at(
        &self,
        subscribers: &Subscribers,
        account: AccountId,
        id: BucketId,
    ) -> Result<Option<Timestamp>, Error> {
        if subscribers.about(id).next().is_none() {
            return Ok(None);
        }
        let Some(bucket) = self.documents.bucket(account, id).await? else { return Ok(None) };
        let waiting = match subscribers.about(id).any(|subscriber| subscriber.follows_queues()) {
            true => self.waiting(&bucket).await?,
            false => HashMap::new(),
        };
        let mut again = (!waiting.is_empty()).then(|| self.clock.now() + QUEUES);
        for subscriber in subscribers.about(id) {
            let notification = &subscriber.notification;
            let told = self.watch.store.notices(notification.id, Some(id)).await?;
            for output in &bucket.outputs {
                let waiting = waiting.get(&output.id).copied();
                let next = self.note(subscriber, &bucket, output, waiting, &told).await?;
                again = again.into_iter().chain(next).min();
            }
            // Of what is no output nothing has to be known but when it was last told.
            let is_needed = |notice: &Notice| {
                let earliest = notice.sent_at.map(|sent| sent + notification.spec.min_interval);
                notice.due_at.is_some()
                    || bucket.outputs.iter().any(|output| output.id.as_uuid() == notice.subject)
                    || earliest.is_some_and(|earliest| earliest > self.clock.now())
            };
            for notice in told.iter().filter(|told| !is_needed(told)) {
                self.watch.store.forget_notices(notification.id, notice.subject).await?;
            }
        }
        Ok(again)
    }

    /// How many webhooks wait for each output of a bucket.
    async fn waiting(&self, bucket: &Bucket) -> Result<HashMap<OutputId, u64>, Error> {
        let count = async |output_id| {
            let query = CountQuery {
                bucket_id: Some(bucket.id),
                output_id,
                status: Some(DeliveryStatus::Received),
                ..CountQuery::default()
            };
            let days = self.logs.days(bucket.account_id, &query).await?;
            Ok::<u64, Error>(days.iter().map(|day| day.received).sum())
        };
        let is_any = count(None).await? > 0;
        let mut waiting = HashMap::new();
        for output in &bucket.outputs {
            let of_it = if is_any { count(Some(output.id)).await? } else { 0 };
            waiting.insert(output.id, of_it);
        }
        Ok(waiting)
    }

    async fn note(
        &self,
        subscriber: &Subscriber,
        bucket: &Bucket,
        output: &Output,
        waiting: Option<u64>,
        told: &[Notice],
    ) -> Result<Option<Timestamp>, Error> {
        let (subject, now) = (output.id.as_uuid(), self.clock.now());
        let told: Vec<_> = told.iter().filter(|notice| notice.subject == subject).collect();
        let (mut happenings, again) = compare::happenings(output, &told, now);
        let deep_at = u64::from(subscriber.notification.spec.queue_deep_at);
        let depth = waiting.and_then(|waiting| compare::depth(waiting, deep_at, &told, now));
        happenings.extend(depth);
        for happening in happenings.into_iter().filter(|it| subscriber.follows(it.event)) {
            let Notification { id, created_at, spec, .. } = &subscriber.notification;
            let mut notice = Notice::new(*id, happening.event, subject, Some(bucket.id), now);
            notice.moment = happening.moment;
            notice.detail = happening.detail.to_string();
            // What began before is known, so that its end is not told either.
            if !subscriber.wants(happening.event) || happening.at < *created_at {
                (notice.due_at, notice.count) = (None, 0);
            }
            self.watch.store.note(&Note::new(notice, spec.min_interval)).await?;
        }
        Ok(again)
    }

    /// Puts the webhook of a notice into the bucket that its notification leads to.
    async fn tell(
        &self,
        known: &HashMap<AccountId, Subscribers>,
        notice: Notice,
    ) -> Result<(), Error> {
        let mut all = known.values().flat_map(|account| &account.0);
        let subscriber = all.find(|it| it.notification.id == notice.notification);
        let gathered = self.watch.take(&notice);
        let now = self.clock.now();
        let mut next = now;
        // Of one that is disabled by now nothing is told.
        if let Some(subscriber) = subscriber {
            let mut whole = notice.clone();
            if let Some(Notice { count, detail, .. }) = gathered.as_ref().map(|it| &it.note.notice)
            {
                whole.count += count;
                whole.detail.clone_from(detail);
            }
            if let Err(error) = self.tell_of(subscriber, &whole).await {
                gathered.into_iter().for_each(|gathered| self.watch.put_back(gathered));
                return Err(error);
            }
            let Notification { id, spec, .. } = &subscriber.notification;
            self.sent(*id, now).await?;
            next = now + spec.min_interval;
        }
        if notice.event == NotificationEvent::ReplayFinished {
            // It ends once, and its webhook has an identifier that says so.
            return self.watch.store.forget_notices(notice.notification, notice.subject).await;
        }
        self.watch.store.notice_sent(&NoticeSent::new(notice, now, next)).await?;
        Ok(())
    }

    async fn tell_of(&self, subscriber: &Subscriber, notice: &Notice) -> Result<(), Error> {
        let notification = &subscriber.notification;
        let account = notification.account_id;
        let about = match notice.bucket {
            Some(bucket) => self.documents.bucket(account, bucket).await?,
            None => None,
        };
        let mut data = event::data(notice, about.as_ref());
        let hops = data.remove(watch::HOPS).and_then(|hops| hops.as_u64()?.try_into().ok());
        if let Some(bucket) = &about
            && notice.event == NotificationEvent::OutputFailing
            && let Some(error) = event::last_error(&*self.logs, notice, bucket).await
        {
            data.insert("last_error".to_owned(), json!(error));
        }
        let source = notice.bucket.map_or_else(
            || format!("/v1/notifications/{}", notification.id),
            |bucket| format!("/v1/buckets/{bucket}"),
        );
        let due = notice.due_at.unwrap_or(notice.last_at);
        let id = notification.id.as_uuid();
        let name = [
            id.as_bytes().as_slice(),
            notice.event.name().as_bytes(),
            notice.subject.as_bytes(),
            &due.as_millis().to_be_bytes(),
        ];
        let told = Told {
            id: derived_id(&name.concat(), due),
            kind: notice.event.name(),
            source,
            subject: Some(format!("{}s/{}", event::kind(notice.event), notice.subject)),
            time: notice.last_at,
            hops: hops.map_or(0, |hops: u16| hops.saturating_add(1)),
            data,
        };
        if !self.inject(subscriber.target, notification, told).await? {
            tracing::debug!(notification = %notification.id, "its bucket is suspended or gone");
        }
        Ok(())
    }

    /// Puts a webhook there, unless the bucket takes none.
    async fn inject(
        &self,
        target: BucketId,
        notification: &Notification,
        told: Told<'_>,
    ) -> Result<bool, Error> {
        let bucket = self.documents.bucket(notification.account_id, target).await?;
        let Some(bucket) = bucket.filter(|bucket| !bucket.suspended) else {
            return Ok(false);
        };
        let bucket = Arc::new(bucket);
        let webhook = told.webhook(notification, &bucket, self.clock.now());
        self.intake.inject(webhook, &bucket, bucket.inputs.first()).await?;
        Ok(true)
    }

    /// Notes when a notification last put a webhook into its bucket.
    async fn sent(&self, id: NotificationId, at: Timestamp) -> Result<(), Error> {
        Ok(self.documents.apply(&[Change::State(StateChange::Sent(id, at))]).await?)
    }

    /// Puts a webhook into the bucket of a notification that says nothing but that it comes.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "the management calls it"))]
    pub(crate) async fn test(&self, notification: &Notification) -> Result<WebhookId, Error> {
        let target = notification.spec.target().ok_or_else(|| Error::not_found("bucket"))?;
        let id = self.ids.next();
        let told = Told {
            id,
            kind: "notification.test",
            source: format!("/v1/notifications/{}", notification.id),
            subject: None,
            time: self.clock.now(),
            hops: 0,
            data: Map::from_iter([("count".to_owned(), json!(1))]),
        };
        if !self.inject(target, notification, told).await? {
            return Err(Error::conflict("the bucket of the notification is suspended or gone"));
        }
        self.sent(notification.id, self.clock.now()).await?;
        Ok(id)
    }
}
