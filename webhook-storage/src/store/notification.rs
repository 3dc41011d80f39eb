//! What notifications have told.

use async_trait::async_trait;
use sea_orm::prelude::Uuid;
use webhook_core::{
    BucketId, Error, NotificationId, Timestamp,
    model::Choice,
    store::{Note, Notice, NoticeSent, NotificationStore},
};

use crate::{
    Storage,
    entity::{
        millis, moment,
        notification::{NOTICE_COLUMNS, count, notice, notice_values},
    },
    fault::About,
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
    async fn read_notices(&self, query: Query<'_>) -> Result<Vec<Notice>, Error> {
        Ok(Read::query(&self.database().read, query, notice).await?.into_iter().flatten().collect())
    }

    async fn write_notice(&self, query: Query<'_>) -> Result<u64, Error> {
        Tx::execute(&self.database().write, query).await.about(WHAT)
    }
}

#[async_trait]
impl NotificationStore for Storage {
    async fn note(&self, note: &Note) -> Result<bool, Error> {
        let Note { notice, min_interval, again, .. } = note;
        let transaction = self.begin(WHAT).await?;
        let noted = async {
            let held = transaction.on_postgres(" FOR KEY SHARE");
            let held = format!(
                "SELECT id FROM document WHERE kind = 'notification' AND id = ? \
                 AND deleted_at IS NULL{held}"
            );
            let held = with(held, [notice.notification.as_uuid().into()]);
            if !transaction.has_rows(held).await.about(WHAT)? {
                return Err(Error::not_found(WHAT));
            }
            let places = "?,?,?,?,?,?,?,?,?,?,?";
            let sql = format!("INSERT INTO notice ({NOTICE_COLUMNS}) VALUES ({places}) {NOTE}");
            let interval = i64::try_from(min_interval.as_millis()).unwrap_or(i64::MAX / 2);
            let mut values = notice_values(notice);
            values.extend([interval.into(), interval.into(), i64::from(*again).into()]);
            let rows = Tx::execute(&*transaction, with(sql, values)).await.about(WHAT)?;
            Ok(rows > 0)
        };
        let noted = noted.await;
        self.database().finish(transaction, noted, WHAT).await
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
        self.read_notices(with(sql, [millis(now).into(), Param::count(limit)])).await
    }

    async fn notices_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT due_at FROM notice WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";
        let first = Read::query_one(&self.database().read, with(sql, []), |row| row.get("due_at"));
        Ok(first.await?.map(moment))
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
            notice.event.name().into(),
            notice.subject.into(),
            millis(due_at).into(),
        ];
        Ok(self.write_notice(with(sql, values)).await? > 0)
    }

    async fn forget_notices(
        &self,
        notification: NotificationId,
        subject: Uuid,
    ) -> Result<(), Error> {
        let sql = "DELETE FROM notice WHERE notification_id = ? AND subject = ?";
        let query = with(sql, [notification.as_uuid().into(), subject.into()]);
        self.write_notice(query).await.map(|_| ())
    }
}
