//! What notifications have told.

use sea_orm::prelude::Uuid;
use webhook_core::{
    BucketId, NotificationId,
    model::{Choice, NotificationEvent},
    store::Notice,
};

use super::{millis, moment};
use crate::{
    fault::DatabaseError,
    tx::{self, Param},
};

/// The columns of a notice, in the order of [`notice_values`].
pub(crate) const NOTICE_COLUMNS: &str = "notification_id, event, subject, bucket_id, moment, \
    first_at, last_at, count, detail, sent_at, due_at";

pub(crate) fn notice_values(notice: &Notice) -> Vec<Param<'_>> {
    vec![
        notice.notification.as_uuid().into(),
        notice.event.name().into(),
        notice.subject.into(),
        notice.bucket.map(|id| id.as_uuid()).into(),
        millis(notice.moment).into(),
        millis(notice.first_at).into(),
        millis(notice.last_at).into(),
        count(notice).into(),
        notice.detail.as_str().into(),
        notice.sent_at.map(millis).into(),
        notice.due_at.map(millis).into(),
    ]
}

pub(crate) fn count(notice: &Notice) -> i64 {
    i64::try_from(notice.count).unwrap_or(i64::MAX)
}

/// The notice of a row; none when this program does not know its event.
pub(crate) fn notice(row: &tx::Row<'_>) -> Result<Option<Notice>, DatabaseError> {
    let event: String = row.get("event")?;
    let Ok(event) = NotificationEvent::of_name(&event) else { return Ok(None) };
    let id = NotificationId::from_uuid(row.get("notification_id")?);
    let bucket = row.get::<Option<Uuid>>("bucket_id")?.map(BucketId::from_uuid);
    let mut notice = Notice::new(id, event, row.get("subject")?, bucket, moment(0));
    notice.moment = moment(row.get("moment")?);
    notice.first_at = moment(row.get("first_at")?);
    notice.last_at = moment(row.get("last_at")?);
    notice.count = row.get::<i64>("count")?.unsigned_abs();
    notice.detail = row.get("detail")?;
    notice.sent_at = row.get::<Option<i64>>("sent_at")?.map(moment);
    notice.due_at = row.get::<Option<i64>>("due_at")?.map(moment);
    Ok(Some(notice))
}
