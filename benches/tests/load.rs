//! The harness runs, and what it measures is there: a scenario with load and
//! the one that kills the server. Nothing here looks at how fast anything was.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

/// Runs scenarios as small as they can be; the JSON that came out.
fn load(folder: &Path, scenarios: &[&str]) -> Value {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_load"));
    let (json, svg) = (folder.join("out.json"), folder.join("out.svg"));
    let mut command = Command::new(&program);
    command.args(["--quick", "--scenario"]).args(scenarios);
    command.arg("--json").arg(&json).arg("--svg").arg(&svg);
    if let Some(server) = postgres() {
        command.args(["--postgres", &server]);
    }
    // Built with the workspace; when only this package is tested the harness
    // builds it.
    let server = program.with_file_name("webhook-server");
    if server.is_file() {
        command.arg("--server").arg(server);
    }
    let output = command.output().expect("the harness starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
    assert!(std::fs::read_to_string(svg).expect("a drawing").starts_with("<svg"));
    let json = std::fs::read(json).expect("figures");
    serde_json::from_slice(&json).expect("the figures are JSON")
}

/// A server, where PostgreSQL's own programs are there to use it with.
fn postgres() -> Option<String> {
    let is_there = |program| Command::new(program).arg("--version").output().is_ok();
    std::env::var("TEST_POSTGRES_URL").ok().filter(|_| is_there("psql") && is_there("pgbench"))
}

/// The median of one value of the server.
fn of_server(document: &Value, scenario: &str, name: &str) -> f64 {
    of_first(document, scenario, "server", name)
}

/// The median of one value of the first subject, which has this name.
fn of_first(document: &Value, scenario: &str, subject: &str, name: &str) -> f64 {
    let scenarios = document["scenarios"].as_array().expect("scenarios");
    let scenario = scenarios.iter().find(|found| found["name"] == scenario).expect("the scenario");
    let first = &scenario["subjects"][0];
    assert_eq!((&first["name"], &first["faults"]), (&subject.into(), &json!([])));
    first["values"][name]["median"].as_f64().unwrap_or_else(|| panic!("{name} in {first}"))
}

#[test]
fn a_cycle_and_a_crash_are_measured_and_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = load(folder.path(), &["cycle-1", "crash", "management", "buckets-100k"]);
    for name in ["made/s, the last hundredth", "last page p50 ms"] {
        assert!(of_server(&document, "buckets-100k", name) > 0.0, "{name} of {document}");
    }
    for name in ["events/s", "delivered/s", "ack p50 ms", "resident MiB, most", "written B/event"] {
        assert!(of_server(&document, "cycle-1", name) > 0.0, "{name} of {document}");
    }
    for scenario in ["cycle-1", "crash"] {
        assert_eq!(of_server(&document, scenario, "acknowledged, not arrived"), 0.0);
    }
    assert!(of_server(&document, "crash", "acknowledged before the kill") > 0.0);
    for name in ["list buckets p50 ms", "update output CPU µs", "create output mean ms"] {
        assert!(of_server(&document, "management", name) > 0.0, "{name} of {document}");
    }
    let hyper = &document["scenarios"][0]["subjects"][2];
    assert_eq!((&hyper["name"], &hyper["passes"]), (&"hyper proxy".into(), &1.into()));
    assert!(document["scenarios"][0]["ratios"].as_array().is_some_and(|ratios| !ratios.is_empty()));
}

#[test]
fn searches_and_replays_are_measured_beside_what_comes_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = load(folder.path(), &["search", "replay", "cycle-64-searched"]);
    let beside = ["", " beside ingest"];
    for question in ["a rare term", "a term that is nowhere", "a header", "a value in the body"] {
        for beside in beside {
            let name = format!("{question} p99 ms{beside}");
            assert!(of_server(&document, "search", &name) > 0.0, "{name} of {document}");
        }
    }
    assert!(of_server(&document, "search", "logs that a call looks at") > 0.0);
    for of in ["fresh alone", "fresh beside the replay"] {
        for percentile in ["p50", "p99"] {
            let name = format!("{of} {percentile} ms");
            assert!(of_server(&document, "replay", &name) > 0.0, "{name} of {document}");
        }
    }
    assert!(of_server(&document, "replay", "replayed/s") > 0.0);
    let searched = &document["scenarios"][2]["subjects"][0];
    assert_eq!((&searched["name"], &searched["faults"]), (&"searched".into(), &json!([])));
    for name in ["searches/s", "events/s"] {
        assert!(searched["values"][name]["median"].as_f64().is_some_and(|rate| rate > 0.0));
    }
}

#[test]
fn servers_on_postgres_are_measured_and_so_is_a_log_that_grows() {
    if postgres().is_none() {
        println!("skipped: TEST_POSTGRES_URL is not set, or psql and pgbench are not there");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let document = load(folder.path(), &["cycle-64-postgres-throttled", "nodes-2", "growth"]);
    let throttled = "cycle-64-postgres-throttled";
    assert!(of_first(&document, throttled, "… with a throttle", "events/s") > 0.0);
    for name in ["events/s", "PostgreSQL's CPU µs/event", "WAL B/event", "stored B/event"] {
        let value = of_first(&document, "nodes-2", "server on PostgreSQL", name);
        assert!(value > 0.0, "{name} of {document}");
    }
    for name in ["newest page p50 ms of 20000", "a day goes in ms", "delivered/s while days go"] {
        assert!(of_first(&document, "growth", "… by day", name) > 0.0, "{name} of {document}");
    }
}
