//! `functions try`: what a source would do with stored webhooks.

use http::Method;
use serde_json::{Value, json};
use webhook_core::model::{CompareRequest, Secret};

use super::Source;
use crate::{
    agent::{Access, change_line, one_line},
    failure::Failure,
    print::print,
};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Try {
    #[command(flatten)]
    source: Source,
    /// On how many webhooks, the newest.
    #[arg(long, value_name = "NUMBER", default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=100_000))]
    last: u64,
    #[command(flatten)]
    access: Access,
}

/// What the answers say in words and in their field.
const COUNTS: [(&str, &str); 4] = [
    ("changed", "changed"),
    ("unmodified", "left as they came"),
    ("stopped", "stopped"),
    ("failed", "failed"),
];

/// Compares the source with the function of its name, and prints what is different.
pub(super) async fn try_source(options: Try, key: Option<Secret>) -> Result<(), Failure> {
    let Try { source, last, access } = options;
    let spec = source.spec()?;
    let api = access.api(key)?;
    let id = api.function(&source.name()?).await?;
    let path = format!("/v1/functions/{id}/compare");
    let mut whole = Whole::default();
    let mut cursor = String::new();
    loop {
        let request = json!({
            "payload": spec["payload"], "driver": spec["driver"], "cursor": cursor,
            "last": last.saturating_sub(whole.compared).min(CompareRequest::MAX_LAST as u64),
        });
        let answer = api.json(Method::POST, &path, Some(&request)).await?;
        whole.add(&answer);
        cursor = answer["next_cursor"].as_str().unwrap_or_default().to_owned();
        if cursor.is_empty() || whole.compared >= last {
            break;
        }
    }
    print(&whole.told())?;
    let [_, _, _, failed] = whole.counts;
    match failed {
        0 => Ok(()),
        failed => Err(Failure::new(format!("it fails on {failed} of {} webhooks", whole.compared))),
    }
}

/// The answers to all calls.
#[derive(Debug, Default)]
struct Whole {
    compared: u64,
    /// In the order of [`COUNTS`].
    counts: [u64; 4],
    different: u64,
    differences: Vec<Value>,
}

impl Whole {
    /// Differences that are shown.
    const SHOWN: usize = 10;

    fn add(&mut self, answer: &Value) {
        let count = |field: &str| answer[field].as_u64().unwrap_or_default();
        self.compared += count("compared");
        self.different += count("different");
        for (sum, (field, _)) in self.counts.iter_mut().zip(COUNTS) {
            *sum += count(field);
        }
        let more = answer["differences"].as_array().into_iter().flatten().cloned();
        self.differences.extend(more.take(Self::SHOWN - self.differences.len()));
    }

    fn told(&self) -> String {
        let counts = self.counts.iter().zip(COUNTS);
        let counts: Vec<_> = counts.map(|(count, (_, words))| format!("{count} {words}")).collect();
        let mut lines = vec![format!("{} webhooks: {}", self.compared, counts.join(", "))];
        lines.push(match self.different {
            0 => "the saved function does the same with all of them".to_owned(),
            different => {
                format!("the saved function does something else with {different} of them:")
            }
        });
        for difference in &self.differences {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let run = |run: &Value| match text(&run["error"]) {
                error if error.is_empty() => text(&run["outcome"]),
                error => format!("{}: {error}", text(&run["outcome"])),
            };
            lines.push(format!("log {}", text(&difference["log_id"])));
            lines.push(format!("  saved: {}", run(&difference["saved"])));
            lines.push(format!("  this: {}", run(&difference["candidate"])));
            lines.extend(difference["changes"].as_array().into_iter().flatten().map(change_line));
        }
        lines.iter().map(|line| format!("{}\n", one_line(line))).collect()
    }
}
