//! Several servers on one PostgreSQL database that tell one another over NATS what they know:
//! with it, without it, and while it goes and comes.

#[allow(dead_code, reason = "each test that has it uses a part of it")]
#[path = "../socket/client.rs"]
mod client;
#[path = "../harness/mod.rs"]
mod harness;

use std::time::{Duration, Instant};

use client::Client;
use harness::{
    Server, default_input, id,
    postgres::{Schema, node_with, skipped},
    turns,
};
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::{sleep, timeout},
};

/// What takes 5 s without NATS takes less than this, on a machine that is busy with tests.
const SOON: Duration = Duration::from_secs(2);
/// Within which time clients get what was received elsewhere while there is no NATS.
const LOOKED: Duration = Duration::from_secs(8);

/// A NATS server of the test's own. It is killed when it is dropped.
struct Nats {
    port: u16,
    arguments: Vec<&'static str>,
    child: Child,
}

impl Nats {
    /// None where there is no program `nats-server`.
    async fn start(arguments: &[&'static str]) -> Option<Self> {
        let port = harness::lasting_port();
        let child = match Self::spawn(port, arguments) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                println!("skipped: there is no nats-server on this machine");
                return None;
            }
            child => child.expect("it starts"),
        };
        let nats = Self { port, arguments: arguments.to_vec(), child };
        nats.listens().await;
        Some(nats)
    }

    fn spawn(port: u16, arguments: &[&str]) -> std::io::Result<Child> {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]).args(arguments);
        command.stderr(std::process::Stdio::null()).kill_on_drop(true).spawn()
    }

    async fn listens(&self) {
        let connected = async {
            while TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(harness::PATIENCE, connected).await.expect("it listens");
    }

    async fn kill(&mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    async fn again(&mut self) {
        self.child = Self::spawn(self.port, &self.arguments).expect("it starts");
        self.listens().await;
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

/// So many servers on the schema and on this NATS.
async fn nodes<const N: usize>(schema: &Schema, nats: &Nats) -> [Server; N] {
    nodes_with(schema, nats, &[]).await
}

/// The same with further environment variables.
async fn nodes_with<const N: usize>(
    schema: &Schema,
    nats: &Nats,
    further: &[(&str, &str)],
) -> [Server; N] {
    let url = nats.url();
    let variables = [&[("WEBHOOK_NATS_URL", &*url)], further].concat();
    let mut nodes = Vec::new();
    for _ in 0..N {
        nodes.push(node_with(schema, &variables).await);
    }
    nodes.try_into().expect("so many")
}

fn input_path(bucket: &Value) -> String {
    format!("/v1/webhooks/{}", default_input(bucket))
}

async fn post(server: &Server, bucket: &Value, body: &str) {
    let request = server.anonymous("POST", &input_path(bucket)).body(body.to_owned());
    request.send().await.expect(200);
}

/// A bucket whose only output is for clients.
async fn bucket_for_clients(server: &Server) -> Value {
    let bucket = server.bucket("events").await;
    let output = json!({ "name": "agent", "internal": true, "destination": "http://localhost/" });
    server.output(&bucket, output).await;
    bucket
}

/// Until this server answers so; how long that took.
async fn until(server: &Server, path: &str, status: u16) -> Duration {
    let since = Instant::now();
    loop {
        let answer = server.anonymous("POST", path).body("x").send().await;
        if answer.status.as_u16() == status {
            return since.elapsed();
        }
        assert!(since.elapsed() < harness::PATIENCE, "{}", answer.status);
        sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until this server knows that a client of another server listens.
async fn until_a_client_listens(server: &Server) {
    let since = Instant::now();
    loop {
        let clients = server.get("/v1/connected-clients").await.expect(200).json();
        if clients["webhook_clients"].as_array().is_some_and(|clients| clients.len() == 1) {
            break;
        }
        assert!(since.elapsed() < harness::PATIENCE, "{clients}");
        sleep(Duration::from_millis(20)).await;
    }
    // The other server names its client first. It says 10 ms later which buckets it wants.
    sleep(Duration::from_millis(100)).await;
}

#[tokio::test]
async fn webhooks_of_a_month_that_are_used_up_are_refused_by_all() {
    let _alone = turns::alone().await;
    let Some(schema) = Schema::create("nats_plans").await else { return skipped() };
    let Some(nats) = Nats::start(&[]).await else { return };
    let plans = r#"{"plans": [{"name": "one", "limits": {"webhooks": 300}}]}"#;
    let [here, there] = nodes_with(&schema, &nats, &[("WEBHOOK_PLANS", plans)]).await;
    let bucket = here.bucket("events").await;
    // It reads twice how much there is, which counts for long then, because so little comes.
    post(&there, &bucket, "first").await;
    sleep(Duration::from_millis(1_100)).await;
    post(&there, &bucket, "second").await;
    let read = Instant::now();
    let mut sent = 2;
    while here.anonymous("POST", &input_path(&bucket)).body("x").send().await.status == 200 {
        sent += 1;
    }
    // Some are on their way to the store when it is read how many there are.
    assert!((300..310).contains(&sent), "{sent}");
    // Without being told it would go on for as long as what it has read counts.
    let took = until(&there, &input_path(&bucket), 429).await;
    println!("refused by the other {took:?} after the first refusal");
    assert!(took < SOON && read.elapsed() < Duration::from_secs(9), "{took:?}");
    drop((here, there));
    schema.remove().await;
}

#[tokio::test]
async fn changes_and_withdrawn_credentials_are_seen_by_all_at_once() {
    let _alone = turns::alone().await;
    let Some(schema) = Schema::create("nats_changes").await else { return skipped() };
    let Some(nats) = Nats::start(&[]).await else { return };
    let [here, there] = nodes(&schema, &nats).await;
    let bucket = here.bucket("events").await;
    // The other one keeps it from now on.
    until(&there, &input_path(&bucket), 200).await;
    let token = here.request("POST", "/v1/tokens").json(&json!({})).send().await.expect(201).json();
    let (key, secret) = (&token["key"], &token["secret"]);
    let mut client = Client::connect(&there).await;
    client.auth(key.as_str().expect("text"), secret.as_str().expect("text")).await;
    client.expect_status("authenticated").await;
    client.send(json!({"action": "subscribe", "buckets": []})).await;
    client.expect_status("subscribed").await;

    let path = format!("/v1/tokens/{}", key.as_str().expect("text"));
    let since = Instant::now();
    here.request("DELETE", &path).send().await.expect(200);
    client.expect_status("unauthorized").await;
    assert_eq!(client.closed().await, 1008);
    println!("the client of the other server went after {:?}", since.elapsed());
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());

    let path = format!("/v1/buckets/{}", id(&bucket));
    here.request("DELETE", &path).send().await.expect(200);
    let took = until(&there, &input_path(&bucket), 404).await;
    println!("the other server refuses after {took:?}");
    assert!(took < SOON, "{took:?}");
    drop((here, there));
    schema.remove().await;
}

#[tokio::test]
async fn clients_and_senders_need_not_be_at_the_same_server() {
    let _alone = turns::alone().await;
    let Some(schema) = Schema::create("nats_clients").await else { return skipped() };
    let Some(nats) = Nats::start(&[]).await else { return };
    let [first, second, third] = nodes(&schema, &nats).await;
    let bucket = bucket_for_clients(&first).await;
    let input = format!("/v1/buckets/{}/inputs/{}", id(&bucket), default_input(&bucket));
    let spec = json!({ "response_from_output": "anyOutput", "status_code": 203 });
    first.request("PUT", &input).json(&spec).send().await.expect(200);

    let mut client = Client::subscribed(&second, json!(null)).await;
    until_a_client_listens(&first).await;
    let since = Instant::now();
    let report = async {
        let webhook = client.webhook().await;
        let path = format!("/v1/logs/{}", webhook["meta"]["id"].as_str().expect("an ID"));
        let report = json!({
            "status": "sent", "status_code": 201, "response_body": "bWFkZQ==",
            "response_headers": { "X-From": ["agent"] },
        });
        (webhook, third.request("PUT", &path).json(&report).send().await)
    };
    let sent = first.anonymous("POST", &input_path(&bucket)).body("x").send();
    let ((webhook, reported), answer) = tokio::join!(report, sent);
    assert_eq!(webhook["body"], "x");
    reported.expect(200);
    let answer = answer.expect(201);
    assert_eq!((answer.text(), answer.header("x-from")), ("made".to_owned(), "agent"));
    println!("the sender had the answer after {:?}", since.elapsed());
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());

    // Each server names the clients of all.
    let _another = Client::subscribed(&first, json!([])).await;
    for server in [&first, &second, &third] {
        let answer = server.get("/v1/connected-clients").await.expect(200);
        assert_eq!(answer.json()["webhook_clients"].as_array().map(Vec::len), Some(2));
        assert_eq!(answer.header("x-partial"), "");
    }
    drop((first, second, third));
    schema.remove().await;
}

#[tokio::test]
async fn without_nats_the_servers_serve_on_and_with_it_they_are_quick_again() {
    let _alone = turns::alone().await;
    let Some(schema) = Schema::create("nats_gone").await else { return skipped() };
    let Some(mut nats) = Nats::start(&[]).await else { return };
    let [here, there] = nodes(&schema, &nats).await;
    let bucket = bucket_for_clients(&here).await;
    let mut client = Client::subscribed(&there, json!(null)).await;
    until_a_client_listens(&here).await;
    for round in 0..3 {
        let body = format!("with {round}");
        let since = Instant::now();
        post(&here, &bucket, &body).await;
        assert_eq!(client.webhook().await["body"], *body);
        println!("with NATS after {:?}", since.elapsed());
        assert!(round > 0 || since.elapsed() < SOON, "{:?}", since.elapsed());

        nats.kill().await;
        let body = format!("without {round}");
        let since = Instant::now();
        post(&here, &bucket, &body).await;
        assert_eq!(client.webhook().await["body"], *body);
        println!("without NATS after {:?}", since.elapsed());
        assert!(since.elapsed() < LOOKED, "{:?}", since.elapsed());
        nats.again().await;
    }
    // The connections are there again, and so is what goes over them.
    let mut fast = 0;
    for number in 0..100 {
        let since = Instant::now();
        post(&here, &bucket, &number.to_string()).await;
        assert_eq!(client.webhook().await["body"], *number.to_string());
        fast = if since.elapsed() < SOON { fast + 1 } else { 0 };
        if fast == 20 {
            break;
        }
    }
    assert!(fast >= 10, "only the last {fast} were fast");
    assert!(!here.log().contains("ERROR"), "{}", here.log());
    drop((here, there));
    schema.remove().await;
}

/// Waits until probes and metrics say this of NATS, and nothing else changes by it.
async fn until_nats_is(server: &Server, ready: &str, metric: u8) {
    let since = Instant::now();
    loop {
        let said = server.anonymous("GET", "/readyz").send().await.expect(200).text();
        let metrics = server.get("/metrics").await.expect(200).text();
        let line = format!("\nwebhook_nats_connected {metric}\n");
        if said == ready && metrics.contains(&line) {
            return;
        }
        assert!(since.elapsed() < harness::PATIENCE, "{said:?}, not {ready:?}, in {metrics}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn probes_and_metrics_say_that_nats_is_away() {
    let Some(schema) = Schema::create("nats_away").await else { return skipped() };
    let Some(mut nats) = Nats::start(&[]).await else { return };
    let [server] = nodes(&schema, &nats).await;
    for _ in 0..2 {
        until_nats_is(&server, "ready\nnats: connected", 1).await;
        nats.kill().await;
        until_nats_is(&server, "ready\nnats: away", 0).await;
        nats.again().await;
    }
    drop(server);
    // A server that has never seen its NATS says so as well; one without a NATS says nothing.
    nats.kill().await;
    let server = node_with(&schema, &[("WEBHOOK_NATS_URL", &nats.url())]).await;
    until_nats_is(&server, "ready\nnats: away", 0).await;
    drop(server);
    let server = node_with(&schema, &[]).await;
    assert_eq!(server.anonymous("GET", "/readyz").send().await.expect(200).text(), "ready");
    assert!(!server.get("/metrics").await.expect(200).text().contains("webhook_nats"));
    drop(server);
    schema.remove().await;
}

/// What the program says when it does not start with these variables.
async fn refused(options: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = harness::command(folder.path());
    // The key of the nodes that are started later on the same schema.
    command.env("WEBHOOK_SECRET_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    command.envs(options.iter().copied()).kill_on_drop(true);
    let output = timeout(harness::PATIENCE, command.output()).await.expect("it ends");
    let output = output.expect("the program starts");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    said.lines().last().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_nats_that_refuses_or_is_none_ends_the_start_in_one_line() {
    let sqlite = [("WEBHOOK_NATS_URL", "nats://127.0.0.1:4222")];
    let said = refused(&sqlite).await;
    assert!(said.contains("WEBHOOK_NATS_URL: is for servers that share a PostgreSQL"), "{said}");
    let Some(schema) = Schema::create("nats_refuses").await else { return skipped() };
    let database = ("WEBHOOK_DATABASE_URL", &*schema.url);
    let said = refused(&[database, ("WEBHOOK_NATS_URL", "http://127.0.0.1:4222")]).await;
    assert!(said.contains("WEBHOOK_NATS_URL: is not the address of a NATS server"), "{said}");
    if let Some(nats) = Nats::start(&["--user", "me", "--pass", "right"]).await {
        let url = format!("nats://me:wrong@127.0.0.1:{}", nats.port);
        let said = refused(&[database, ("WEBHOOK_NATS_URL", &url)]).await;
        assert!(said.contains("WEBHOOK_NATS_URL: the NATS server at 127.0.0.1:"), "{said}");
        assert!(said.contains("refuses") && !said.contains("wrong"), "{said}");
        // With what it takes the server starts, and without a NATS it does, too.
        let url = format!("nats://me:right@127.0.0.1:{}", nats.port);
        drop(node_with(&schema, &[("WEBHOOK_NATS_URL", &url)]).await);
        drop(nats);
        drop(node_with(&schema, &[("WEBHOOK_NATS_URL", &url)]).await);
    }
    schema.remove().await;
}
