//! Searches: how long one takes in a bucket of a million logs, alone and beside full ingest,
//! and ten of them that go on beside a load.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::json;

use super::{Progress, generator::Generator, listing::start_ingest, sink::Sink};
use crate::{
    Outcome,
    api::{self, Api, KEY, text},
    measured::Measured,
    options::Context,
    part::generator::{Body, Plan},
    seed::{self, ARCHIVES, DAYS, Seed},
    subject::server::Server,
};

/// What no webhook has, so that a call looks for as long as it may.
const NOWHERE: &str = "search=nowhere-at-all";

/// What is asked, and how many of the seeded webhooks have it.
const QUESTIONS: [(&str, &str, Found); 5] = [
    ("a rare term", "search=777%22%2C%22size", Found::Some),
    ("a term that is nowhere", NOWHERE, Found::None),
    ("a header", "header=X-GitHub-Event:release", Found::None),
    ("a value in the body", "payload=id:777", Found::Some),
    ("a class of status codes that is nowhere", "status_code=4xx", Found::None),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    None,
    /// One in a thousand, or in some hundred.
    Some,
}

pub(super) fn measure(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    let seeded = Seed::Logs.make(context, context.scale.rows)?;
    let folder = context.scratch()?;
    let mut sink = Sink::start(context, Duration::ZERO)?;
    progress("copying");
    seeded.copy_to(folder.path(), &sink.url(0))?;
    let server = Server::start(context, folder.path(), &[("WEBHOOK_LOG_RETENTION", "forever")])?;
    let bucket = text(&seeded.bucket["id"])?;
    let (busy, input) = server.api.bucket("busy")?;
    server.api.output(&busy, &json!({ "name": "sink", "destination": sink.url(1) }))?;

    let mut measured = Measured::default();
    let mut asking = Generator::start(context)?;
    for beside in ["", " beside ingest"] {
        // It goes on until it is dropped: questions may take longer than planned.
        let _ingest = match beside {
            "" => None,
            _ => Some(start_ingest(context, &server, &input)?),
        };
        let before = sink.arrived()?.of(1);
        for (name, query, found) in QUESTIONS {
            progress(&format!("{name}{beside}"));
            let path = format!("/v1/logs?bucket={bucket}&{query}");
            let wrong = is_wrong(&server.api, &path, found == Found::None)?;
            measured.never(&format!("{name}{beside}: another number of logs"), u64::from(wrong));
            let plan = Plan {
                method: "GET".to_owned(),
                headers: vec![
                    ("host".to_owned(), "127.0.0.1".to_owned()),
                    ("authorization".to_owned(), format!("Bearer {KEY}")),
                ],
                body: Body::Text(String::new()),
                // One after the other: each may take all the time that a call has.
                connections: 1,
                ..seed::events(server.address, vec![path.clone()], 0, context.scale.load / 2)
            };
            let answered = asking.run(&plan, |_| Ok(()))?;
            measured.value(format!("{name} p50 ms{beside}"), answered.latency.p50);
            measured.value(format!("{name} p99 ms{beside}"), answered.latency.p99);
            let others = answered.failed + answered.broken + answered.refused;
            measured.never(&format!("{name}{beside} that failed"), others);
            if query == NOWHERE {
                let looked = looked_at(&server.api, &path, context.scale.rows)?;
                measured.value(format!("logs that a call looks at{beside}"), looked);
            }
        }
        if !beside.is_empty() {
            let arrived = sink.arrived()?.of(1) - before;
            measured.never("ingest stood still", u64::from(arrived == 0));
        }
    }
    Ok(measured)
}

/// Whether something is found where there is nothing, or the other way round. One call need not
/// come as far as what is there.
fn is_wrong(api: &Api, path: &str, nothing: bool) -> Outcome<bool> {
    let mut cursor = String::new();
    loop {
        let page = api.json("GET", &format!("{path}&cursor={cursor}"), None)?;
        let is_empty = page["data"].as_array().is_none_or(Vec::is_empty);
        if nothing || !is_empty || page["complete"] == true {
            return Ok(is_empty != nothing);
        }
        text(&page["next_cursor"])?.clone_into(&mut cursor);
    }
}

/// How many of so many logs a call that finds nothing has looked at. They are spread evenly
/// over their days.
fn looked_at(api: &Api, path: &str, rows: usize) -> Outcome<f64> {
    let page = api.json("GET", path, None)?;
    if page["complete"] == true {
        return Ok(rows as f64);
    }
    let bucket = path.split('&').next().unwrap_or(path);
    let newest = api.json("GET", &format!("{bucket}&limit=1"), None)?;
    let seconds = |value: &serde_json::Value| {
        value.as_f64().ok_or_else(|| format!("no moment in {page} or {newest}"))
    };
    let until = seconds(&page["scanned_until"])?;
    let back = seconds(&newest["data"][0]["created_at"])? - until;
    Ok(rows as f64 * back / (DAYS as f64 * 24.0 * 3_600.0))
}

/// Ten searches that go on, each the next page when it has one. An account may have two at
/// once, so they are of five accounts.
#[derive(Debug)]
pub(crate) struct Searchers {
    counted: Arc<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    answered: AtomicU64,
    failed: AtomicU64,
    /// 1 when they are to end.
    over: AtomicU64,
}

impl Searchers {
    pub(crate) fn start(address: SocketAddr) -> Self {
        let counted = Arc::<Counted>::default();
        for number in 0..2 * ARCHIVES {
            let (counted, key) = (Arc::clone(&counted), api::key_of(number % ARCHIVES));
            // They wait for answers, and the server ends before they do.
            thread::spawn(move || {
                let mut cursor = String::new();
                while counted.over.load(Ordering::Relaxed) == 0 {
                    let path = format!("/v1/logs?{NOWHERE}&cursor={cursor}");
                    let answer = Api(address).call_as(&key, "GET", &path, None);
                    let page = answer.ok().filter(|(status, _)| *status == 200);
                    let page = page.and_then(|(_, body)| {
                        serde_json::from_str::<serde_json::Value>(&body).ok()
                    });
                    let Some(page) = page else {
                        if counted.over.load(Ordering::Relaxed) == 0 {
                            counted.failed.fetch_add(1, Ordering::Relaxed);
                        }
                        return;
                    };
                    counted.answered.fetch_add(1, Ordering::Relaxed);
                    page["next_cursor"].as_str().unwrap_or_default().clone_into(&mut cursor);
                }
            });
        }
        Self { counted }
    }

    /// How many calls were answered so far.
    pub(crate) fn answered(&self) -> u64 {
        self.counted.answered.load(Ordering::Relaxed)
    }

    /// How many have ended because they were refused, or not answered at all.
    pub(crate) fn failed(&self) -> u64 {
        self.counted.failed.load(Ordering::Relaxed)
    }
}

impl Drop for Searchers {
    fn drop(&mut self) {
        self.counted.over.store(1, Ordering::Relaxed);
    }
}
