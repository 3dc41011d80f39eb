//! The files in `deploy`: what they set is an option, and what they ask is answered.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use super::harness::{Server, command};

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(path).expect(name)
}

fn documents(name: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&read(name)).expect(name)
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

/// Whether the server takes these options, on a data folder of its own.
async fn check(options: BTreeMap<String, String>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // The server would make it for its owner only.
    let mut command = command(&folder.path().join("data"));
    for (name, value) in options {
        // The database, what goes with it, and the folder are those of the place.
        let of_the_place = ["WEBHOOK_DATABASE_URL", "WEBHOOK_NATS_URL", "WEBHOOK_DATA_DIR"];
        if !of_the_place.contains(&&*name) {
            let value = match value.split_once(":-") {
                Some((_, default)) => default.trim_end_matches('}').to_owned(),
                None if name == "WEBHOOK_API_KEY" => "sk-0123456789abcdef".to_owned(),
                None if name == "WEBHOOK_SECRET_KEY" => {
                    "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".to_owned()
                }
                None => value,
            };
            command.env(name, value);
        }
    }
    let output = command.arg("check").output().await.expect("the program starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("warning"), "{said}{error}");
}

#[tokio::test]
async fn variables_are_options() {
    let page = read("../docs/configuration.md");
    let mut seen = 0;
    for name in ["Dockerfile", "compose.yaml", "webhook-server.service", "kubernetes.yaml"] {
        let text = read(&format!("deploy/{name}"));
        for word in text.split(|c: char| !c.is_ascii_uppercase() && c != '_') {
            if word.starts_with("WEBHOOK_") && word != "WEBHOOK_SERVER_URL" {
                seen += 1;
                assert!(page.contains(&format!("| `{word}`")), "{name}: {word}");
            }
        }
    }
    assert!(seen > 15, "only {seen} were found");
}

#[tokio::test]
async fn compose_has_servers_that_start() {
    let file = &documents("deploy/compose.yaml")[0];
    let services = &file["services"];
    let mut folders = Vec::new();
    for node in ["node-1", "node-2", "node-3"] {
        let node = &services[node];
        let environment = node["environment"].as_object().expect("variables");
        check(environment.iter().map(|(name, value)| (name.clone(), text(value))).collect()).await;
        assert_eq!(node["cap_drop"][0], "ALL");
        assert_eq!(node["read_only"], true);
        let volume = text(&node["volumes"][0]);
        let (name, place) = volume.split_once(':').expect("a volume and where it is");
        assert!(file["volumes"].as_object().expect("volumes").contains_key(name), "{volume}");
        assert!(
            read("deploy/Dockerfile").contains(&format!("WEBHOOK_DATA_DIR={place}")),
            "{volume}"
        );
        folders.push(volume);
    }
    folders.dedup();
    assert_eq!(folders.len(), 3, "each has a folder of its own");
    // What the agent is told is what it takes.
    let arguments = services["agent"]["command"].as_array().expect("words").iter().map(text);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = command(folder.path())
        .args(arguments)
        .envs([("WEBHOOK_SERVER_URL", "http://127.0.0.1:9"), ("WEBHOOK_API_KEY", "wrong")])
        .output()
        .await
        .expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("WEBHOOK_API_KEY must be"), "{error}");
}

#[tokio::test]
async fn kubernetes_asks_what_is_answered() {
    let documents = documents("deploy/kubernetes.yaml");
    let of = |kind: &str| documents.iter().find(|document| document["kind"] == kind).expect(kind);
    let set = &of("StatefulSet")["spec"];
    let pod = &set["template"]["spec"];
    let container = &pod["containers"][0];
    let config = of("ConfigMap")["data"].as_object().expect("variables");
    let mut options: BTreeMap<_, _> =
        config.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    for variable in container["env"].as_array().expect("variables") {
        options.insert(text(&variable["name"]), text(&variable["value"]));
    }
    let metrics = options["WEBHOOK_METRICS_LISTEN"].clone();
    check(options).await;

    // Labels and ports lead from one to the other.
    let labels = &set["template"]["metadata"]["labels"];
    assert_eq!(&set["selector"]["matchLabels"], labels);
    assert_eq!(&of("Service")["spec"]["selector"], labels);
    assert_eq!(&of("PodDisruptionBudget")["spec"]["selector"]["matchLabels"], labels);
    let ports: BTreeMap<_, _> = container["ports"]
        .as_array()
        .expect("ports")
        .iter()
        .map(|port| (text(&port["name"]), port["containerPort"].to_string()))
        .collect();
    assert!(metrics.ends_with(&format!(":{}", ports["metrics"])), "{metrics}");
    let served = text(&of("Service")["spec"]["ports"][0]["targetPort"]);
    assert!(ports.contains_key(&served), "{served}");
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["enableServiceLinks"], false);
    let user = pod["securityContext"]["runAsUser"].to_string();
    assert!(read("deploy/Dockerfile").contains(&format!("USER {user}:{user}")));

    // The probes, at the address of the metrics as they say.
    let mut server = Server::start_with(&[
        ("WEBHOOK_METRICS_LISTEN", "127.0.0.1:0"),
        // Otherwise the harness reads on to the line with the key.
        ("WEBHOOK_API_KEY", "sk-0123456789abcdef"),
    ])
    .await;
    let line = server.line().await.expect("the address of the metrics");
    let base = line.strip_prefix("metrics at ").and_then(|line| line.strip_suffix("/metrics"));
    let base = base.expect("an address");
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let request = &container[probe]["httpGet"];
        assert_eq!(request["port"], "metrics");
        let url = format!("{base}{}", text(&request["path"]));
        super::harness::Client::default().request("GET", &url).send().await.expect(200);
    }
}

#[tokio::test]
async fn systemd_takes_the_unit() {
    let unit = read("deploy/webhook-server.service");
    let options = unit.lines().filter_map(|line| line.strip_prefix("Environment="));
    let options = options.filter_map(|line| line.split_once('='));
    check(options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()).await;
    for line in ["ExecStart=/usr/local/bin/webhook-server serve", "webhook-server check"] {
        assert!(unit.contains(line), "{line}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("webhook-server.service");
    // Programs that are not there are an error.
    let unit = unit.replace("/usr/local/bin/webhook-server", "/bin/true");
    std::fs::write(&path, unit).expect("written");
    let analyze = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new("systemd-analyze");
        command.args(arguments).arg(&path).output().await
    };
    let Ok(verified) = analyze(&["verify"]).await else {
        eprintln!("skipped: there is no systemd-analyze on this machine");
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    // Other units of the machine may have something to say as well.
    assert!(!said.contains("webhook-server.service"), "{said}");
    let rated =
        analyze(&["security", "--offline=true", "--threshold=20"]).await.expect("it starts");
    let said = String::from_utf8_lossy(&rated.stdout).into_owned();
    let error = String::from_utf8_lossy(&rated.stderr).into_owned();
    if error.contains("unrecognized option") || error.contains("Unknown option") {
        eprintln!("skipped: this systemd-analyze rates no files");
        return;
    }
    assert!(rated.status.success(), "{said}{error}");
}

/// The names of metrics in queries.
fn metrics_in(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '_');
    words.filter(|word| word.starts_with("webhook_")).collect()
}

#[tokio::test]
async fn dashboard_and_alerts_name_metrics_that_there_are() {
    let server = Server::start().await;
    let sink = super::sink::Sink::start().await;
    let bucket = server.bucket("b").await;
    server.output(&bucket, serde_json::json!({"name": "o", "destination": sink.base})).await;
    super::send(&server, &bucket, "x").await;
    sink.received(1).await;
    // The outcome of an attempt is counted when it is stored.
    let mut text = String::new();
    for _ in 0..200 {
        text = server.get("/metrics").await.expect(200).text();
        if text.contains("webhook_attempts_total{outcome=\"Sent\"} 1") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    let there: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect();

    let dashboard: Value = serde_json::from_str(&read("deploy/grafana.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let mut queries: Vec<_> = targets.map(|target| text_of(target, "expr")).collect();
    assert_eq!(queries.len(), 11);
    let alerts = documents("deploy/alerts.yaml");
    let rules = alerts[0]["groups"][0]["rules"].as_array().expect("rules");
    queries.extend(rules.iter().map(|rule| text_of(rule, "expr")));
    let mut seen = 0;
    for query in &queries {
        for name in metrics_in(query) {
            seen += 1;
            assert!(there.contains(&name), "{name} of {query} is not in {text}");
        }
        // Labels are compared with values that there are.
        for value in ["ServerError", "Failed"] {
            if query.contains(value) {
                assert!(read("../docs/health-and-metrics.md").contains(&format!("`{value}`")));
            }
        }
    }
    assert!(seen >= 15, "only {seen} were found");
    // Each alert is explained.
    let page = read("../docs/deploying.md");
    for rule in rules {
        let name = text_of(rule, "alert");
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}

fn text_of(value: &Value, key: &str) -> String {
    text(&value[key])
}
