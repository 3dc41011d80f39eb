//! What the server's own logs say of each event.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use benches::{
    Outcome,
    api::{Api, text},
    event,
};

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

/// The statuses of all logs of a bucket, by event.
fn statuses(api: Api, bucket: &str) -> Outcome<HashMap<u64, Vec<String>>> {
    let mut logs = HashMap::<u64, Vec<String>>::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/logs?bucket={bucket}&limit={PAGE}&cursor={cursor}");
        let page = api.json("GET", &path, None)?;
        for log in page["data"].as_array().ok_or("a page of logs has no data")? {
            let id = event::read(text(&log["body"])?.as_bytes());
            let id = id.ok_or_else(|| format!("a log of something else: {log}"))?;
            logs.entry(id).or_default().push(text(&log["status"])?.to_owned());
        }
        match page["next_cursor"].as_str() {
            None | Some("") => return Ok(logs),
            Some(next) => cursor = next.to_owned(),
        }
    }
}
