//! The API key of the first account is shown, whatever comes between.

use std::{path::Path, process::Stdio, time::Duration};

use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::harness::{PATIENCE, Server, command};

#[tokio::test]
async fn what_can_fail_fails_before_there_is_a_key() {
    let folder = TempDir::new().expect("a temporary folder");
    let missing = folder.path().join("none.pem");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = taken.local_addr().expect("its address").to_string();
    let missing = missing.to_str().expect("text");
    for (options, said) in [
        (&[("WEBHOOK_TLS_CERT", missing), ("WEBHOOK_TLS_KEY", missing)][..], "none.pem"),
        (&[("WEBHOOK_METRICS_LISTEN", &*taken)], "for the metrics"),
        (&[("WEBHOOK_LISTEN", &taken)], "cannot listen"),
        (&[("WEBHOOK_PLANS", missing)], "none.pem"),
    ] {
        let output = command(folder.path()).envs(options.iter().copied()).output().await;
        let output = output.expect("the program starts");
        assert!(!output.status.success());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(said), "{error}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("API key"));
    }
    // The harness waits for the line with the key.
    let server = Server::start_in(folder, &[]).await;
    server.get("/v1/buckets").await.expect(200);
}

/// Starts a server whose standard output takes nothing, and kills it when it has noticed.
async fn start_unheard(folder: &Path, options: &[(&str, &str)]) {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux");
    let log = folder.join("unheard.log");
    let mut child = command(folder)
        .envs(options.iter().copied())
        .stdout(full)
        .stderr(Stdio::from(std::fs::File::create(&log).expect("a file")))
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    let noticed = async {
        while !std::fs::read_to_string(&log).expect("text").contains("cannot write to standard") {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, noticed).await.expect("it notices in time");
    child.kill().await.expect("it can be killed");
}

#[tokio::test]
async fn a_key_that_nobody_was_shown_is_shown_later_and_then_no_more() {
    let folder = TempDir::new().expect("a temporary folder");
    for _ in 0..2 {
        start_unheard(folder.path(), &[]).await;
    }
    // The harness waits for the line with the key.
    let mut server = Server::start_in(folder, &[]).await;
    server.get("/v1/buckets").await.expect(200);
    server.terminate().await;

    let mut server = server.restart().await;
    server.get("/v1/buckets").await.expect(200);
    server.terminate().await;
    assert_eq!(server.line().await, None, "there is nothing but the address");
}

#[tokio::test]
async fn what_dev_prints_is_printed_later_too() {
    let folder = TempDir::new().expect("a temporary folder");
    start_unheard(folder.path(), &[("WEBHOOK_DEV", "true")]).await;
    let mut server = Server::start_in(folder, &[("WEBHOOK_DEV", "true")]).await;
    let mut lines = Vec::new();
    while lines.len() < 3 {
        let line = server.line().await.expect("three commands");
        if line.starts_with("curl ") {
            lines.push(line);
        }
    }
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    let buckets = buckets.as_array().expect("a list");
    assert_eq!(buckets.len(), 1, "one bucket, however often it was started");
    assert!(lines[0].contains(super::harness::id(&buckets[0])), "{lines:?}");
}

#[tokio::test]
async fn a_key_that_the_operator_chose_or_made_anew_is_not_shown() {
    let folder = TempDir::new().expect("a temporary folder");
    start_unheard(folder.path(), &[]).await;
    let output = command(folder.path()).args(["account", "rotate-key", "default"]).output().await;
    assert!(output.expect("the program starts").status.success());
    let chosen = ("WEBHOOK_API_KEY", "sk-chosen-by-the-operator");
    let mut server = Server::start_in(folder, &[chosen]).await;
    server.get("/v1/buckets").await.expect(200);
    server.terminate().await;
    assert_eq!(server.line().await, None);

    let folder = TempDir::new().expect("a temporary folder");
    start_unheard(folder.path(), &[]).await;
    let rotated = command(folder.path()).args(["account", "rotate-key", "default"]).output().await;
    assert!(rotated.expect("the program starts").status.success());
    let mut child = command(folder.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    let id = child.id().expect("it is running");
    let out = child.stdout.take().expect("it is piped");
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(out));
    let first = timeout(PATIENCE, lines.next_line()).await.expect("in time").expect("text");
    assert!(first.is_some_and(|line| line.starts_with("listening on ")));
    let kill = format!("kill -TERM {id}");
    tokio::process::Command::new("sh").args(["-c", &kill]).status().await.expect("sh starts");
    let next = timeout(PATIENCE, lines.next_line()).await.expect("in time").expect("text");
    assert_eq!(next, None, "it was printed when it was made");
}

#[tokio::test]
async fn a_chosen_key_is_put_into_force_once_and_a_replaced_one_stays() {
    let chosen = ("WEBHOOK_API_KEY", "sk-chosen-by-the-operator");
    let mut server = Server::start_with(&[chosen]).await;
    let replaced = server.request("POST", "/v1/account/api-key").send().await.expect(200).json();
    let replaced = replaced["api_key"].as_str().expect("a key").to_owned();
    assert!(server.terminate().await.success());

    let mut server = server.restart().await;
    let shown = |key: &str| format!("Bearer {key}");
    let get = async |server: &Server, key: &str| {
        let request = server.anonymous("GET", "/v1/buckets");
        request.header("authorization", &shown(key)).send().await.status
    };
    assert_eq!(get(&server, chosen.1).await, 401, "it was replaced");
    assert_eq!(get(&server, &replaced).await, 200);
    assert!(server.terminate().await.success());

    let other = ("WEBHOOK_API_KEY", "sk-another-choice-of-the-operator");
    let server = server.restart_with(&[other]).await;
    assert_eq!(get(&server, other.1).await, 200, "another choice counts");
    assert_eq!(get(&server, &replaced).await, 401);
}
