//! What the server's own logs say of each event.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use benches::{Outcome, api::Api};
use serde::Deserialize;

use crate::webhook;

/// Logs of one page.
const PAGE: usize = 100;

/// What the logs of a bucket say.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    /// The acknowledged events that are not `sent` to each output, with what the
    /// logs say instead.
    pub(crate) unsent: HashMap<u64, Vec<String>>,
    /// Logs that wait for an outcome, also of events that were not acknowledged.
    pub(crate) open: usize,
}

impl Logs {
    /// Reads all logs of a bucket with so many outputs.
    pub(crate) fn read(
        api: Api,
        bucket: &str,
        acknowledged: &HashSet<u64>,
        outputs: usize,
    ) -> Outcome<Self> {
        let mut logs = statuses(api, bucket)?;
        let open = logs.values().flatten();
        let open = open.filter(|status| matches!(status.as_str(), "received" | "preparing"));
        let open = open.count();
        let known = acknowledged.iter().map(|id| (*id, logs.remove(id).unwrap_or_default()));
        let unsent = known.filter(|(_, statuses)| {
            statuses.len() != outputs || statuses.iter().any(|status| status != "sent")
        });
        Ok(Self { unsent: unsent.collect(), open })
    }

    /// When nobody can say what became of them.
    pub(crate) fn unreadable(acknowledged: &HashSet<u64>, error: &dyn fmt::Display) -> Self {
        let unsent = acknowledged.iter().map(|id| (*id, vec![error.to_string()]));
        Self { unsent: unsent.collect(), open: 0 }
    }

    pub(crate) fn are_settled(&self) -> bool {
        self.unsent.is_empty() && self.open == 0
    }
}

/// A page of logs, without the bodies: they would have to be read for nothing.
#[derive(Debug, Deserialize)]
struct Page {
    data: Vec<Log>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Log {
    extra_path: String,
    status: String,
}

/// The statuses of all logs of a bucket, by event.
fn statuses(api: Api, bucket: &str) -> Outcome<HashMap<u64, Vec<String>>> {
    let mut logs = HashMap::<u64, Vec<String>>::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/logs?bucket={bucket}&limit={PAGE}&cursor={cursor}");
        let page: Page = match api.call("GET", &path, None)? {
            (200, body) => serde_json::from_str(&body)?,
            (status, body) => return Err(format!("GET {path}: {status} {body}").into()),
        };
        for Log { extra_path, status } in page.data {
            let id = webhook::number(&extra_path);
            let id = id.ok_or_else(|| format!("a log of something else: {extra_path}"))?;
            logs.entry(id).or_default().push(status);
        }
        match page.next_cursor {
            Some(next) if !next.is_empty() => cursor = next,
            _ => return Ok(logs),
        }
    }
}
