//! Notifications in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use uuid::Uuid;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, NotificationId},
    model::{Notification, NotificationEvent},
    store::{Note, Notice, NoticeSent, NotificationStore},
};

type Key = (NotificationId, NotificationEvent, Uuid);

/// Every notification, and what each has told.
#[derive(Default)]
pub(super) struct Notifications {
    rows: BTreeMap<NotificationId, Notification>,
    notices: BTreeMap<Key, Notice>,
}

const fn key(notice: &Notice) -> Key {
    (notice.notification, notice.event, notice.subject)
}

impl Notifications {
    fn of(&self, account: AccountId, id: NotificationId) -> Option<&Notification> {
        self.rows.get(&id).filter(|row| row.account_id == account)
    }

    fn remove(&mut self, id: NotificationId) {
        self.rows.remove(&id);
        self.notices.retain(|(notification, ..), _| *notification != id);
    }

    /// Removes what leads into a bucket that is gone, and what is to be told of it.
    pub(super) fn remove_with(&mut self, bucket: BucketId) {
        let leads = |row: &&Notification| row.spec.target() == Some(bucket);
        let gone: Vec<_> = self.rows.values().filter(leads).map(|row| row.id).collect();
        gone.into_iter().for_each(|id| self.remove(id));
        self.notices.retain(|_, notice| notice.bucket != Some(bucket));
    }
}

#[async_trait]
impl NotificationStore for MemoryStore {
    async fn create_notification(&self, notification: &Notification) -> Result<(), Error> {
        let mut all = self.notifications.lock();
        if all.rows.contains_key(&notification.id) {
            return Err(Error::conflict("a notification with this id exists"));
        }
        all.rows.insert(notification.id, notification.clone());
        Ok(())
    }

    async fn notification(
        &self,
        account: AccountId,
        id: NotificationId,
    ) -> Result<Option<Notification>, Error> {
        Ok(self.notifications.lock().of(account, id).cloned())
    }

    async fn notifications(&self, account: AccountId) -> Result<Vec<Notification>, Error> {
        let all = self.notifications.lock();
        Ok(all.rows.values().filter(|row| row.account_id == account).cloned().collect())
    }

    async fn update_notification(&self, notification: &Notification) -> Result<(), Error> {
        let Notification { id, account_id, updated_at, spec, .. } = notification;
        let mut all = self.notifications.lock();
        let row = all.rows.get_mut(id).filter(|row| row.account_id == *account_id);
        let row = row.ok_or_else(|| Error::not_found("notification"))?;
        (row.updated_at, row.spec) = (*updated_at, spec.clone());
        Ok(())
    }

    async fn delete_notification(
        &self,
        account: AccountId,
        id: NotificationId,
    ) -> Result<(), Error> {
        let mut all = self.notifications.lock();
        all.of(account, id).ok_or_else(|| Error::not_found("notification"))?;
        all.remove(id);
        Ok(())
    }

    async fn enabled_notifications(&self) -> Result<Vec<Notification>, Error> {
        let all = self.notifications.lock();
        Ok(all.rows.values().filter(|row| !row.spec.disabled).cloned().collect())
    }

    async fn note(&self, note: &Note) -> Result<bool, Error> {
        let Note { notice: new, min_interval, again } = note;
        let mut all = self.notifications.lock();
        if !all.rows.contains_key(&new.notification) {
            return Err(Error::not_found("notification"));
        }
        let Some(old) = all.notices.get_mut(&key(new)) else {
            all.notices.insert(key(new), new.clone());
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
        let all = self.notifications.lock();
        let of = |notice: &&Notice| notice.notification == notification && notice.bucket == bucket;
        Ok(all.notices.values().filter(of).cloned().collect())
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<Notice>, Error> {
        let all = self.notifications.lock();
        let is_due = |notice: &&Notice| notice.due_at.is_some_and(|due| due <= now);
        let mut due: Vec<_> = all.notices.values().filter(is_due).cloned().collect();
        due.sort_by_key(|notice| notice.due_at);
        due.truncate(limit);
        Ok(due)
    }

    async fn notices_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        let all = self.notifications.lock();
        Ok(all.notices.values().filter_map(|notice| notice.due_at).min())
    }

    async fn notice_sent(&self, sent: &NoticeSent) -> Result<bool, Error> {
        let NoticeSent { notice, at, next } = sent;
        let mut all = self.notifications.lock();
        let Some(row) = all.notices.get_mut(&key(notice)) else { return Ok(false) };
        if row.due_at != notice.due_at {
            return Ok(false);
        }
        row.count = row.count.saturating_sub(notice.count);
        row.due_at = (row.count > 0).then_some(*next);
        row.sent_at = Some(*at);
        Ok(true)
    }

    async fn notification_sent(&self, id: NotificationId, at: Timestamp) -> Result<(), Error> {
        if let Some(row) = self.notifications.lock().rows.get_mut(&id) {
            row.last_sent_at = Some(at);
        }
        Ok(())
    }

    async fn forget_notices(
        &self,
        notification: NotificationId,
        subject: Uuid,
    ) -> Result<(), Error> {
        let mut all = self.notifications.lock();
        all.notices.retain(|key, _| (key.0, key.2) != (notification, subject));
        Ok(())
    }
}
