//! `webhook-server explain` and `tail`, and the page that shows what they print.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
    time::timeout,
};

use super::{
    NOBODY,
    harness::{PATIENCE, Server, command, id},
    send,
    sink::Sink,
};

fn agent(server: &Server, folder: &tempfile::TempDir, arguments: &[&str]) -> Command {
    let mut command = command(folder.path());
    let access = [("WEBHOOK_SERVER_URL", &server.base), ("WEBHOOK_API_KEY", &server.key)];
    command.args(arguments).envs(access).kill_on_drop(true);
    command
}

/// What it prints, and whether it succeeds.
async fn printed(server: &Server, arguments: &[&str]) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = agent(server, &folder, arguments).output().await.expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).expect("text"))
}

async fn explained(server: &Server, log: &Value) -> String {
    let (ok, text) = printed(server, &["explain", id(log)]).await;
    assert!(ok, "{text}");
    text
}

fn opened() -> Value {
    json!({"match": {"type": "value", "value": "opened",
        "parameter": {"source": "payload", "name": "action"}}})
}

/// The text with a sign for what is another each time: numbers, moments and identifiers.
fn normal(text: &str) -> String {
    let word = |word: &str| {
        let is_id = word.len() >= 9 && word.as_bytes()[8] == b'-' && !word.contains(':');
        if is_id && word.starts_with("01") {
            return "ID".to_owned();
        }
        let mut normal = String::new();
        for c in word.chars() {
            match (c.is_ascii_digit(), normal.ends_with('0')) {
                (true, true) => {}
                (true, false) => normal.push('0'),
                (false, _) => normal.push(c),
            }
        }
        normal.replace("0T0", "T").replace(":0.0Z", ":0Z").replace("0.0.0.0:0", "ADDRESS")
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Fails unless the page shows this.
fn is_on_the_page(text: &str) {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/why.md");
    let page = normal(&std::fs::read_to_string(page).expect("the page is there"));
    let text = normal(text.trim());
    assert!(!text.is_empty() && page.contains(&text), "docs/why.md does not show\n{text}");
}

#[tokio::test]
async fn explain_says_what_decided() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let spec = json!({"name": "o", "destination": "http://127.0.0.1:1", "rules": opened()});
    server.output(&bucket, spec).await;
    send(&server, &bucket, r#"{"action":"closed"}"#).await;
    let log = server.ended_logs(1).await.remove(0);
    let text = explained(&server, &log).await;
    assert!(
        text.starts_with("rejected: payload action is \"closed\", wanted \"opened\"\n"),
        "{text}"
    );
    is_on_the_page(&text);
    let (ok, json) = printed(&server, &["explain", id(&log), "--json"]).await;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert!(ok && json["reason"] == "rules", "{json}");
    let (ok, text) = printed(&server, &["explain", NOBODY]).await;
    assert!(!ok && text.contains("404"), "{text}");
}

#[tokio::test]
async fn explain_says_where_the_time_went_and_what_functions_did() {
    let server = Server::start().await;
    let gone = server.bucket("gone").await;
    let spec = json!({"name": "o", "destination": "http://127.0.0.1:1", "retries": -1});
    server.output(&gone, spec).await;
    send(&server, &gone, r#"{"action":"closed"}"#).await;
    let log = server.ended_logs(1).await.remove(0);
    let text = explained(&server, &log).await;
    assert!(text.contains("\nthe output has no rules\n"), "{text}");
    is_on_the_page(&text);
    let path = format!("/v1/logs/{}/explain", id(&log));
    let today = server.request("POST", &path).json(&json!({})).send().await.expect(200).json();
    assert_eq!(today["verdict"], "would be sent to the output o: the output has no rules");

    let sink = Sink::start().await;
    let function = server
        .function(r#"r:SetRequestHeader("X-Source", "shop") r:SetRequestBody('{"id":8}')"#)
        .await;
    let bucket = server.bucket("b").await;
    let spec = json!({"name": "o", "destination": sink.base, "function_id": id(&function)});
    server.output(&bucket, spec).await;
    send(&server, &bucket, r#"{"id":7}"#).await;
    let logs = server.ended_logs(2).await;
    let log = logs.iter().find(|log| log["status"] == "sent").expect("it is sent");
    let text = explained(&server, log).await;
    assert!(text.contains("\n  body id: 7 -> 8\n"), "{text}");
    let of_function = text.lines().skip_while(|line| !line.starts_with("the output's function"));
    let shown: Vec<_> =
        of_function.take_while(|line| !line.starts_with("the output has")).collect();
    is_on_the_page(&shown.join("\n"));
}

#[tokio::test]
async fn tail_prints_a_line_for_each_log_and_each_change() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let (bucket, other) = (server.bucket("shop").await, server.bucket("other").await);
    server.output(&bucket, json!({"name": "o", "destination": sink.base})).await;
    send(&server, &bucket, "before").await;
    let before = server.ended_logs(1).await.remove(0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = ["tail", "--bucket", "shop", "--last", "1", "--status", "sent"];
    let mut tail = agent(&server, &folder, &arguments);
    let mut tail = tail.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut lines = BufReader::new(tail.stdout.take().expect("it is piped")).lines();
    let mut next = async || {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
        line.expect("text").expect("it goes on")
    };
    let first = next().await;
    assert!(first.contains(id(&before)) && first.contains(" sent     200 "), "{first}");
    send(&server, &other, "not of this bucket").await;
    send(&server, &bucket, "after\u{1b}[2J").await;
    let second = next().await;
    assert!(second.contains(" sent     200 ") && !second.contains(id(&before)), "{second}");
    tail.kill().await.expect("it runs until it is ended");

    let (ok, text) = printed(&server, &["tail", "--status", "nonsense"]).await;
    assert!(!ok && text.contains("status: "), "{text}");
}
