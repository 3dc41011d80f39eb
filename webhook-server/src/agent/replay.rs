//! `replay`: many webhooks are sent again, after a look at which.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use webhook_core::{
    OutputId, ReplayId,
    model::{ReplaySpec, Secret},
};

use super::{
    Access, Api,
    filter::Filter,
    moment, one_line,
    watch::{Watched, confirmed, follow, text},
};
use crate::{failure::Failure, print::print};

/// Sends many stored webhooks again.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    filter: Filter,
    /// Sends to this output of the bucket, by its ID, instead of the output of each log.
    #[arg(long, value_name = "ID")]
    to_output: Option<OutputId>,
    /// Asks today's rules and functions, and verifies again what was refused for its signature.
    #[arg(long)]
    force: bool,
    /// The newest first.
    #[arg(long)]
    newest_first: bool,
    /// So many webhooks a second, or in another time: 10, 30/minute, 500/hour.
    #[arg(long, value_name = "RATE", default_value = "10", value_parser = rate)]
    rate: Rate,
    /// How many of its webhooks may wait for one output, so that fresh ones do not wait.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(ReplaySpec::MAX_WAITING)))]
    max_waiting: u32,
    /// What it is for, for people.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Only says what would be sent.
    #[arg(long)]
    dry_run: bool,
    /// Starts without asking.
    #[arg(long)]
    yes: bool,
    /// Starts it and does not wait for its end.
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    earlier: Earlier,
    #[command(flatten)]
    access: Access,
}

/// A replay that was started before.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(multiple = false, conflicts_with_all = ["Filter", "dry_run", "to_output", "detach"])]
#[command(next_help_heading = "A replay that was started before")]
struct Earlier {
    /// Watches it.
    #[arg(long, value_name = "REPLAY")]
    watch: Option<ReplayId>,
    /// Has it queue nothing more until it is resumed; what is queued leaves.
    #[arg(long, value_name = "REPLAY")]
    pause: Option<ReplayId>,
    /// Lets it go on, and watches it.
    #[arg(long, value_name = "REPLAY")]
    resume: Option<ReplayId>,
    /// Ends it, and withdraws what has not started.
    #[arg(long, value_name = "REPLAY")]
    cancel: Option<ReplayId>,
}

/// So many in an interval, which has its name on the wire.
#[derive(Clone, Copy, Debug)]
struct Rate(u32, &'static str);

fn rate(text: &str) -> Result<Rate, String> {
    let (count, interval) = text.split_once('/').unwrap_or((text, "second"));
    let count = count.parse().ok().filter(|count| (1..=ReplaySpec::MAX_RATE).contains(count));
    let interval = ["second", "minute", "hour"].into_iter().find(|name| *name == interval);
    match (count, interval) {
        (Some(count), Some(interval)) => Ok(Rate(count, interval)),
        _ => Err("must be 1 to 10000, alone or as in 30/minute and 500/hour".to_owned()),
    }
}

/// Shows what would be sent again, starts it when that is wanted, and watches it.
pub(crate) async fn replay(options: Replay, key: Option<Secret>) -> Result<(), Failure> {
    let api = options.access.api(key)?;
    let Earlier { watch, pause, resume, cancel } = options.earlier;
    if let Some(id) = watch {
        let replay = api.json(Method::GET, &path(&id), None).await?;
        return follow(&api, &REPLAY, replay).await;
    }
    let changes = [(pause, "paused"), (resume, "running"), (cancel, "cancelled")];
    for (id, status) in changes {
        let Some(id) = id else { continue };
        let change = json!({ "status": status });
        let replay = api.json(Method::PUT, &path(&id), Some(&change)).await?;
        if status == "running" {
            return follow(&api, &REPLAY, replay).await;
        }
        let status = one_line(text(&replay["status"]));
        return print(&format!("{id} {status}: {}\n", counts(&replay)));
    }
    start(&api, &options).await
}

/// First what would be sent, then the sending.
async fn start(api: &Api, options: &Replay) -> Result<(), Failure> {
    let mut spec = options.spec();
    spec["dry_run"] = json!(true);
    let plan = api.json(Method::POST, "/v1/replays", Some(&spec)).await?;
    print(&planned(&plan))?;
    if options.dry_run {
        return Ok(());
    }
    if plan["exact"] == true && plan["count"] == 0 {
        return Err(Failure::new("there is nothing to send again"));
    }
    if !options.yes && !confirmed("send them again? [y/N] ", "nothing was sent: --yes starts it")? {
        return Err(Failure::new("nothing was sent"));
    }
    spec["dry_run"] = json!(false);
    let replay = api.json(Method::POST, "/v1/replays", Some(&spec)).await?;
    print(&format!("replay {}\n", one_line(text(&replay["id"]))))?;
    match options.detach {
        true => Ok(()),
        false => follow(api, &REPLAY, replay).await,
    }
}

impl Replay {
    /// What is asked for, as the API takes it.
    fn spec(&self) -> Value {
        let Rate(rate, interval) = self.rate;
        let mut spec = json!({
            "filter": self.filter.spec(),
            "process_policy": if self.force { "force" } else { "skip" },
            "order": if self.newest_first { "newest" } else { "receipt" },
            "rate": rate,
            "interval": interval,
            "max_waiting": self.max_waiting,
            "description": self.description.as_deref().unwrap_or_default(),
        });
        if let Some(output) = self.to_output {
            spec["to_output"] = json!(output);
        }
        spec
    }
}

/// What would be sent, in lines.
fn planned(plan: &Value) -> String {
    let at_least = if plan["exact"] == true { "" } else { "at least " };
    let mut lines = vec![format!(
        "{at_least}{} logs of {} webhooks, {} bytes",
        plan["count"], plan["webhooks"], plan["bytes"]
    )];
    if plan["oldest"].is_number() {
        lines.push(format!("from {} to {}", moment(&plan["oldest"]), moment(&plan["newest"])));
    }
    let paused = plan["paused_outputs"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (output, count) in plan["by_output"].as_object().into_iter().flatten() {
        let name = if output.is_empty() { "no output" } else { output };
        let is_paused = paused.iter().any(|paused| paused == output);
        let waits = if is_paused { ", which is paused: they wait" } else { "" };
        lines.push(format!("  {count} for {name}{waits}"));
    }
    for (status, count) in plan["by_status"].as_object().into_iter().flatten() {
        lines.push(format!("  {count} {status} now"));
    }
    if plan["skipped"] != 0 {
        lines.push(format!("  {} cannot be sent again", plan["skipped"]));
    }
    let takes = Duration::from_nanos(plan["duration_at_rate"].as_u64().unwrap_or_default());
    lines.push(format!("takes {} at this rate", taking(takes)));
    lines.iter().map(|line| format!("{}\n", one_line(line))).collect()
}

/// Hours, minutes and seconds.
fn taking(duration: Duration) -> String {
    match duration.as_secs_f64().ceil() as u64 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// How a replay is watched.
const REPLAY: Watched = Watched {
    path: "/v1/replays/",
    done: "queued",
    total: "total",
    counts,
    interrupted: |id| {
        format!(
            "the replay goes on without this command: see it with `replay --watch {id}`, \
             end it with `replay --cancel {id}`"
        )
    },
    incomplete,
};

/// Why a replay that is over has not sent everything.
fn incomplete(replay: &Value) -> Option<String> {
    let id = text(&replay["id"]);
    match (text(&replay["status"]), replay["failed"].as_u64().unwrap_or_default()) {
        ("done", 0) => None,
        ("done", failed) => Some(format!(
            "done, and {failed} failed again: `tail` or GET /v1/logs?replay={id} shows them"
        )),
        (status, _) => {
            let reason = match text(&replay["error"]) {
                "" => String::new(),
                error => format!(": {error}"),
            };
            Some(format!("the replay is {status}{reason}: {}", counts(replay)))
        }
    }
}

/// What came of those that were queued.
fn counts(replay: &Value) -> String {
    let count = |field: &str| replay[field].as_u64().unwrap_or_default();
    let over = count("sent") + count("failed") + count("rejected");
    let mut said = vec![format!("sent {}", count("sent"))];
    let others = [
        ("failed", count("failed")),
        ("rejected", count("rejected")),
        ("skipped", count("skipped")),
        ("under way", count("queued").saturating_sub(over)),
    ];
    let others = others.into_iter().filter(|(_, count)| *count > 0);
    said.extend(others.map(|(name, count)| format!("{name} {count}")));
    said.join(", ")
}

fn path(id: &ReplayId) -> String {
    format!("/v1/replays/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_with_their_interval() {
        for (text, count, interval) in
            [("10", 10, "second"), ("30/minute", 30, "minute"), ("10000/hour", 10_000, "hour")]
        {
            let Rate(read, of) = rate(text).expect(text);
            assert_eq!((read, of), (count, interval), "{text}");
        }
        for wrong in ["", "0", "10001", "-1", "10/day", "10/", "/minute", "1.5"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_under_way_is_what_has_no_outcome() {
        let replay = json!({"queued": 9, "sent": 4, "failed": 2, "rejected": 0, "skipped": 1});
        assert_eq!(counts(&replay), "sent 4, failed 2, skipped 1, under way 3");
        assert_eq!(counts(&json!({"queued": 2, "sent": 2})), "sent 2");
    }

    #[test]
    fn durations_are_written_for_people() {
        let of = |millis| taking(Duration::from_millis(millis));
        assert_eq!(
            [of(0), of(1_200), of(61_000), of(3_725_000)],
            ["0 s", "2 s", "1 min 1 s", "1 h 2 min"]
        );
    }
}
