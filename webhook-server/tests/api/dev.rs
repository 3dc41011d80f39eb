//! `--dev`: a newcomer's first minute.

use tokio::process::Command;

use super::harness::{Server, command};

#[tokio::test]
async fn the_printed_commands_show_a_webhook_arriving() {
    let mut server = Server::start_with(&[
        ("WEBHOOK_DEV", "true"),
        ("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "false"),
    ])
    .await;
    let mut curls = Vec::new();
    while curls.len() < 3 {
        let line = server.line().await.expect("three commands are printed");
        if line.starts_with("curl ") {
            curls.push(line);
        }
    }
    if Command::new("curl").arg("--version").output().await.is_err() {
        eprintln!("skipped: there is no curl on this machine");
        return;
    }
    let script = curls.join("\n");
    let output = Command::new("sh").args(["-ec", &script]).output().await.expect("sh starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{script}\n{text}");
    assert!(text.contains("POST /dev/inbox"), "{text}");
    assert!(text.contains(r#"{"hello":"world"}"#), "{text}");
    // The webhook's sender sees that it was taken.
    assert!(curls[1].contains("/v1/webhooks/") && text.contains("HTTP/1.1 200 OK"), "{text}");
}

#[tokio::test]
async fn the_inbox_answers_only_under_a_loopback_name() {
    let server = Server::start_with(&[("WEBHOOK_DEV", "true")]).await;
    server.anonymous("POST", "/dev/inbox/a").body("mine").send().await.expect(200);
    let port = server.base.rsplit(':').next().expect("a port");
    for (host, status) in [
        (format!("localhost:{port}"), 200),
        (format!("rebound.example:{port}"), 403),
        ("192.0.2.1".to_owned(), 403),
    ] {
        for path in ["/dev/received", "/dev/inbox"] {
            let answer = server.anonymous("GET", path).header("host", &host).send().await;
            let answer = answer.expect(status);
            assert_eq!(answer.text().contains("only under a loopback address"), status == 403);
        }
    }
}

#[tokio::test]
async fn the_inbox_is_only_for_dev() {
    let server = Server::start().await;
    server.anonymous("POST", "/dev/inbox").send().await.expect_error(404, "no such path");
    server.anonymous("GET", "/dev/received").send().await.expect_error(404, "no such path");
}

#[tokio::test]
async fn dev_listens_on_loopback_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let mut command = command(folder.path());
        let output = command.env("WEBHOOK_LISTEN", address).arg("--dev").output().await;
        let output = output.expect("the server starts");
        assert!(!output.status.success());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("loopback"), "{text}");
    }
}
