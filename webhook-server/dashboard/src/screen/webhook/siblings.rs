//! All deliveries of one webhook, which are stored at one moment.

use std::time::Duration;

use webhook_core::{
    BucketId, Error, ErrorKind, Timestamp, WebhookId, admin::LogQuery, model::LogHead,
};

use crate::session::Session;

/// The deliveries of a webhook that was stored at this moment; none when its bucket was deleted.
pub(crate) async fn find(
    session: &Session,
    bucket: BucketId,
    webhook: WebhookId,
    stored: Timestamp,
) -> Result<Vec<LogHead>, Error> {
    let mut query = LogQuery::default();
    query.bucket = Some(bucket.into());
    query.from = Some(stored);
    query.to = Some(stored + Duration::from_millis(1));
    query.limit = LogQuery::MAX_LIMIT;
    let mut found = match session.admin().log_heads(&session.caller, &query).await {
        Ok(found) => found.heads,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    found.retain(|head| head.webhook_id == webhook);
    Ok(found)
}
