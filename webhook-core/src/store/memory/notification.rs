//! Notices in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use uuid::Uuid;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{BucketId, NotificationId},
    model::{Notification, NotificationEvent},
    store::{Configured, Note, Notice, NoticeSent, NotificationStore},
};

type Key = (NotificationId, NotificationEvent, Uuid);

/// What notifications have told.
pub(super) type Notices = BTreeMap<Key, Notice>;

const fn key(notice: &Notice) -> Key {
    (notice.notification, notice.event, notice.subject)
}

#[async_trait]
impl NotificationStore for MemoryStore {
    async fn note(&self, note: &Note) -> Result<bool, Error> {
        let Note { notice: new, min_interval, again } = note;
        let directory = self.directory();
        if directory.get(Notification::key(new.notification.as_uuid())).is_none() {
            return Err(Error::not_found("notification"));
        }
        let mut all = self.notices.lock();
        let Some(old) = all.get_mut(&key(new)) else {
            all.insert(key(new), new.clone());
            return Ok(true);
        };
        if new.moment <= old.moment && !again {
            return Ok(false);
        }
        if old.due_at.is_none() {
            old.first_at = new.first_at;
            let earliest = old.sent_at.map(|sent| sent + *min_interval);
            old.due_at = new.due_at.map(|due| earliest.map_or(due, |earliest| due.max(earliest)));
        }
        old.moment = old.moment.max(new.moment);
        old.last_at = new.last_at;
        old.count += new.count;
        old.detail.clone_from(&new.detail);
        Ok(true)
    }

    async fn notices(
        &self,
        notification: NotificationId,
        bucket: Option<BucketId>,
    ) -> Result<Vec<Notice>, Error> {
        let all = self.notices.lock();
        let of = |notice: &&Notice| notice.notification == notification && notice.bucket == bucket;
        Ok(all.values().filter(of).cloned().collect())
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<Notice>, Error> {
        let all = self.notices.lock();
        let is_due = |notice: &&Notice| notice.due_at.is_some_and(|due| due <= now);
        let mut due: Vec<_> = all.values().filter(is_due).cloned().collect();
        due.sort_by_key(|notice| notice.due_at);
        due.truncate(limit);
        Ok(due)
    }

    async fn notices_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        let all = self.notices.lock();
        Ok(all.values().filter_map(|notice| notice.due_at).min())
    }

    async fn notice_sent(&self, sent: &NoticeSent) -> Result<bool, Error> {
        let NoticeSent { notice, at, next } = sent;
        let mut all = self.notices.lock();
        let Some(row) = all.get_mut(&key(notice)) else { return Ok(false) };
        if row.due_at != notice.due_at {
            return Ok(false);
        }
        row.count = row.count.saturating_sub(notice.count);
        row.due_at = (row.count > 0).then_some(*next);
        row.sent_at = Some(*at);
        Ok(true)
    }

    async fn forget_notices(
        &self,
        notification: NotificationId,
        subject: Uuid,
    ) -> Result<(), Error> {
        let mut all = self.notices.lock();
        all.retain(|key, _| (key.0, key.2) != (notification, subject));
        Ok(())
    }
}
