//! `erase`: many webhooks are erased, after a look at how many.

use http::Method;
use serde_json::{Value, json};
use webhook_core::{ErasureId, model::Secret};

use super::{
    Access,
    filter::Filter,
    one_line,
    watch::{Watched, confirmed, follow, text},
};
use crate::{failure::Failure, print::print};

/// Erases many webhooks.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Erase {
    #[command(flatten)]
    filter: Filter,
    /// Only says how many would be erased.
    #[arg(long)]
    dry_run: bool,
    /// Starts without asking.
    #[arg(long)]
    yes: bool,
    /// Starts it and does not wait for its end.
    #[arg(long)]
    detach: bool,
    /// Watches an erasure that was started before.
    #[arg(long, value_name = "ERASURE", conflicts_with_all = ["Filter", "dry_run", "detach"])]
    watch: Option<ErasureId>,
    #[command(flatten)]
    access: Access,
}

/// Shows how many webhooks would be erased, starts it when that is wanted, and watches it.
pub(crate) async fn erase(options: Erase, key: Option<Secret>) -> Result<(), Failure> {
    let api = options.access.api(key)?;
    if let Some(id) = options.watch {
        let erasure = api.json(Method::GET, &format!("/v1/erasures/{id}"), None).await?;
        return follow(&api, &ERASURE, erasure).await;
    }
    let mut spec = json!({ "filter": options.filter.spec(), "dry_run": true });
    let plan = api.json(Method::POST, "/v1/erasures", Some(&spec)).await?;
    print(&planned(&plan))?;
    if options.dry_run {
        return Ok(());
    }
    if plan["exact"] == true && plan["found"] == 0 {
        return Err(Failure::new("there is nothing to erase"));
    }
    let refused = "nothing was erased: --yes starts it";
    if !options.yes && !confirmed("erase them for good? [y/N] ", refused)? {
        return Err(Failure::new("nothing was erased"));
    }
    spec["dry_run"] = json!(false);
    let erasure = api.json(Method::POST, "/v1/erasures", Some(&spec)).await?;
    print(&format!("erasure {}\n", one_line(text(&erasure["id"]))))?;
    match options.detach {
        true => Ok(()),
        false => follow(&api, &ERASURE, erasure).await,
    }
}

/// How an erasure is watched.
const ERASURE: Watched = Watched {
    path: "/v1/erasures/",
    done: "erased",
    total: "found",
    counts,
    interrupted: |id| {
        format!("the erasure goes on without this command: see it with `erase --watch {id}`")
    },
    incomplete,
};

/// What would be erased, in lines.
fn planned(plan: &Value) -> String {
    let at_least = if plan["exact"] == true { "" } else { "at least " };
    let mut said =
        format!("{at_least}{} webhooks, found by {} logs\n", plan["found"], plan["logs"]);
    for (field, what) in [
        ("withdrawn", "logs wait, and are withdrawn"),
        ("in_flight", "webhooks are being attempted now, and wait for the end of that"),
    ] {
        if plan[field] != 0 {
            said.push_str(&format!("  {} {what}\n", plan[field]));
        }
    }
    said
}

/// The counts of an erasure so far.
fn counts(erasure: &Value) -> String {
    let mut said = vec![format!("erased {}", erasure["erased"])];
    for (field, name) in [("withdrawn", "withdrawn"), ("in_flight", "in flight")] {
        if erasure[field] != 0 {
            said.push(format!("{name} {}", erasure[field]));
        }
    }
    said.join(", ")
}

/// Why an erasure that is over has not erased everything.
fn incomplete(erasure: &Value) -> Option<String> {
    match (text(&erasure["status"]), erasure["in_flight"].as_u64().unwrap_or_default()) {
        ("done", 0) => None,
        ("done", left) => Some(format!(
            "done, and {left} webhooks are left because an attempt was in flight: erase again"
        )),
        (status, _) => {
            let (error, counts) = (text(&erasure["error"]), counts(erasure));
            Some(format!("the erasure is {status}: {error}: {counts}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_how_many_there_are_and_what_is_left() {
        let plan = json!({"found": 3, "logs": 4, "exact": true, "withdrawn": 0, "in_flight": 1});
        let said = planned(&plan);
        assert_eq!(said.lines().next(), Some("3 webhooks, found by 4 logs"));
        assert!(
            said.ends_with("1 webhooks are being attempted now, and wait for the end of that\n")
        );
        let mut erasure = json!({"status": "done", "erased": 3, "withdrawn": 2, "in_flight": 0});
        assert_eq!(counts(&erasure), "erased 3, withdrawn 2");
        assert_eq!(incomplete(&erasure), None);
        erasure["in_flight"] = json!(1);
        assert!(incomplete(&erasure).is_some_and(|said| said.contains("1 webhooks are left")));
        erasure["status"] = json!("failed");
        assert!(incomplete(&erasure).is_some());
    }
}
