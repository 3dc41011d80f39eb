//! `webhook-server backup` and `restore`

use std::{
    collections::HashSet,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::harness::{Client, Server, command, default_input, id};

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

/// What a command says, or what it says when it fails.
async fn run(data: &Path, arguments: &[&str], options: &[(&str, &str)]) -> Result<String, String> {
    let mut command = command(data);
    let output = command.envs(options.iter().copied()).args(arguments).output().await;
    let output = output.expect("the program starts");
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(text.lines().next_back().unwrap_or_default().to_owned())
        }
    }
}

/// The bodies of all webhooks of the bucket `b`.
async fn bodies(server: &Server) -> HashSet<String> {
    let mut all = HashSet::new();
    loop {
        let events = server.get("/v1/events?bucket=b&limit=100").await.expect(200).json();
        let logs = events["logs"].as_array().expect("a list");
        all.extend(logs.iter().map(|log| log["body"].as_str().expect("text").to_owned()));
        if events["has_more"] != json!(true) {
            return all;
        }
    }
}

/// Sends until it is told to stop, and notes what was acknowledged.
async fn send(
    url: String,
    sender: usize,
    ledger: Arc<Mutex<HashSet<String>>>,
    stop: Arc<AtomicBool>,
) {
    let client = Client::default();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let body = format!("{sender}-{number}");
        let answer = client.request("POST", &url).body(body.clone()).send().await;
        if answer.status == 200 {
            ledger.lock().expect("no sender has panicked").insert(body);
        }
    }
}

#[tokio::test]
async fn a_backup_under_load_has_what_was_acknowledged_before_it() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let spec = json!({"name": "f", "driver": "lua", "payload": "r:StopForwarding()"});
    let function =
        server.request("POST", "/v1/functions").json(&spec).send().await.expect(201).json();
    let path = format!("/v1/functions/{}/config", id(&function));
    let secret = json!({"key": "K", "value": "s3cret"});
    server.request("PUT", &path).json(&secret).send().await.expect(200);

    let ledger = Arc::<Mutex<HashSet<String>>>::default();
    let stop = Arc::new(AtomicBool::new(false));
    let url = format!("{}/v1/webhooks/{}", server.base, default_input(&bucket));
    let senders: Vec<_> = (0..8)
        .map(|sender| tokio::spawn(send(url.clone(), sender, ledger.clone(), stop.clone())))
        .collect();
    let acknowledged = || ledger.lock().expect("no sender has panicked").clone();
    while acknowledged().len() < 300 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let place = folder();
    let backup = place.path().join("backup");
    let before = acknowledged();
    let said = run(server.data_dir(), &["backup", backup.to_str().expect("text")], &[]).await;
    assert!(said.expect("it is made").contains("with the secret key"));
    let after = acknowledged().len();
    assert!(after > before.len(), "webhooks were received meanwhile");
    stop.store(true, Ordering::Relaxed);
    for sender in senders {
        sender.await.expect("it ends");
    }
    for name in ["webhooks.db", "secret.key"] {
        let mode = backup.join(name).metadata().expect(name).permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let names = std::fs::read_dir(&backup).expect("a folder").count();
    assert_eq!(names, 2, "nothing else is in it");

    let data = folder();
    let said = run(data.path(), &["restore", backup.to_str().expect("text")], &[]).await;
    assert!(said.expect("it is restored").contains("is restored to"));
    let restored = Server::start_in(data, &[("WEBHOOK_API_KEY", &server.key)]).await;
    let there = bodies(&restored).await;
    let missing: Vec<_> = before.difference(&there).collect();
    assert!(missing.is_empty(), "{} of {} are missing", missing.len(), before.len());
    let variables = restored.get(&path).await.expect(200).json();
    assert_eq!(variables[0]["value"], "s3cret", "the secrets can be read");
    // The server itself has lost nothing by it.
    let missing = acknowledged().difference(&bodies(&server).await).count();
    assert_eq!(missing, 0);
}

#[tokio::test]
async fn what_cannot_be_done_changes_nothing() {
    let mut server = Server::start().await;
    server.bucket("b").await;
    let place = folder();
    let backup = place.path().join("backup");
    let backup = backup.to_str().expect("text");
    std::fs::write(place.path().join("mine"), "x").expect("written");
    let error =
        run(server.data_dir(), &["backup", place.path().to_str().expect("text")], &[]).await;
    assert!(error.expect_err("a file is there").contains("is not empty"));
    let none = folder();
    let error = run(none.path(), &["backup", backup], &[]).await.expect_err("no server");
    assert!(error.contains("there is none at"), "{error}");
    let postgres = [("WEBHOOK_DATABASE_URL", "postgres://me:s3cret@127.0.0.1:9/none")];
    let error = run(none.path(), &["backup", backup], &postgres).await.expect_err("PostgreSQL");
    assert!(error.contains("pg_dump") && !error.contains("s3cret"), "{error}");
    let error = run(none.path(), &["restore", backup], &postgres).await.expect_err("PostgreSQL");
    assert!(error.contains("pg_restore"), "{error}");
    std::fs::remove_dir_all(backup).expect("it was made");
    run(server.data_dir(), &["backup", backup], &[]).await.expect("it is made");

    // Never over a server's data.
    let error = run(server.data_dir(), &["restore", backup], &[]).await.expect_err("a server's");
    assert!(error.contains("webhooks.db is there already"), "{error}");
    // Not with another key, not without one, and not what is damaged.
    let other = [("WEBHOOK_SECRET_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")];
    let error = run(none.path(), &["restore", backup], &other).await.expect_err("another key");
    assert!(error.contains("secret key"), "{error}");
    let files =
        |path: &Path| std::fs::read_dir(path).expect("a folder").flatten().collect::<Vec<_>>();
    let left: Vec<_> = files(none.path());
    assert!(left.iter().all(|file| file.file_name() == "webhooks.db.lock"), "{left:?}");
    let key = std::fs::read(Path::new(backup).join("secret.key")).expect("it is there");
    std::fs::remove_file(Path::new(backup).join("secret.key")).expect("it is there");
    let error = run(none.path(), &["restore", backup], &[]).await.expect_err("no key");
    assert!(error.contains("has no secret key"), "{error}");
    std::fs::write(Path::new(backup).join("secret.key"), key).expect("written");
    let copy = Path::new(backup).join("webhooks.db");
    let whole = std::fs::read(&copy).expect("it is there");
    std::fs::write(&copy, "no database").expect("written");
    let error = run(none.path(), &["restore", backup], &[]).await.expect_err("damaged");
    assert!(error.contains("is damaged"), "{error}");
    std::fs::write(&copy, whole).expect("written");
    run(none.path(), &["restore", backup], &[]).await.expect("nothing was left in the way");

    // A server that has ended is copied as well.
    server.terminate().await;
    let again = place.path().join("again");
    let arguments = ["backup", again.to_str().expect("text"), "--without-key"];
    let said = run(server.data_dir(), &arguments, &[]).await.expect("made");
    assert!(said.contains("keep secret.key"), "{said}");
    assert!(again.join("webhooks.db").exists() && !again.join("secret.key").exists());
}

#[tokio::test]
async fn a_configuration_is_checked_without_a_change() {
    let data = folder();
    let new = data.path().join("new");
    let said = run(&new, &["check"], &[("WEBHOOK_MAX_BODY", "1")]).await.expect("it is fine");
    assert!(said.contains("warning: WEBHOOK_MAX_BODY is not an option"), "{said}");
    assert!(said.ends_with("the configuration can be used\n"), "{said}");
    assert!(!new.exists(), "nothing is made");

    // Everything that is wrong, each with its option.
    let file = data.path().join("file");
    std::fs::write(&file, "x").expect("written");
    let mut program = command(&file.join("data"));
    let output = program
        .args(["check", "--max-connections", "0", "--write-timeout", "0s"])
        .envs([("WEBHOOK_TLS_CERT", "none.pem")])
        .output()
        .await
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in [
        "WEBHOOK_MAX_CONNECTIONS: must be at least 1\n",
        "WEBHOOK_WRITE_TIMEOUT: ",
        "WEBHOOK_TLS_KEY: goes with WEBHOOK_TLS_CERT\n",
        "WEBHOOK_DATA_DIR: ",
    ] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("4 things are wrong"));
    let tls = [("WEBHOOK_TLS_CERT", file.to_str().expect("text")), ("WEBHOOK_TLS_KEY", "none.pem")];
    run(&new, &["check"], &tls).await.expect_err("no certificate");
    let database = [("WEBHOOK_DATABASE_URL", "postgres://nobody:s3cret@127.0.0.1:9/none")];
    run(&new, &["check"], &database).await.expect_err("no database");
    let plans = [("WEBHOOK_PLANS", r#"{"plans":[{"name":""}]}"#)];
    let error = run(&new, &["check"], &plans).await.expect_err("a plan without a name");
    assert!(!error.is_empty());

    // Beside a running server, and where a part of its data is missing.
    let mut server = Server::start().await;
    run(server.data_dir(), &["check"], &[]).await.expect("it is fine");
    server.terminate().await;
    std::fs::remove_file(server.data_dir().join("secret.key")).expect("it is there");
    let output = server.command(&["check"]).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && said.contains("secret.key is missing"), "{said}");
}

#[tokio::test]
async fn shells_and_manuals_know_the_command_line() {
    let data = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = run(data.path(), &["completions", shell], &[]).await.expect(shell);
        for word in ["apply", "rotate-key", "dry-run"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    let bash = run(data.path(), &["completions", "bash"], &[]).await.expect("bash");
    let script = data.path().join("completions");
    // What bash itself offers after `webhook-server ac`.
    let ask = "COMP_WORDS=(webhook-server ac); COMP_CWORD=1; \
               _webhook__server webhook-server ac webhook-server; echo \"${COMPREPLY[@]}\"";
    std::fs::write(&script, format!("{bash}\n{ask}\n")).expect("written");
    let asked = tokio::process::Command::new("bash").arg(&script).output().await;
    match asked {
        Err(_) => eprintln!("skipped: there is no bash on this machine"),
        Ok(offered) => {
            let offered = String::from_utf8_lossy(&offered.stdout).into_owned();
            assert_eq!(offered.trim(), "account");
        }
    }
    let page = run(data.path(), &["man"], &[]).await.expect("a page");
    for said in [".TH webhook-server", "WEBHOOK_MAX_BODY_BYTES", "apply"] {
        assert!(page.contains(said), "{said}");
    }
    let page = run(data.path(), &["man", "account", "create"], &[]).await.expect("a page");
    assert!(page.contains("webhook-server-account-create"), "{page}");
    let error = run(data.path(), &["man", "acount"], &[]).await.expect_err("no such command");
    assert!(error.contains("there is no command acount"), "{error}");
    let secret = [("WEBHOOK_API_KEY", "sk-0123456789abcdef0123")];
    let page: Value = json!(run(data.path(), &["man"], &secret).await.expect("a page"));
    assert!(!page.to_string().contains("0123456789abcdef"), "no secret is in it");
}
