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
    // Days are PostgreSQL's: the tests of several servers have them.
    let output = command(&data).args(["migrate", "--by-day"]).output().await.expect("it starts");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("only PostgreSQL has tables for each day"), "{said}");
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
        ("WEBHOOK_DATABASE_WRITERS", "0"),
        ("WEBHOOK_DATABASE_WRITERS", "17"),
        ("WEBHOOK_DATABASE_WRITE_CONNECTIONS", "0"),
        ("WEBHOOK_DATABASE_READ_CONNECTIONS", "101"),
        ("WEBHOOK_DATABASE_ROUTE_CONNECTIONS", "-1"),
        ("WEBHOOK_DATABASE_SEARCH_CONNECTIONS", "many"),
        ("WEBHOOK_DATABASE_CONNECTION_TIMEOUT", "0s"),
        ("WEBHOOK_SERVER_LEASE", "999ms"),
        ("WEBHOOK_SERVER_LEASE", "61s"),
        ("WEBHOOK_SECRET_KEY", "short"),
        ("WEBHOOK_LOG", "info,[["),
        ("WEBHOOK_MAX_LARGE_BODY_BYTES", "1KiB"),
        ("WEBHOOK_API_KEY", "no-prefix"),
        ("WEBHOOK_METRICS_TOKEN", "short"),
        ("WEBHOOK_METRICS_LISTEN", "localhost"),
        ("WEBHOOK_WRITE_TIMEOUT", "0s"),
        ("WEBHOOK_MAX_STREAMS", "0"),
        ("WEBHOOK_MAX_CONNECTIONS_PER_ADDRESS", "0"),
        ("WEBHOOK_MAX_SENDING_BYTES", "1KiB"),
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
async fn the_list_of_several_databases_ends_the_start() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for shards in ["postgres://one/hooks,postgres://two/hooks", ""] {
        let output = command(folder.path()).env("WEBHOOK_SHARDS", shards).output().await;
        let output = output.expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.lines().count() == 1, "{said}");
        assert!(said.contains("WEBHOOK_SHARDS: this version keeps all webhooks in one"), "{said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[tokio::test]
async fn the_log_may_be_json() {
    let server = Server::start_with(&[("WEBHOOK_LOG_FORMAT", "json")]).await;
    let log = server.log();
    let line = log.lines().find(|line| line.contains("listening")).expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["level"], "INFO");
}

#[tokio::test]
async fn the_agents_help_shows_its_own_options() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (arguments, options) in [
        (
            &["forward"][..],
            &[
                "bucket",
                "output",
                "function",
                "server-url",
                "concurrency",
                "lease",
                "insecure",
                "ca-file",
                "api-key",
                "help",
            ][..],
        ),
        (&["functions", "push"], &["name", "driver", "server-url", "api-key", "help"]),
        (&["openapi"], &["help"]),
    ] {
        let output = command(folder.path()).args(arguments).arg("--help").output().await;
        let output = output.expect("the program starts");
        assert!(output.status.success());
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut shown: Vec<_> = help
            .lines()
            .filter_map(|line| line.trim_start().split_once("--"))
            .filter(|(before, _)| before.is_empty() || *before == "-h, ")
            .filter_map(|(_, option)| option.split([' ', '\n', '[']).next())
            .collect();
        shown.sort_unstable();
        let mut options = options.to_vec();
        options.sort_unstable();
        assert_eq!(shown, options, "{help}");
    }
    // The others are taken nevertheless: one environment does for all commands.
    let output =
        command(folder.path()).args(["forward", "--log", "warn", "nowhere"]).output().await;
    let text = String::from_utf8_lossy(&output.expect("it starts").stderr).into_owned();
    assert!(text.contains("--bucket") && !text.contains("--log"), "{text}");
}

#[tokio::test]
async fn migrations_are_one_line_of_the_log() {
    let server = Server::start_with(&[("WEBHOOK_LOG", "info")]).await;
    let log = server.log();
    let about: Vec<_> = log
        .lines()
        .filter(|line| ["schema", "migrat", "m00"].iter().any(|word| line.contains(word)))
        .collect();
    assert_eq!(about.len(), 1, "{log}");
    assert!(about[0].contains("the schema was brought up to date"), "{log}");
}

/// What a start that fails says at last.
async fn failure(command: &mut tokio::process::Command) -> String {
    let output = command.output().await.expect("the program starts");
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().next_back().expect("a line").to_owned()
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_says_why() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Port 9 is "discard", where nobody listens.
    let url = "postgres://nobody:s3cret@127.0.0.1:9/none";
    let text = failure(command(folder.path()).env("WEBHOOK_DATABASE_URL", url)).await;
    assert_eq!(text.matches("Connection refused (os error 111)").count(), 1, "{text}");
    assert!(text.contains("the database is not available: "), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
}

#[tokio::test]
async fn the_number_of_a_systems_error_is_said_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("secret.key")).expect("a folder");
    let text = failure(&mut command(folder.path())).await;
    assert_eq!(text.matches("os error").count(), 1, "{text}");
    assert!(text.contains("secret.key: Is a directory"), "{text}");

    let server = Server::start().await;
    let taken = server.base.strip_prefix("http://").expect("an address");
    let text = failure(command(folder.path()).env("WEBHOOK_LISTEN", taken)).await;
    assert_eq!(text.matches("os error").count(), 1, "{text}");
    assert!(text.contains(taken), "{text}");
}

#[tokio::test]
async fn nodes_are_those_of_a_shared_database() {
    let server = Server::start().await;
    let shown = server.command(&["nodes"]).await;
    let said = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert_eq!(shown.status.code(), Some(1));
    assert!(said.contains("set WEBHOOK_DATABASE_URL"), "{said}");
}

#[tokio::test]
async fn what_an_operator_should_know_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).expect("the folder is ours");
    let secrets = [
        ("--api-key", "sk-0123456789012345678901234567890123456789012"),
        ("--database-url", "postgres://u:s3cret@127.0.0.1:1/none"),
    ];
    let mut program = command(folder.path());
    program.arg("check").args(secrets.iter().flat_map(|(option, value)| [*option, *value]));
    program.args(["--max-connections", "1000000000"]);
    // Variables that Kubernetes makes of a service.
    program.env("WEBHOOK_SERVER_PORT", "tcp://10.0.0.7:80");
    program.env("WEBHOOK_SERVER_SERVICE_HOST", "10.0.0.7").env("WEBHOOK_SERVER_PORTS", "1");
    program.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    let output = program.output().await.expect("the program starts");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    for line in [
        "--api-key is on the command line",
        "set WEBHOOK_API_KEY instead",
        "--database-url is on the command line",
        "WEBHOOK_SERVER_PORTS is not an option",
        "other users of this machine may read the data folder",
        "WEBHOOK_MAX_CONNECTIONS is 1000000000",
    ] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
    let of_otel = "OTEL_EXPORTER_OTLP_ENDPOINT: this program was built without the feature otel";
    assert_eq!(said.contains(of_otel), cfg!(not(feature = "otel")), "{said}");
    let hidden = ["SERVICE_HOST", "WEBHOOK_SERVER_PORT is", "s3cret", "01234567890123"];
    assert!(hidden.iter().all(|text| !said.contains(text)), "{said}");

    let mut private = command(&folder.path().join("data"));
    let output = private.arg("check").output().await.expect("the program starts");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!said.contains("may read") && !said.contains("command line"), "{said}");
}
