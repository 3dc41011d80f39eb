//! All deliveries of one webhook, which are stored at one moment.

use std::time::Duration;

use webhook_core::{BucketId, Error, Timestamp, WebhookId, admin::LogQuery, model::LogHead};

use crate::{
    screen::{heads, latest},
    session::Session,
};

/// The deliveries of a webhook that was stored at this moment; none when its bucket was deleted.
pub(crate) async fn find(
    session: &Session,
    bucket: BucketId,
    webhook: WebhookId,
    stored: Timestamp,
) -> Result<Vec<LogHead>, Error> {
    let mut query = latest(bucket, LogQuery::MAX_LIMIT);
    query.from = Some(stored);
    query.to = Some(stored + Duration::from_millis(1));
    let mut found = heads(session, &query).await?;
    found.retain(|head| head.webhook_id == webhook);
    Ok(found)
}
