//! Notifications.

use async_trait::async_trait;
use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, Error, NotificationId, Timestamp,
    model::Notification,
    store::{Note, Notice, NoticeSent, NotificationStore},
};

use super::read_error;
use crate::{
    Storage,
    entity::{
        millis, moment,
        notification::{
            COLUMNS, NOTICE_COLUMNS, count, notice, notice_values, spec_values, stored, values,
        },
    },
    fault,
    tx::{Param, Query, Read, Tx, with},
};

const WHAT: &str = "notification";

/// Adds to what is still to be told, and says when it is. The values after those of the notice
/// are the shortest time between two, twice, and whether the moment does not matter.
const NOTE: &str = "\
    ON CONFLICT (notification_id, event, subject) DO UPDATE SET \
    first_at = CASE WHEN notice.due_at IS NULL THEN excluded.first_at ELSE notice.first_at END, \
    due_at = CASE WHEN notice.due_at IS NOT NULL THEN notice.due_at \
        WHEN notice.sent_at + ? > excluded.due_at THEN notice.sent_at + ? \
        ELSE excluded.due_at END, \
    moment = CASE WHEN excluded.moment > notice.moment THEN excluded.moment \
        ELSE notice.moment END, \
    last_at = excluded.last_at, count = notice.count + excluded.count, \
    detail = excluded.detail \
    WHERE excluded.moment > notice.moment OR ? = 1";

impl Storage {
    async fn read_notifications(&self, query: Query<'_>) -> Result<Vec<Notification>, Error> {
        let rows = Read::query(&self.database().read, query, stored).await;
        rows.map_err(read_error)?.into_iter().map(|row| row.open()).collect()
    }

    async fn read_notices(&self, query: Query<'_>) -> Result<Vec<Notice>, Error> {
        let rows = Read::query(&self.database().read, query, notice).await;
        Ok(rows.map_err(read_error)?.into_iter().flatten().collect())
    }

    async fn put_notification(&self, query: Query<'_>) -> Result<u64, Error> {
        let put = Tx::execute(&self.database().write, query).await;
        put.map_err(|error| fault::error(error, WHAT))
    }
}

fn found(rows: u64) -> Result<(), Error> {
    if rows == 0 { Err(Error::not_found(WHAT)) } else { Ok(()) }
}

#[async_trait]
impl NotificationStore for Storage {
    async fn create_notification(&self, notification: &Notification) -> Result<(), Error> {
        let sql = format!("INSERT INTO notification ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)");
        self.put_notification(with(sql, values(notification)?)).await.map(|_| ())
    }

    async fn notification(
        &self,
        account: AccountId,
        id: NotificationId,
    ) -> Result<Option<Notification>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM notification WHERE id = ? AND account_id = ?");
        let query = with(sql, [id.as_uuid().into(), account.as_uuid().into()]);
        Ok(self.read_notifications(query).await?.pop())
    }

    async fn notifications(&self, account: AccountId) -> Result<Vec<Notification>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM notification WHERE account_id = ? ORDER BY id");
        self.read_notifications(with(sql, [account.as_uuid().into()])).await
    }

    async fn update_notification(&self, notification: &Notification) -> Result<(), Error> {
        let Notification { id, account_id, updated_at, spec, .. } = notification;
        let sql = "UPDATE notification SET to_bucket = ?, events = ?, buckets = ?, disabled = ?, \
            min_interval = ?, queue_deep_at = ?, updated_at = ? WHERE id = ? AND account_id = ?";
        let place: [Param<'_>; 3] =
            [millis(*updated_at).into(), id.as_uuid().into(), account_id.as_uuid().into()];
        let values = spec_values(spec)?.into_iter().chain(place);
        found(self.put_notification(with(sql, values)).await?)
    }

    async fn delete_notification(
        &self,
        account: AccountId,
        id: NotificationId,
    ) -> Result<(), Error> {
        let sql = "DELETE FROM notification WHERE id = ? AND account_id = ?";
        let query = with(sql, [id.as_uuid().into(), account.as_uuid().into()]);
        found(self.put_notification(query).await?)
    }

    async fn enabled_notifications(&self) -> Result<Vec<Notification>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM notification WHERE NOT disabled ORDER BY id");
        let sql = match self.database().backend() {
            sea_orm::DbBackend::Sqlite => sql.replace("NOT disabled", "disabled = 0"),
            _ => sql,
        };
        self.read_notifications(with(sql, [])).await
    }

    async fn note(&self, note: &Note) -> Result<bool, Error> {
        let Note { notice, min_interval, again, .. } = note;
        let sql =
            format!("INSERT INTO notice ({NOTICE_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?) {NOTE}");
        let interval = i64::try_from(min_interval.as_millis()).unwrap_or(i64::MAX / 2);
        let mut values = notice_values(notice);
        values.extend([interval.into(), interval.into(), i64::from(*again).into()]);
        Ok(self.put_notification(with(sql, values)).await? > 0)
    }

    async fn notices(
        &self,
        notification: NotificationId,
        bucket: Option<BucketId>,
    ) -> Result<Vec<Notice>, Error> {
        let select = format!("SELECT {NOTICE_COLUMNS} FROM notice WHERE notification_id = ?");
        let id = notification.as_uuid().into();
        let query = match bucket {
            Some(bucket) => {
                with(format!("{select} AND bucket_id = ?"), [id, bucket.as_uuid().into()])
            }
            None => with(format!("{select} AND bucket_id IS NULL"), [id]),
        };
        self.read_notices(query).await
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<Notice>, Error> {
        let sql = format!(
            "SELECT {NOTICE_COLUMNS} FROM notice WHERE due_at <= ? ORDER BY due_at LIMIT ?"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read_notices(with(sql, [millis(now).into(), limit.into()])).await
    }

    async fn notices_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT due_at FROM notice WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";
        let first = Read::query_one(&self.database().read, with(sql, []), |row| row.get("due_at"));
        Ok(first.await.map_err(read_error)?.map(moment))
    }

    async fn notice_sent(&self, sent: &NoticeSent) -> Result<bool, Error> {
        let NoticeSent { notice, at, next, .. } = sent;
        let Some(due_at) = notice.due_at else { return Ok(false) };
        let sql = "UPDATE notice SET sent_at = ?, \
            due_at = CASE WHEN count > ? THEN ? ELSE NULL END, \
            count = CASE WHEN count > ? THEN count - ? ELSE 0 END \
            WHERE notification_id = ? AND event = ? AND subject = ? AND due_at = ?";
        let (at, told, next) = (millis(*at), count(notice), millis(*next));
        let values: [Param<'_>; 9] = [
            at.into(),
            told.into(),
            next.into(),
            told.into(),
            told.into(),
            notice.notification.as_uuid().into(),
            notice.event.as_str().into(),
            notice.subject.into(),
            millis(due_at).into(),
        ];
        Ok(self.put_notification(with(sql, values)).await? > 0)
    }

    async fn notification_sent(&self, id: NotificationId, at: Timestamp) -> Result<(), Error> {
        let sql = "UPDATE notification SET last_sent_at = ? WHERE id = ?";
        let query = with(sql, [millis(at).into(), id.as_uuid().into()]);
        self.put_notification(query).await.map(|_| ())
    }

    async fn forget_notices(
        &self,
        notification: NotificationId,
        subject: Uuid,
    ) -> Result<(), Error> {
        let sql = "DELETE FROM notice WHERE notification_id = ? AND subject = ?";
        let query = with(sql, [notification.as_uuid().into(), subject.into()]);
        self.put_notification(query).await.map(|_| ())
    }
}
