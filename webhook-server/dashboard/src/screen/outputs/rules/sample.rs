//! Stored webhooks that rules are tried on.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use webhook_core::{
    Error, ErrorKind, OutputId, Rules, Subject,
    model::{Bucket, Log, LogHead, Reason},
};

use crate::{screen::latest, session::Session, show};

/// How many webhooks there are to choose from.
const OFFERED: usize = 20;
/// How many of the latest webhooks are counted.
const COUNTED: usize = 1_000;
/// How many logs are read at a time.
const READ: usize = 25;
/// Counting stops after so many bytes of bodies, or after so long.
const MAX_BYTES: usize = 64 << 20;
const MAX_TIME: Duration = Duration::from_secs(3);

/// Whether the webhook came as far as the rules.
fn came_to_rules(reason: Option<Reason>, output: Option<OutputId>) -> bool {
    let stopped = matches!(reason, Some(Reason::Signature | Reason::Duplicate | Reason::Function));
    !(stopped && output.is_none())
}

/// Whether the webhook came as far as the rules, and is still whole.
fn can_be_tried(log: &Log) -> bool {
    !log.webhook.ephemeral && came_to_rules(log.delivery.reason, log.delivery.output_id)
}

/// Webhooks to choose from, and the one that is tried.
pub(super) struct Samples {
    /// The latest of the bucket, each once, and before them the one that is asked for.
    pub(super) heads: Vec<LogHead>,
    pub(super) tried: Option<Log>,
}

impl Samples {
    /// Of the others no body is read. The latest is tried when none is asked for.
    pub(super) async fn read(
        session: &Session,
        bucket: &Bucket,
        asked: &str,
    ) -> Result<Self, Error> {
        let query = latest(bucket.id, READ);
        let mut heads = match bucket.spec.ephemeral {
            // Their content is forgotten.
            true => Vec::new(),
            false => session.admin().log_heads(&session.caller, &query).await?.heads,
        };
        let mut seen = HashSet::new();
        heads.retain(|head| {
            came_to_rules(head.reason, head.output_id) && seen.insert(head.webhook_id)
        });
        heads.truncate(OFFERED);
        let id = match asked {
            "" => heads.first().map(|head| head.id),
            asked => asked.parse().ok(),
        };
        let Some(id) = id else { return Ok(Self { heads, tried: None }) };
        let found = session.admin().bucket_log(&session.caller, bucket.id, id).await;
        let tried = match found {
            Ok(log) => Some(log).filter(|log| !log.webhook.ephemeral),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(log) = &tried
            && !heads.iter().any(|head| head.id == id)
        {
            heads.retain(|head| head.webhook_id != log.webhook.id);
            heads.insert(0, LogHead::of(log));
        }
        Ok(Self { heads, tried })
    }

    /// The value of each, what it is called, and whether it is the one that is tried.
    pub(super) fn options(&self) -> Vec<(String, String, bool)> {
        let tried = self.tried.as_ref().map(|log| log.delivery.id);
        let option = |head: &LogHead| (head.id.to_string(), label(head), Some(head.id) == tried);
        self.heads.iter().map(option).collect()
    }
}

/// What a webhook is called in a list.
fn label(head: &LogHead) -> String {
    let path: String = head.path.chars().take(40).collect();
    let size = show::bytes(head.body_bytes);
    format!("{} · {} {path} {size}", show::moment(head.received_at), head.method)
}

/// How many of the latest webhooks pass.
pub(super) struct Count {
    pub(super) passed: usize,
    pub(super) of: usize,
    /// Whether it ended before there were enough.
    pub(super) cut: bool,
}

pub(super) async fn count(
    session: &Session,
    bucket: &Bucket,
    rules: &Rules,
) -> Result<Count, Error> {
    let started = Instant::now();
    let mut count = Count { passed: 0, of: 0, cut: false };
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    let mut query = latest(bucket.id, READ);
    loop {
        let mut found = session.admin().logs(&session.caller, &query).await?;
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
