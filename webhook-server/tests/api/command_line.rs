//! Commands and options.

use super::harness::{Server, command};

fn key(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.strip_prefix("API key, shown only this once: "));
    line.expect("the key is printed")
}

#[tokio::test]
async fn accounts_are_the_operators() {
    let mut server = Server::start().await;
    server.terminate().await;
    let run = |arguments: &'static [&'static str]| async {
        let output = server.command(arguments).await;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), text, error)
    };

    let (ok, created, _) = run(&["account", "create", "second"]).await;
    assert!(ok);
    let first_key = key(&created).to_owned();
    let (ok, _, error) = run(&["account", "create", "second"]).await;
    assert!(!ok);
    assert!(error.contains("second") || error.contains("name"), "{error}");

    let (ok, list, _) = run(&["account", "list"]).await;
    assert!(ok);
    let names: Vec<_> = list.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(names, ["default", "second"]);

    let (ok, rotated, _) = run(&["account", "rotate-key", "second"]).await;
    assert!(ok);
    let second_key = key(&rotated).to_owned();
    assert_ne!(first_key, second_key);
    let (ok, _, error) = run(&["account", "rotate-key", "third"]).await;
    assert!(!ok);
    assert!(error.contains("account not found"), "{error}");

    let mut server = server.restart().await;
    let with = |key: &str| {
        server.anonymous("GET", "/v1/buckets").header("authorization", &format!("Bearer {key}"))
    };
    with(&first_key).send().await.expect(401);
    with(&second_key).send().await.expect(200);

    let disabled = serde_json::json!({"enabled": false});
    server.request("PUT", "/v1/account/api-key").json(&disabled).send().await.expect(200);
    server.get("/v1/buckets").await.expect(401);
    server.terminate().await;
    let list = server.command(&["account", "list"]).await;
    assert!(String::from_utf8_lossy(&list.stdout).contains("default disabled"));
    let enabled = server.command(&["account", "enable", "default"]).await;
    assert!(enabled.status.success());
    let server = server.restart().await;
    server.get("/v1/buckets").await.expect(200);
}

#[tokio::test]
async fn accounts_are_changed_beside_a_running_server() {
    let server = Server::start().await;
    let run = async |arguments: &[&str]| {
        let output = server.command(arguments).await;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let with = |key: &str| {
        server.anonymous("GET", "/v1/buckets").header("authorization", &format!("Bearer {key}"))
    };
    let created = run(&["account", "create", "second"]).await;
    let first = key(&created).to_owned();
    with(&first).send().await.expect(200);
    let rotated = run(&["account", "rotate-key", "second"]).await;
    with(&first).send().await.expect(401);
    with(key(&rotated)).send().await.expect(200);

    let disabled = serde_json::json!({"enabled": false});
    server.request("PUT", "/v1/account/api-key").json(&disabled).send().await.expect(200);
    assert!(run(&["account", "list"]).await.contains("default disabled"));
    server.get("/v1/buckets").await.expect(401);
    run(&["account", "enable", "default"]).await;
    server.get("/v1/buckets").await.expect(200);

    // What the server holds is not let go of: a webhook still arrives once.
    let bucket = server.bucket("b").await;
    super::send(&server, &bucket, "x").await;
    run(&["account", "list"]).await;
    let events = server.get("/v1/events?bucket=b").await.expect(200).json();
    assert_eq!(events["logs"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn migrate_makes_the_database_and_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("new").join("data");
    let output = command(&data).arg("migrate").output().await.expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(data.join("secret.key").is_file());
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, value) in [
        ("WEBHOOK_LISTEN", "localhost"),
        ("WEBHOOK_PUBLIC_URL", "hooks.example.com"),
        ("WEBHOOK_MAX_CONNECTIONS", "0"),
        ("WEBHOOK_MAX_BODY_BYTES", "3MB"),
        ("WEBHOOK_BODY_TIMEOUT", "30"),
        ("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "10.0.0.0/33"),
        ("WEBHOOK_DATABASE_URL", "mysql://localhost"),
        ("WEBHOOK_SECRET_KEY", "short"),
        ("WEBHOOK_LOG", "info,[["),
        ("WEBHOOK_MAX_LARGE_BODY_BYTES", "1KiB"),
        ("WEBHOOK_API_KEY", "no-prefix"),
    ] {
        let output = command(folder.path()).env(name, value).output().await;
        let output = output.expect("the program starts");
        assert!(!output.status.success(), "{name}={value}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let flag = format!("--{}", name["WEBHOOK_".len()..].to_lowercase().replace('_', "-"));
        let named = [name, &flag, "API key"].iter().any(|option| text.contains(option));
        assert!(named, "{name}={value}: {text}");
    }
}

#[tokio::test]
async fn misspelt_variables_are_reported() {
    let server = Server::start_with(&[("WEBHOOK_MAX_BODY", "1KiB")]).await;
    server.get("/healthz").await.expect(200);
    assert!(server.log().contains("WEBHOOK_MAX_BODY is not an option"), "{}", server.log());
}

#[tokio::test]
async fn the_log_may_be_json() {
    let server = Server::start_with(&[("WEBHOOK_LOG_FORMAT", "json")]).await;
    let log = server.log();
    let line = log.lines().find(|line| line.contains("listening")).expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["level"], "INFO");
}
