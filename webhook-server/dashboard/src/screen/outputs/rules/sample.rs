//! Stored webhooks that rules are tried on.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use webhook_core::{
    Error, ErrorKind, Rules, Subject,
    admin::LogQuery,
    model::{Bucket, Log, Reason},
};

use crate::{Dashboard, session::Session, show};

/// How many webhooks there are to choose from.
const OFFERED: usize = 20;
/// How many of the latest webhooks are counted.
const COUNTED: usize = 1_000;
/// How many logs are read at a time.
const READ: usize = 25;
/// Counting stops after so many bytes of bodies, or after so long.
const MAX_BYTES: usize = 64 << 20;
const MAX_TIME: Duration = Duration::from_secs(3);

/// Whether the webhook came as far as the rules, and is still whole.
fn can_be_tried(log: &Log) -> bool {
    let stopped = matches!(
        log.delivery.reason,
        Some(Reason::Signature | Reason::Duplicate | Reason::Function)
    );
    let before_rules = stopped && log.delivery.output_id.is_none();
    !(log.webhook.ephemeral || before_rules)
}

/// The latest webhooks of the bucket, each once, and before them the one that is asked for.
pub(super) async fn latest(
    dashboard: &Dashboard,
    session: &Session,
    bucket: &Bucket,
    asked: &str,
) -> Result<Vec<Log>, Error> {
    let mut query = LogQuery::default();
    query.bucket = Some(bucket.id.into());
    query.limit = READ;
    let mut logs = dashboard.admin().logs(&session.caller, &query).await?.logs;
    let mut seen = HashSet::new();
    logs.retain(|log| can_be_tried(log) && seen.insert(log.webhook.id));
    logs.truncate(OFFERED);
    if let Ok(id) = asked.parse()
        && !logs.iter().any(|log| log.delivery.id == id)
    {
        match dashboard.admin().bucket_log(&session.caller, bucket.id, id).await {
            Ok(log) if !log.webhook.ephemeral => {
                logs.retain(|other| other.webhook.id != log.webhook.id);
                logs.insert(0, log);
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(logs)
}

/// What a webhook is called in a list.
pub(super) fn label(log: &Log) -> String {
    let request = &log.webhook.request;
    let path: String = request.extra_path.chars().take(40).collect();
    let size = show::size(request.body.len());
    format!("{} · {} {path} {size}", show::moment(log.webhook.received_at), request.method)
}

/// How many of the latest webhooks pass.
pub(super) struct Count {
    pub(super) passed: usize,
    pub(super) of: usize,
    /// Whether it ended before there were enough.
    pub(super) cut: bool,
}

pub(super) async fn count(
    dashboard: &Dashboard,
    session: &Session,
    bucket: &Bucket,
    rules: &Rules,
) -> Result<Count, Error> {
    let started = Instant::now();
    let mut count = Count { passed: 0, of: 0, cut: false };
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    let mut query = LogQuery::default();
    query.bucket = Some(bucket.id.into());
    query.limit = READ;
    loop {
        let mut found = dashboard.admin().logs(&session.caller, &query).await?;
        found.logs.retain(|log| can_be_tried(log) && seen.insert(log.webhook.id));
        found.logs.truncate(COUNTED - count.of);
        count.of += found.logs.len();
        bytes += found.logs.iter().map(|log| log.webhook.request.body.len()).sum::<usize>();
        let (rules, logs) = (rules.clone(), found.logs);
        // Rules over long bodies take a while.
        let passed = tokio::task::spawn_blocking(move || {
            logs.iter().filter(|log| rules.matches(&Subject::from(&log.webhook))).count()
        });
        count.passed += passed.await.map_err(Error::internal)?;
        match found.next {
            Some(next) if count.of < COUNTED => query.before = Some(next),
            _ => return Ok(count),
        }
        if bytes > MAX_BYTES || started.elapsed() > MAX_TIME {
            count.cut = true;
            return Ok(count);
        }
    }
}
