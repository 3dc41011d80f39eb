//! A test webhook, and the way that it took.

use std::time::Duration;

use axum::{
    body::Bytes,
    extract::Extension,
    http::{HeaderMap, HeaderValue, Method, header::CONTENT_TYPE},
};
use tokio::time::sleep;
use webhook_core::{
    Error, InputId, OutputId, Timestamp, WebhookId,
    admin::LogQuery,
    model::{Bucket, LogHead, Request},
    relay::ClientAddr,
};

use crate::{
    PATH,
    form::Submitted,
    page::{Problem, Reply},
    screen::{
        Asked, On, done, latest,
        webhook::{send, siblings},
    },
    session::Session,
    show::{self, Mark},
};

/// How often it is looked whether the test webhook has arrived, and how long between: most
/// have before somebody could read that they are on their way.
const LOOKS: usize = 10;
const BETWEEN: Duration = Duration::from_millis(100);

/// The way that a test webhook took.
pub(super) struct Way {
    input: Option<InputId>,
    heads: Vec<LogHead>,
}

/// What became of it at one output.
pub(super) struct Arrival {
    pub(super) mark: Mark,
    pub(super) path: String,
}

impl Way {
    /// The way that the address names, if it names one of this bucket.
    pub(super) async fn read(
        session: &Session,
        bucket: &Bucket,
        asked: &Asked,
    ) -> Result<Self, Error> {
        let webhook: Option<WebhookId> = asked.get("webhook").and_then(|id| id.parse().ok());
        let stored: Option<i64> = asked.get("stored").and_then(|millis| millis.parse().ok());
        let heads = match (webhook, stored.map(Timestamp::from_millis)) {
            (Some(webhook), Some(stored)) => {
                siblings::find(session, bucket.id, webhook, stored).await?
            }
            _ => Vec::new(),
        };
        Ok(Self { input: asked.get("input").and_then(|id| id.parse().ok()), heads })
    }

    /// Whether it came in here.
    pub(super) fn begins(&self, input: InputId) -> bool {
        !self.heads.is_empty() && self.input == Some(input)
    }

    /// What became of it there.
    pub(super) fn arrival(&self, output: OutputId) -> Option<Arrival> {
        let head = self.heads.iter().find(|head| head.output_id == Some(output))?;
        let path = format!("{PATH}/webhooks/{}", head.id);
        Some(Arrival { mark: show::mark(head.status), path })
    }
}

/// Sends a webhook as any sender would, and leads to the way that it took.
pub(super) async fn send(
    On(session, bucket): On<Bucket>,
    client: Option<Extension<ClientAddr>>,
    submitted: Submitted,
) -> Reply {
    let wanted = submitted.text("input");
    let input = bucket.inputs.iter().find(|input| input.id.to_string() == wanted);
    let input = input.ok_or_else(|| Problem::no("input"))?.id;
    let request = request(submitted.text("body"));
    let (body_bytes, begun) = (request.body.len(), session.now());
    let client = client.map(|Extension(client)| client);
    send::send(&session, &bucket, input, request, client).await?;
    let path = format!("/buckets/{}", bucket.id);
    Ok(match sent(&session, &bucket, begun, body_bytes).await? {
        Some((webhook, stored)) => {
            let stored = stored.as_millis();
            done(&format!("{path}?input={input}&webhook={webhook}&stored={stored}"), "sent")
        }
        None => done(&path, "sent"),
    })
}

fn request(body: &str) -> Request {
    let json = HeaderValue::from_static("application/json");
    Request {
        method: Method::POST,
        extra_path: String::new(),
        raw_query: String::new(),
        headers: HeaderMap::from_iter([(CONTENT_TYPE, json)]),
        body: Bytes::from(body.to_owned()),
    }
}

/// The webhook that was sent from this moment on, once it has arrived everywhere, or after a
/// second; none where the input's function or signature kept it.
async fn sent(
    session: &Session,
    bucket: &Bucket,
    begun: Timestamp,
    body_bytes: usize,
) -> Result<Option<(WebhookId, Timestamp)>, Error> {
    let mut query = latest(bucket.id, LogQuery::MAX_LIMIT);
    query.from = Some(begun);
    let mut found = None;
    for look in 0..LOOKS {
        if look > 0 {
            sleep(BETWEEN).await;
        }
        let heads = session.admin().log_heads(&session.caller, &query).await?.heads;
        let is_it = |head: &&LogHead| {
            head.path.is_empty() && usize::try_from(head.body_bytes) == Ok(body_bytes)
        };
        // Another sender's may have come since: the first is meant.
        let Some(first) = heads.iter().rev().find(is_it) else { continue };
        found = Some((first.webhook_id, first.created_at));
        let mut own = heads.iter().filter(|head| head.webhook_id == first.webhook_id);
        if own.all(|head| head.status.is_final()) {
            break;
        }
    }
    Ok(found)
}
