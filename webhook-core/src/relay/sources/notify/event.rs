//! The webhook of a notification: an event of CloudEvents 1.0 in JSON.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, header::CONTENT_TYPE};
use serde_json::{Map, Value, json};

use super::compare::rfc3339;
use crate::{
    clock::Timestamp,
    id::{InputId, WebhookId},
    model::{Bucket, Checks, Notification, NotificationEvent, Request, Webhook},
    relay::watch::answered,
    store::{LogFilter, LogQuery, LogSearch, LogStore, Notice, ScanBounds},
};

/// How far the logs are looked through for the last error.
const BOUNDS: ScanBounds = ScanBounds { max_bytes: 8 << 20, max_time: Duration::from_millis(100) };
/// How many tried deliveries of the output are looked at.
const LOGS: usize = 16;

/// What is told of something: `type` names it, and `data` has what there is to say.
#[derive(Debug)]
pub(super) struct Told<'a> {
    pub(super) id: WebhookId,
    pub(super) kind: &'a str,
    pub(super) source: String,
    pub(super) subject: Option<String>,
    pub(super) time: Timestamp,
    pub(super) hops: u16,
    pub(super) data: Map<String, Value>,
}

impl Told<'_> {
    /// As a webhook in the bucket that the notification leads to.
    pub(super) fn webhook(self, to: &Notification, bucket: &Bucket, now: Timestamp) -> Webhook {
        let Self { id, kind, source, subject, time, hops, mut data } = self;
        data.insert("account_id".to_owned(), json!(to.account_id));
        data.insert("notification_id".to_owned(), json!(to.id));
        let mut event = json!({
            "specversion": "1.0",
            "id": id,
            "source": source,
            "type": kind,
            "time": rfc3339(time),
            "datacontenttype": "application/json",
            "data": data,
        });
        if let Some(subject) = subject {
            event["subject"] = Value::String(subject);
        }
        let json = HeaderValue::from_static("application/cloudevents+json");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, json)]);
        let request = Request::new(Method::POST, headers, event.to_string().into());
        let input = bucket.inputs.first().map(|input| input.id);
        let input = input.unwrap_or_else(|| InputId::from_uuid(to.id.as_uuid()));
        Webhook {
            ephemeral: bucket.spec.ephemeral,
            checks: Checks { hops, ..Checks::default() },
            ..Webhook::new(id, (to.account_id, bucket.id, input), request, now)
        }
    }
}

/// What is said of what a notice is about, or of what is left of it.
pub(super) fn data(notice: &Notice, bucket: Option<&Bucket>) -> Map<String, Value> {
    let mut data: Map<_, _> = serde_json::from_str(&notice.detail).unwrap_or_default();
    data.insert("count".to_owned(), json!(notice.count));
    data.insert("first_at".to_owned(), json!(rfc3339(notice.first_at)));
    let (kind, id) = (kind(notice.event), notice.subject);
    let (mut about, mut links) = (json!({ "id": id }), json!({}));
    if let Some(bucket) = bucket {
        data.insert("bucket".to_owned(), json!({ "id": bucket.id, "name": bucket.spec.name }));
        links["bucket"] = json!(format!("/v1/buckets/{}", bucket.id));
    }
    let name = match (kind, bucket) {
        ("function", _) => {
            links["function"] = json!(format!("/v1/functions/{id}"));
            None
        }
        ("replay", _) => {
            links["replay"] = json!(format!("/v1/replays/{id}"));
            links["logs"] = json!(format!("/v1/logs?replay={id}"));
            None
        }
        // It is deleted by now, and what was in it.
        (_, None) => return data,
        (kind, Some(bucket)) => {
            links["logs"] = json!(format!("/v1/logs?bucket={}&{kind}={id}", bucket.id));
            let inputs = bucket.inputs.iter().map(|it| (it.id.as_uuid(), &it.spec.name));
            let outputs = bucket.outputs.iter().map(|it| (it.id.as_uuid(), &it.spec.name));
            inputs.chain(outputs).find(|(it, _)| *it == id).map(|(_, name)| name)
        }
    };
    if let Some(name) = name {
        about["name"] = json!(name);
    }
    data.insert(kind.to_owned(), about);
    data.insert("links".to_owned(), links);
    data
}

/// What an event is about.
pub(super) const fn kind(event: NotificationEvent) -> &'static str {
    match event {
        NotificationEvent::FunctionFailing => "function",
        NotificationEvent::SignatureFailing => "input",
        NotificationEvent::ReplayFinished => "replay",
        _ => "output",
    }
}

/// Why the latest delivery to an output failed that did, as far as the newest logs know.
pub(super) async fn last_error(
    logs: &dyn LogStore,
    notice: &Notice,
    bucket: &Bucket,
) -> Option<String> {
    let query = LogQuery { bucket_id: Some(bucket.id), ..LogQuery::new(LOGS) };
    let mut filter = LogFilter::default();
    filter.outputs = vec![crate::id::OutputId::from_uuid(notice.subject)];
    // Only attempted deliveries: those that wait for a slow output may be many.
    filter.status_code = Some(0..=u16::MAX);
    let found = logs.search(bucket.account_id, &LogSearch::new(query, filter, BOUNDS)).await;
    let found = found.ok()?;
    let mut attempts = found.logs.into_iter().filter_map(|log| log.delivery.last);
    attempts.find_map(|attempt| match attempt.error {
        // A destination other than HTTP takes a webhook without a status.
        None if matches!(attempt.status_code, 0 | 200..=299) => None,
        None => Some(answered(attempt.status_code)),
        error => error,
    })
}
