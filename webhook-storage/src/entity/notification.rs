//! Notifications, and what they have told.

use std::time::Duration;

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, Error, NotificationId,
    model::{Notification, NotificationEvent, NotificationSpec},
    store::Notice,
};

use super::{json, millis, moment, nanos};
use crate::{
    fault::{DatabaseError, Row as Place},
    tx::{self, Param},
};

/// The columns of a notification, in the order of [`values`].
pub(crate) const COLUMNS: &str = "id, account_id, created_at, updated_at, last_sent_at, \
    to_bucket, events, buckets, disabled, min_interval, queue_deep_at";
/// The columns of a notice, in the order of [`notice_values`].
pub(crate) const NOTICE_COLUMNS: &str = "notification_id, event, subject, bucket_id, moment, \
    first_at, last_at, count, detail, sent_at, due_at";

pub(crate) fn values(notification: &Notification) -> Result<Vec<Param<'static>>, Error> {
    let Notification { id, account_id, created_at, updated_at, last_sent_at, spec } = notification;
    let mut values = vec![
        id.as_uuid().into(),
        account_id.as_uuid().into(),
        millis(*created_at).into(),
        millis(*updated_at).into(),
        last_sent_at.map(millis).into(),
    ];
    values.extend(spec_values(spec)?);
    Ok(values)
}

/// What a caller may write: the last six columns.
pub(crate) fn spec_values(spec: &NotificationSpec) -> Result<[Param<'static>; 6], Error> {
    let NotificationSpec { events, buckets, to_bucket: _, disabled, min_interval, .. } = spec;
    let NotificationSpec { queue_deep_at, .. } = spec;
    let target = spec.target().ok_or_else(|| Error::invalid("to_bucket", "is no identifier"))?;
    Ok([
        target.as_uuid().into(),
        json(events)?.into(),
        json(buckets)?.into(),
        (*disabled).into(),
        nanos(*min_interval).into(),
        i64::from(*queue_deep_at).into(),
    ])
}

/// A row as the database has it.
pub(crate) struct Stored {
    id: Uuid,
    account_id: Uuid,
    times: (i64, i64, Option<i64>),
    to_bucket: Uuid,
    events: String,
    buckets: String,
    disabled: bool,
    min_interval: i64,
    queue_deep_at: i64,
}

pub(crate) fn stored(row: &tx::Row<'_>) -> Result<Stored, DatabaseError> {
    Ok(Stored {
        id: row.get("id")?,
        account_id: row.get("account_id")?,
        times: (row.get("created_at")?, row.get("updated_at")?, row.get("last_sent_at")?),
        to_bucket: row.get("to_bucket")?,
        events: row.get("events")?,
        buckets: row.get("buckets")?,
        disabled: row.get("disabled")?,
        min_interval: row.get("min_interval")?,
        queue_deep_at: row.get("queue_deep_at")?,
    })
}

impl Stored {
    pub(crate) fn open(self) -> Result<Notification, Error> {
        let place = Place { table: "notification", id: self.id };
        let mut spec = NotificationSpec::default();
        spec.events = place.read("events", serde_json::from_str(&self.events))?;
        spec.buckets = place.read("buckets", serde_json::from_str(&self.buckets))?;
        spec.to_bucket = BucketId::from_uuid(self.to_bucket).to_string();
        spec.disabled = self.disabled;
        spec.min_interval = Duration::from_nanos(self.min_interval.unsigned_abs());
        spec.queue_deep_at = place.read("queue_deep_at", u32::try_from(self.queue_deep_at))?;
        let (created_at, updated_at, last_sent_at) = self.times;
        Ok(Notification {
            id: NotificationId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            created_at: moment(created_at),
            updated_at: moment(updated_at),
            last_sent_at: last_sent_at.map(moment),
            spec,
        })
    }
}

pub(crate) fn notice_values(notice: &Notice) -> Vec<Param<'_>> {
    vec![
        notice.notification.as_uuid().into(),
        notice.event.as_str().into(),
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
    let Some(event) = NotificationEvent::from_name(&event) else { return Ok(None) };
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
