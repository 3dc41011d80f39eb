//! `webhook-server replay`: what it says, what it sends, and how it ends.

use std::{process::Stdio, time::Duration};

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
    sink::{Reply, Sink},
};

/// The command against the server. The folder is no server's.
fn replay(server: &Server, folder: &tempfile::TempDir, arguments: &[&str]) -> Command {
    let mut command = command(folder.path());
    let access = [("WEBHOOK_SERVER_URL", &server.base), ("WEBHOOK_API_KEY", &server.key)];
    command.arg("replay").args(arguments).envs(access).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// What it ends with, and what it prints on standard output and on standard error.
async fn ran(server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = timeout(PATIENCE, replay(server, &folder, arguments).output()).await;
    let output = output.expect("it ends in time").expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A server that has sent so many webhooks of the bucket `shop`.
async fn sent(sink: &Sink, count: usize) -> Server {
    let server = Server::start().await;
    let bucket = server.bucket("shop").await;
    server.output(&bucket, json!({"name": "o", "destination": sink.base})).await;
    for number in 0..count {
        send(&server, &bucket, &number.to_string()).await;
    }
    server.ended_logs(count).await;
    server
}

async fn replays(server: &Server) -> Vec<Value> {
    let replays = server.get("/v1/replays").await.expect(200).json();
    replays.as_array().expect("a list").clone()
}

#[tokio::test]
async fn it_says_what_it_would_send_and_sends_it_when_told_to() {
    let sink = Sink::start().await;
    let server = sent(&sink, 5).await;
    let which = ["--bucket", "shop", "--status", "sent", "--rate", "1000"];
    let with = |further: &[&'static str]| [&which, further].concat();

    let (code, told, _) = ran(&server, &with(&["--dry-run"])).await;
    assert_eq!(code, Some(0));
    assert!(told.starts_with("5 logs of 5 webhooks, "), "{told}");
    assert!(told.contains("\n  5 sent now\ntakes 1 s at this rate\n"), "{told}");
    // Who cannot be asked has to say so.
    let (code, again, error) = ran(&server, &which).await;
    assert_eq!((code, again), (Some(1), told.clone()));
    assert!(error.contains("nothing was sent: --yes starts it"), "{error}");
    assert_eq!((replays(&server).await.len(), sink.so_far().len()), (0, 5));

    let (code, text, progress) = ran(&server, &with(&["--yes", "--description", "why"])).await;
    assert_eq!(code, Some(0), "{text}{progress}");
    assert_eq!(sink.received(10).await.len(), 10);
    let made = replays(&server).await.remove(0);
    assert_eq!((&made["status"], &made["description"]), (&json!("done"), &json!("why")));
    let rest = text.strip_prefix(&told).expect("first what would be sent");
    assert_eq!(rest, format!("replay {}\ndone: sent 5\n", id(&made)));
    // No terminal, no bar: whole lines.
    assert!(progress.starts_with("queued ") && !progress.contains(['\r', '\u{1b}']), "{progress}");
    assert!(progress.ends_with("queued 5 of 5: sent 5\n"), "{progress}");
}

#[tokio::test]
async fn every_option_reaches_the_server() {
    let sink = Sink::start().await;
    let server = sent(&sink, 1).await;
    let log = server.ended_logs(1).await.remove(0);
    let (input, output) = (log["input_id"].as_str(), log["output_id"].as_str());
    let (input, output) = (input.expect("one"), output.expect("one"));
    let fields = [
        ("bucket", "shop"),
        ("input", input),
        ("output", output),
        ("status", "sent"),
        ("status-code", "2xx"),
        ("method", "POST"),
        ("from", "2020-01-01"),
        ("to", "2120-01-01"),
        ("header", "host:127.0.0.1"),
        ("min-duration", "0"),
    ];
    let options: Vec<_> = fields.map(|(name, value)| format!("--{name}={value}")).to_vec();
    let mut arguments: Vec<_> = options.iter().map(String::as_str).collect();
    let further = ["--to-output", output, "--force", "--newest-first", "--max-waiting", "7"];
    arguments.extend(further);
    arguments.extend(["--rate", "600/minute", "--id", id(&log), "--yes", "--detach"]);
    let (code, text, error) = ran(&server, &arguments).await;
    assert_eq!(code, Some(0), "{text}{error}");
    assert_eq!(error, "", "nobody watches it");
    let made = replays(&server).await.remove(0);
    for (name, value) in fields {
        assert_eq!(made["filter"][name.replace('-', "_")], value, "{name}");
    }
    assert_eq!(made["filter"]["ids"], json!([log["id"]]));
    for (field, value) in [
        ("to_output", json!(output)),
        ("process_policy", json!("force")),
        ("order", json!("newest")),
        ("max_waiting", json!(7)),
        ("rate", json!(600)),
        ("interval", json!("minute")),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    let nothing = [
        "--bucket",
        "shop",
        "--payload",
        "id:7",
        "--search",
        "absent",
        "--path",
        "/x",
        "--verified",
        "true",
        "--reason",
        "rules",
    ];
    let (code, text, error) = ran(&server, &[&nothing[..], &["--yes"]].concat()).await;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("0 logs") && error.contains("there is nothing to send"), "{error}");
}

#[tokio::test]
async fn what_fails_again_is_an_error_of_its_own() {
    let sink = Sink::scripted(|number| Reply::Status(if number < 2 { 200 } else { 404 })).await;
    let server = sent(&sink, 2).await;
    let (code, text, error) = ran(&server, &["--bucket", "shop", "--rate", "1000", "--yes"]).await;
    let made = replays(&server).await.remove(0);
    assert_eq!(code, Some(3), "{text}{error}");
    assert!(error.contains(&format!("GET /v1/logs?replay={}", id(&made))), "{error}");
    for (arguments, said) in [
        (&["--status", "lost", "--yes"][..], "filter.status: "),
        (&["--yes"], "filter"),
        (&["--bucket", "nobody's", "--yes"], "404"),
        (&["--watch", NOBODY], "404"),
        (&["--cancel", id(&made)], "412"),
    ] {
        let (code, _, error) = ran(&server, arguments).await;
        assert!(code == Some(1) && error.contains(said), "{arguments:?}: {error}");
    }
    for arguments in [&["--rate", "0"][..], &["--watch", NOBODY, "--bucket", "b"]] {
        assert_eq!(ran(&server, arguments).await.0, Some(2), "{arguments:?}");
    }
    assert_eq!(replays(&server).await.len(), 1);
}

#[tokio::test]
async fn an_interrupted_command_leaves_the_replay_which_can_be_watched_and_cancelled() {
    let sink = Sink::start().await;
    let server = sent(&sink, 4).await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = ["--bucket", "shop", "--rate", "1/hour", "--yes"];
    let mut watching = replay(&server, &folder, &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(watching.stderr.take().expect("it is piped")).lines();
    let mut next = async || {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
        line.expect("text").expect("it goes on")
    };
    let first = next().await;
    assert!(first.starts_with("queued ") && first.contains(" of 4: sent "), "{first}");
    let process = watching.id().expect("it runs").to_string();
    let sent = Command::new("kill").args(["-INT", &process]).status().await;
    assert!(sent.expect("kill runs").success());
    let said = loop {
        let line = next().await;
        if line.starts_with("webhook-server: ") {
            break line;
        }
    };
    let ended = timeout(PATIENCE, watching.wait()).await.expect("it ends in time");
    assert_eq!(ended.expect("a child").code(), Some(130));
    let made = replays(&server).await.remove(0);
    assert_eq!(made["status"], "running", "the replay goes on");
    for what in ["watch", "cancel"] {
        assert!(said.contains(&format!("replay --{what} {}", id(&made))), "{said}");
    }

    let (code, text, _) = ran(&server, &["--pause", id(&made)]).await;
    assert_eq!(code, Some(0));
    assert!(text.starts_with(&format!("{} paused: ", id(&made))), "{text}");
    let mut watching = replay(&server, &folder, &["--resume", id(&made)]);
    let watching = watching.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
    for _ in 0..400 {
        if replays(&server).await[0]["status"] == "running" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    let (code, text, _) = ran(&server, &["--cancel", id(&made)]).await;
    assert_eq!(code, Some(0), "{text}");
    let ended = timeout(PATIENCE, watching.wait_with_output()).await.expect("it ends in time");
    let ended = ended.expect("a child");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("the replay is cancelled: sent "), "{said}");
}
