//! `webhook-server erase`: what it says, what it erases, and how it ends.

use std::process::Stdio;

use serde_json::json;
use tokio::time::timeout;

use super::{
    NOBODY,
    harness::{PATIENCE, Server, command},
    send,
};

/// What it ends with, and what it prints on standard output and on standard error.
async fn ran(server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = command(folder.path());
    let access = [("WEBHOOK_SERVER_URL", &server.base), ("WEBHOOK_API_KEY", &server.key)];
    command.arg("erase").args(arguments).envs(access).stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(PATIENCE, command.output()).await;
    let output = output.expect("it ends in time").expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn it_says_how_many_it_would_erase_and_erases_them_when_told_to() {
    let server = Server::start().await;
    let bucket = server.bucket("shop").await;
    for body in ["jane 1", "jane 2", "john"] {
        send(&server, &bucket, body).await;
    }
    let total = async || server.get("/v1/logs").await.expect(200).json()["total"].clone();
    let which = ["--bucket", "shop", "--search", "jane"];
    let with = |further: &[&'static str]| [&which, further].concat();
    let (code, told, _) = ran(&server, &with(&["--dry-run"])).await;
    assert_eq!(code, Some(0));
    let expected = "2 webhooks, found by 2 logs\n  2 logs wait, and are withdrawn\n";
    assert_eq!(told, expected);
    // Without a terminal there is no question.
    let (code, again, error) = ran(&server, &which).await;
    assert_eq!((code, again), (Some(1), told.clone()));
    assert!(error.contains("nothing was erased: --yes starts it"), "{error}");
    assert_eq!(total().await, json!(3));

    let (code, text, progress) = ran(&server, &with(&["--yes"])).await;
    assert_eq!(code, Some(0), "{text}{progress}");
    let rest = text.strip_prefix(&told).expect("first how many");
    let (made, done) = rest.split_once('\n').expect("two lines");
    assert_eq!(done, "done: erased 2, withdrawn 2\n");
    assert_eq!(total().await, json!(1));
    let id = made.strip_prefix("erasure ").expect("its ID");
    let (code, text, _) = ran(&server, &["--watch", id]).await;
    assert_eq!((code, &*text), (Some(0), done));

    let (code, _, error) = ran(&server, &with(&["--yes"])).await;
    assert_eq!(code, Some(1));
    assert!(error.contains("there is nothing to erase"), "{error}");
    let (code, _, error) = ran(&server, &["--watch", NOBODY]).await;
    assert_eq!(code, Some(1), "{error}");
    let (code, _, error) = ran(&server, &["--bucket", "shop", "--watch", id]).await;
    assert_eq!(code, Some(2), "{error}");
}
