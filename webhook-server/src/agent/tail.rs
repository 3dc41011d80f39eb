//! `tail`: logs as they come, a line each.

use std::{collections::HashMap, time::Duration};

use http::Method;
use serde_json::Value;
use tokio::time::sleep;
use webhook_core::model::Secret;

use super::{Access, Api, Broken, LONGEST_PAUSE, escaped, moment, one_line};
use crate::{failure::Failure, print::print};

/// How often the server is asked.
const PERIOD: Duration = Duration::from_secs(1);
/// How many of the newest logs are looked at each time: what comes faster than that is not
/// all shown.
const MOST_LOGS: usize = 1_000;

/// Prints logs as they come and as they change, a line each.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Tail {
    /// Only of this bucket, by its name or ID.
    #[arg(long, value_name = "NAME")]
    bucket: Option<String>,
    /// Only of this output, by its ID.
    #[arg(long, value_name = "ID")]
    output: Option<String>,
    /// Only those that stand so: received, sent, failed, rejected, …
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Only those whose last attempt came to this: 404, 5xx; 0 is no answer.
    #[arg(long, value_name = "CODE")]
    status_code: Option<String>,
    /// Only those received with this method.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Only those with this in what follows the input's address.
    #[arg(long, value_name = "TEXT")]
    path: Option<String>,
    /// Only those with this in the path, a header, the body, the answer or the error.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Begins with so many that are there already.
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=100))]
    last: u16,
    #[command(flatten)]
    access: Access,
}

/// Prints logs until it is interrupted.
pub(crate) async fn tail(options: Tail, key: Option<Secret>) -> Result<(), Failure> {
    let api = options.access.api(key)?;
    let query = options.query();
    let mut shown = Shown::default();
    let first = newest(&api, &query, 100, |_| false).await?;
    for (index, log) in first.iter().enumerate().rev() {
        let line = shown.line(log);
        if index < options.last.into() {
            print(&line.unwrap_or_default())?;
        }
    }
    let mut pause = PERIOD;
    loop {
        sleep(pause).await;
        match newest(&api, &query, MOST_LOGS, |log| shown.has(log)).await {
            Ok(logs) => {
                pause = PERIOD;
                let lines = logs.iter().rev().filter_map(|log| shown.line(log));
                print(&lines.collect::<String>())?;
                shown.forget();
            }
            Err(passing @ Broken::Passing(_)) => {
                pause = (pause * 2).min(LONGEST_PAUSE);
                eprintln!("{passing}; asking again in {} s", pause.as_secs());
            }
            Err(refused) => return Err(refused.into()),
        }
    }
}

impl Tail {
    fn query(&self) -> String {
        let Self { bucket, output, status, status_code, method, path, search, .. } = self;
        let filters = [
            ("bucket", bucket),
            ("output", output),
            ("status", status),
            ("status_code", status_code),
            ("method", method),
            ("path", path),
            ("search", search),
        ];
        let filters = filters.into_iter().filter_map(|(name, value)| {
            value.as_ref().map(|value| format!("&{name}={}", escaped(value)))
        });
        filters.collect()
    }
}

/// The newest logs, the newest first: pages until one has nothing new on it.
async fn newest(
    api: &Api,
    query: &str,
    most: usize,
    is_known: impl Fn(&Value) -> bool,
) -> Result<Vec<Value>, Broken> {
    let (mut logs, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/logs?limit=100{query}&cursor={cursor}");
        let page = api.json(Method::GET, &path, None).await?;
        let page_logs = page["data"].as_array().cloned().unwrap_or_default();
        let is_old = page_logs.iter().all(&is_known);
        logs.extend(page_logs);
        cursor = page["next_cursor"].as_str().unwrap_or_default().to_owned();
        if is_old || cursor.is_empty() || logs.len() >= most {
            return Ok(logs);
        }
    }
}

/// What was shown of which log: its status and retries.
#[derive(Default)]
struct Shown {
    logs: HashMap<String, (String, u64)>,
    /// Those in the order in which they were first seen.
    order: std::collections::VecDeque<String>,
}

impl Shown {
    /// How it stands now. One that is being attempted still waits, as far as anyone can see.
    fn state(log: &Value) -> (String, u64) {
        let status = match log["status"].as_str().unwrap_or_default() {
            "preparing" => "received",
            status => status,
        };
        (status.to_owned(), log["retries"].as_u64().unwrap_or_default())
    }

    fn has(&self, log: &Value) -> bool {
        let id = log["id"].as_str().unwrap_or_default();
        self.logs.get(id).is_some_and(|shown| *shown == Self::state(log))
    }

    /// The line for a log, unless it was shown as it is.
    fn line(&mut self, log: &Value) -> Option<String> {
        if self.has(log) {
            return None;
        }
        let id = log["id"].as_str().unwrap_or_default().to_owned();
        if self.logs.insert(id.clone(), Self::state(log)).is_none() {
            self.order.push_back(id);
        }
        Some(line_of(log))
    }

    /// Keeps the newest, of which there are more than are looked at.
    fn forget(&mut self) {
        while self.order.len() > 4 * MOST_LOGS {
            if let Some(id) = self.order.pop_front() {
                self.logs.remove(&id);
            }
        }
    }
}

/// Moment, status, answer, duration, request, ID, and why it is no success.
fn line_of(log: &Value) -> String {
    let (status, retries) = Shown::state(log);
    let status = one_line(&status);
    let code = match log["status_code"].as_u64().unwrap_or_default() {
        0 => "-".to_owned(),
        code => code.to_string(),
    };
    let at = moment(&log["created_at"]);
    let millis = log["duration_ms"].as_u64().unwrap_or_default();
    let text = |field: &str| one_line(log[field].as_str().unwrap_or_default());
    let mut line = format!(
        "{at} {status:8} {code:>3} {millis:>5} ms {} {:7} {}",
        text("id"),
        text("method"),
        match text("extra_path") {
            path if path.is_empty() => "/".to_owned(),
            path => path,
        },
    );
    if retries > 0 {
        line.push_str(&format!(" retries={retries}"));
    }
    if !text("error").is_empty() {
        line.push_str(&format!(": {}", text("error")));
    }
    line.push('\n');
    line
}
