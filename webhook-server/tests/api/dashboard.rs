//! The dashboard as a part of the real server: where it is, who is signed in, and what
//! keeps inputs and the dashboard apart.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::harness::{Answer, Client, Server, default_input, turns};

const KEY: &str = "sk-0123456789012345678901234567890123456789012";

/// The rest of the line of standard output about the dashboard.
async fn printed(server: &mut Server) -> String {
    loop {
        let line = server.line().await.expect("a line about the dashboard");
        if let Some(rest) = line.strip_prefix("dashboard at ") {
            return rest.to_owned();
        }
    }
}

fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap_or_default().to_owned()
}

/// A server with `--dev` and the cookie that its link gave.
async fn signed_in() -> (Server, String) {
    let options = [("WEBHOOK_DEV", "true"), ("WEBHOOK_API_KEY", KEY)];
    let mut server = Server::start_with(&options).await;
    let link = printed(&mut server).await;
    let link = link.split(' ').next().expect("an address");
    let path = link.strip_prefix(&server.base).expect("an address of this server");
    let answer = server.anonymous("GET", path).send().await.expect(303);
    server.anonymous("GET", path).send().await.expect(404);
    let cookie = cookie(&answer);
    (server, cookie)
}

#[tokio::test]
async fn dev_prints_a_link_that_signs_in_once() {
    let (server, cookie) = signed_in().await;
    let page = server.anonymous("GET", "/dashboard").header("cookie", &cookie).send().await;
    assert!(page.expect(200).text().contains("<h1>Overview</h1>"));
    let page = server.anonymous("GET", "/dashboard").send().await.expect(303);
    assert!(page.header("location").starts_with("/dashboard/sign-in"));
}

#[tokio::test]
async fn an_input_gets_no_session_and_its_answer_runs_nothing() {
    let (server, session) = signed_in().await;
    let bucket = server.bucket("apart").await;
    let input = default_input(&bucket);
    let path = format!("/v1/buckets/{}/inputs/{input}", bucket["id"].as_str().expect("an ID"));
    let page = "<script>fetch('/dashboard')</script>";
    let policy = "script-src 'unsafe-inline'";
    let spec = json!({"body": page, "headers": {
        "Content-Type": ["text/html"], "Content-Security-Policy": [policy]}});
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    let request = server.anonymous("POST", &format!("/v1/webhooks/{input}"));
    let cookies = format!("mine=1; {session}; other=2");
    let answer = request.header("cookie", &cookies).body("x").send().await.expect(200);
    assert_eq!(answer.text(), page);
    let policies: Vec<_> = answer.headers.get_all("content-security-policy").iter().collect();
    assert_eq!(policies, ["sandbox"]);
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    let logs = server.get("/v1/logs?bucket=apart").await.expect(200).json();
    assert_eq!(logs["data"][0]["headers"]["Cookie"], json!(["mine=1; other=2"]));
    // A refusal is contained as well.
    let answer = server.anonymous("GET", "/v1/webhooks/nobody").send().await.expect(404);
    assert_eq!(answer.header("content-security-policy"), "sandbox");
}

#[tokio::test]
async fn an_address_of_its_own_has_the_pages_and_nothing_else() {
    let options = [("WEBHOOK_DASHBOARD_LISTEN", "127.0.0.1:0"), ("WEBHOOK_API_KEY", KEY)];
    let mut server = Server::start_with(&options).await;
    let pages = printed(&mut server).await;
    let pages = pages.strip_suffix("/dashboard").expect("no link without --dev").to_owned();
    server.anonymous("GET", "/dashboard").send().await.expect(404);
    let bucket = server.bucket("apart").await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    let answer = server.anonymous("POST", &path).body("x").send().await.expect(200);
    assert_eq!(answer.header("content-security-policy"), "", "its owner chooses the headers");
    let client = Client::default();
    let there = |method: &str, path: &str| {
        let request = client.request(method, &format!("{pages}{path}"));
        request.header("sec-fetch-site", "same-origin")
    };
    let answer = there("GET", "/").send().await.expect(303);
    assert_eq!(answer.header("location"), "/dashboard");
    there("POST", &path).send().await.expect(404);
    there("GET", "/v1/buckets").send().await.expect(404);
    let form = format!("key={KEY}");
    let answer = there("POST", "/dashboard/sign-in").body(form).send().await.expect(303);
    let page = there("GET", "/dashboard").header("cookie", &cookie(&answer)).send().await;
    assert!(page.expect(200).text().contains("<h1>Overview</h1>"));
    assert!(server.terminate().await.success());
}

#[tokio::test]
async fn without_an_address_there_is_none() {
    let server = Server::start().await;
    server.get("/dashboard").await.expect_error(404, "no such path");
    server.get("/dashboard/sign-in").await.expect_error(404, "no such path");
}

#[tokio::test]
async fn a_live_list_shows_what_arrives_and_ends_with_the_server() {
    let (mut server, session) = signed_in().await;
    let bucket = server.bucket("live").await;
    let path = format!("/v1/webhooks/{}/arrived", default_input(&bucket));
    let url = "/dashboard/webhooks/live?bucket=live";
    let mut live = server.anonymous("GET", url).header("cookie", &session).stream().await;
    live.until("No webhook yet.").await;
    let sent = Instant::now();
    server.anonymous("POST", &path).body("x").send().await.expect(200);
    live.until("/arrived").await;
    assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed());
    let ending = Instant::now();
    assert!(server.terminate().await.success());
    assert!(ending.elapsed() < Duration::from_secs(10), "the list kept the server: {ending:?}");
}

/// An agent that is connected. It is killed when it is dropped.
async fn agent(server: &Server) -> tokio::process::Child {
    let mut agent = tokio::process::Command::new(env!("CARGO_BIN_EXE_webhook-server"));
    agent.args(["forward", "--bucket", "laptop", "http://localhost:1"]).env_clear();
    agent.env("WEBHOOK_SERVER_URL", &server.base).env("WEBHOOK_API_KEY", KEY);
    let mut agent = agent.stdout(Stdio::piped()).kill_on_drop(true).spawn().expect("it starts");
    let stdout = agent.stdout.take().expect("it is piped");
    // The first line says that it is connected.
    let line = BufReader::new(stdout).lines().next_line().await.expect("text");
    assert!(line.is_some_and(|line| line.contains("http://localhost:1")));
    agent
}

#[tokio::test]
async fn an_agent_that_connects_is_on_its_page() {
    let (server, session) = signed_in().await;
    let path = "/dashboard/agents";
    let page = async || server.anonymous("GET", path).header("cookie", &session).send().await;
    assert!(page().await.expect(200).text().contains("Nobody is connected"));
    let agent = agent(&server).await;
    let shown = page().await.expect(200).text();
    assert!(shown.contains("laptop") && shown.contains("http://localhost:1"), "{shown}");
    drop(agent);
    let gone = async || !page().await.expect(200).text().contains("http://localhost:1</td>");
    let begun = Instant::now();
    while !gone().await {
        assert!(begun.elapsed() < Duration::from_secs(10), "it is still there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The folder with playwright-core and axe-core, and the Chromium, when both were named.
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn browser() -> Option<(OsString, OsString)> {
    Some((std::env::var_os("NODE_BROWSER_DIR")?, std::env::var_os("TEST_CHROMIUM")?))
}

/// Whether the pictures in the documentation are to be taken again, and one of every page in both
/// themes and widths, which goes to the folder `screenshots` next to the packages of the browser.
#[allow(clippy::disallowed_methods, reason = "whoever updates the documentation says so")]
fn updates_docs() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

#[tokio::test]
async fn every_page_in_a_browser() {
    let Some((modules, chromium)) = browser() else {
        eprintln!("skipped: NODE_BROWSER_DIR and TEST_CHROMIUM name no browser to test with");
        return;
    };
    let options = [("WEBHOOK_DEV", "true"), ("WEBHOOK_API_KEY", KEY)];
    let mut server = Server::start_with(&options).await;
    let link = printed(&mut server).await;
    let link = link.split(' ').next().expect("an address").to_owned();
    furnish(&server).await;
    let _agent = agent(&server).await;
    look("look.mjs", &[&link, KEY], &modules, &chromium).await;
}

#[tokio::test]
async fn the_reference_in_a_browser() {
    let Some((modules, chromium)) = browser() else {
        eprintln!("skipped: NODE_BROWSER_DIR and TEST_CHROMIUM name no browser to test with");
        return;
    };
    let server = Server::start().await;
    look("docs.mjs", &[&server.base, &server.key], &modules, &chromium).await;
}

/// Runs a script that looks at pages, which fails when something is wrong with them.
async fn look(script: &str, arguments: &[&str], modules: &OsStr, chromium: &OsStr) {
    // A browser keeps a core busy.
    let _core = turns::core().await;
    // The script finds its packages above itself.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboard/e2e");
    for part in [script, "tasks.mjs"] {
        let copy = Path::new(modules).join(part);
        std::fs::copy(folder.join(part), &copy).expect("the folder can be written");
    }
    let copy = Path::new(modules).join(script);
    let mut node = tokio::process::Command::new("node");
    node.arg(&copy).args(arguments);
    node.env("TEST_CHROMIUM", chromium).kill_on_drop(true);
    if updates_docs() {
        let pictures = Path::new(modules).join("screenshots");
        std::fs::create_dir_all(&pictures).expect("the folder can be written");
        node.arg(&pictures);
        node.env("IMAGES", Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images"));
    }
    let looked = tokio::time::timeout(Duration::from_secs(1_800), node.output()).await;
    let looked = looked.expect("it ends in time").expect("node starts");
    let said = String::from_utf8_lossy(&looked.stdout);
    let failed = String::from_utf8_lossy(&looked.stderr);
    println!("{said}{failed}");
    assert!(looked.status.success(), "{said}{failed}");
}

/// Something to look at: a bucket with an output that works, one that fails and one that is
/// disabled, a function, and webhooks that took all ways.
async fn furnish(server: &Server) {
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    let bucket = &buckets[0];
    let inbox = format!("{}/dev/inbox", server.base);
    let rules = json!({"and": [
        {"match": {"type": "value", "value": "order.paid",
            "parameter": {"source": "payload", "name": "type"}}},
        {"not": {"match": {"type": "contains", "substring": "test",
            "parameter": {"source": "header", "name": "User-Agent"}}}}]});
    server.output(bucket, json!({"name": "shop", "destination": inbox, "rules": rules})).await;
    server.output(bucket, json!({"name": "audit", "destination": inbox})).await;
    let nowhere = json!({"name": "billing", "destination": "http://127.0.0.1:9/", "retries": -1});
    server.output(bucket, nowhere).await;
    let disabled = json!({"name": "old", "destination": inbox, "disabled": true});
    server.output(bucket, disabled).await;
    let script = "local json = require(\"json\")\nlocal body = json.decode(r.RequestBody)\nbody.seen = true\n\
        r:SetRequestBody(json.encode(body))";
    let function = json!({"name": "mark as seen", "driver": "lua", "payload": script});
    let made = server.request("POST", "/v1/functions").json(&function).send().await;
    let function = made.expect(201).json();
    let path = format!("/v1/functions/{}/invoke", function["id"].as_str().expect("an ID"));
    let sample = json!({"request_body": "{\"id\": 17}"});
    server.request("POST", &path).json(&sample).send().await.expect(200);
    let cron = json!({"name": "nightly", "schedule": "30 2 * * *", "destination": inbox,
        "timezone": "Europe/Berlin"});
    server.request("POST", "/v1/crons").json(&cron).send().await.expect(201);
    let token = json!({"description": "for CI"});
    server.request("POST", "/v1/tokens").json(&token).send().await.expect(201);
    let path = format!("/v1/webhooks/{}", default_input(bucket));
    for number in 0..6 {
        let kind = if number % 3 == 2 { "order.refunded" } else { "order.paid" };
        let body = json!({"type": kind, "id": 1000 + number, "customer": {"name": "Ada <b>"},
            "lines": [{"sku": "A-17", "count": number}]});
        let request = server.anonymous("POST", &path).header("content-type", "application/json");
        request.json(&body).send().await.expect(200);
    }
    furnish_signed(server, bucket).await;
    let ops = server.bucket("ops").await;
    let notification = json!({"events": ["output.failing"], "to_bucket": ops["id"]});
    let made = server.request("POST", "/v1/notifications").json(&notification).send().await;
    made.expect(201);
    server.ended_logs(6).await;
    // One an hour, so that it is seen on its way; of what failed, so that others may send to the
    // outputs that work.
    let filter = json!({"bucket": bucket["id"], "status": "failed"});
    let replay = json!({"filter": filter, "rate": 1, "interval": "hour"});
    server.request("POST", "/v1/replays").json(&replay).send().await.expect(201);
}

/// An input that verifies and finds duplicates: one webhook, the same again, and a forged one.
async fn furnish_signed(server: &Server, bucket: &serde_json::Value) {
    let path = format!("/v1/buckets/{}/inputs", bucket["id"].as_str().expect("an ID"));
    let spec = json!({"name": "gitlab",
        "signature": {"provider": "gitlab", "secrets": [{"secret": "the-token-of-gitlab"}]},
        "deduplication": {"key": [{"source": "payload", "name": "id"}]}});
    let input = server.request("POST", &path).json(&spec).send().await.expect(201).json();
    let path = format!("/v1/webhooks/{}", input["id"].as_str().expect("an ID"));
    for (id, token, status) in
        [(1, "the-token-of-gitlab", 200), (1, "the-token-of-gitlab", 200), (2, "forged", 401)]
    {
        let request = server.anonymous("POST", &path).header("content-type", "application/json");
        let request = request.header("x-gitlab-token", token).json(&json!({"id": id}));
        request.send().await.expect(status);
    }
}
