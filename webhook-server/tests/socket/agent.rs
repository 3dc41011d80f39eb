//! `webhook-server forward` as a process.

use std::{collections::HashMap, process::Stdio, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use super::*;
use crate::{
    harness::{self, PATIENCE, default_input, id},
    sink::{Reply, Sink},
};

/// A running agent. It is killed when it is dropped.
pub(crate) struct Agent {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// The input's address.
    public_url: String,
}

impl Agent {
    pub(crate) async fn start(server: &Server, target: &str) -> Self {
        Self::start_with(server, target, &[]).await
    }

    async fn start_with(server: &Server, target: &str, options: &[&str]) -> Self {
        let mut child = command(&server.base, &server.key, target)
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the agent starts");
        let stdout = child.stdout.take().expect("standard output is piped");
        let mut agent =
            Self { child, lines: BufReader::new(stdout).lines(), public_url: String::new() };
        let line = agent.line().await;
        let (public_url, shown) = line.split_once(" -> ").expect(&line);
        assert!(shown.starts_with(target), "{line}");
        agent.public_url = public_url.to_owned();
        agent
    }

    async fn line(&mut self) -> String {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("a line in time");
        line.expect("text").expect("the agent runs")
    }

    /// The path of the input's address.
    pub(crate) fn path(&self, server: &Server) -> String {
        self.public_url.strip_prefix(&server.base).expect("the server's address").to_owned()
    }

    async fn interrupt(&mut self) {
        let id = self.child.id().expect("the agent runs");
        let kill = format!("kill -INT {id}");
        assert!(Command::new("sh").args(["-c", &kill]).status().await.expect("sh").success());
        let ended = timeout(PATIENCE, self.child.wait()).await.expect("it ends in time");
        assert!(ended.expect("a child").success());
    }
}

/// An agent of this server that is not started.
fn command(server: &str, key: &str, target: &str) -> Command {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_webhook-server"));
    agent.args(["forward", "--bucket", "laptop", target]).env_clear().kill_on_drop(true);
    agent.env("WEBHOOK_SERVER_URL", server).env("WEBHOOK_API_KEY", key);
    agent
}

/// Waits until so many logs of the bucket have this status.
pub(crate) async fn logs(server: &Server, status: &str, count: usize) -> Vec<Value> {
    let waiting = async {
        loop {
            let path = format!("/v1/logs?bucket=laptop&status={status}&limit=100");
            let page = server.get(&path).await.expect(200).json();
            let logs = page["data"].as_array().expect("a list").clone();
            if logs.len() >= count {
                return logs;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, waiting).await.expect("the reports arrive")
}

#[tokio::test]
async fn it_makes_what_is_missing_forwards_and_reports() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let mut agent = Agent::start(&server, &format!("{}/hook", sink.base)).await;
    let path = format!("{}/extra?q=1", agent.path(&server));
    let request = server.anonymous("PUT", &path).header("x-github-event", "push");
    request.body(vec![0xff, 0x00]).send().await.expect(200);
    let arrived = sink.received(1).await.remove(0);
    assert_eq!(arrived.head.method, "PUT");
    assert_eq!(arrived.head.uri, "/hook/extra?q=1");
    assert_eq!(arrived.head.headers["x-github-event"], "push");
    assert_eq!(arrived.body, [0xff, 0x00].as_slice());
    let line = agent.line().await;
    assert!(line.contains("PUT    /hook/extra?q=1  200  "), "{line}");
    let log = logs(&server, "sent", 1).await.remove(0);
    assert_eq!(log["id"], arrived.head.headers["x-webhook-relay-id"].to_str().expect("text"));
    assert_eq!((&log["status_code"], &log["retries"]), (&json!(200), &json!(0)));
    // A second agent of the same bucket finds everything as it is.
    let again = Agent::start(&server, &format!("{}/hook", sink.base)).await;
    assert_eq!(again.public_url, agent.public_url);
    agent.interrupt().await;
}

#[tokio::test]
async fn webhooks_go_through_the_function_it_names_first() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let source = r#"
        if r.RequestMethod ~= "POST" then r:StopForwarding() return end
        r:SetRequestBody("through " .. r.Metadata["output_name"] .. ": " .. r.RequestBody)
    "#;
    let spec = json!({"name": "only posts", "payload": source});
    let function = server.function_of(spec).await;
    for (number, name) in ["only posts", id(&function)].into_iter().enumerate() {
        let mut agent = Agent::start_with(&server, &sink.base, &["--function", name]).await;
        let path = agent.path(&server);
        server.anonymous("GET", &path).send().await.expect(200);
        server.anonymous("POST", &path).body("x").send().await.expect(200);
        let arrived = sink.received(number + 1).await.remove(number);
        assert_eq!(arrived.body, "through agent: x");
        logs(&server, "sent", number + 1).await;
        assert_eq!(logs(&server, "rejected", number + 1).await[0]["method"], "GET");
        agent.interrupt().await;
    }
    let buckets = server.get("/v1/buckets").await.json();
    assert_eq!(buckets[0]["outputs"][0]["function_id"], function["id"]);

    let mut agent = Command::new(env!("CARGO_BIN_EXE_webhook-server"));
    agent.args(["forward", "--bucket", "b", &sink.base, "--function", "nobody's"]).env_clear();
    agent.env("WEBHOOK_SERVER_URL", &server.base).env("WEBHOOK_API_KEY", &server.key);
    let ended = timeout(PATIENCE, agent.kill_on_drop(true).output()).await;
    let ended = ended.expect("it ends").expect("it starts");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && said.contains("there is no function nobody's"), "{said}");
}

#[tokio::test]
async fn failures_and_a_dead_service_are_reported() {
    let sink = Sink::scripted(|_| Reply::Status(404)).await;
    let server = Server::start().await;
    let agent = Agent::start(&server, &sink.base).await;
    server.anonymous("POST", &agent.path(&server)).body("x").send().await.expect(200);
    assert_eq!(logs(&server, "failed", 1).await[0]["status_code"], 404);
    drop((agent, sink));
    let agent = Agent::start(&server, "http://127.0.0.1:1/nobody").await;
    server.anonymous("POST", &agent.path(&server)).body("y").send().await.expect(200);
    assert_eq!(logs(&server, "stalled", 1).await[0]["retries"], 2);
}

#[tokio::test]
async fn the_sender_gets_the_local_services_answer() {
    let answer = http::Response::builder().status(201).header("x-from", "laptop");
    let answer = answer.body("hello from the laptop".into()).expect("an answer");
    let sink = Sink::scripted(move |_| Reply::With(answer.clone())).await;
    let server = Server::start().await;
    let agent = Agent::start(&server, &sink.base).await;
    let bucket = server.get("/v1/buckets").await.json()[0].clone();
    let input = format!("/v1/buckets/{}/inputs/{}", id(&bucket), default_input(&bucket));
    let spec = json!({"response_from_output": "anyOutput", "body": "static"});
    server.request("PUT", &input).json(&spec).send().await.expect(200);
    let request = server.anonymous("POST", &agent.path(&server)).body("x");
    let answer = request.send().await.expect(201);
    assert_eq!(answer.text(), "hello from the laptop");
    assert_eq!(answer.header("x-from"), "laptop");
}

/// `kill -9` of the relay, twice, while an agent is connected and webhooks keep
/// coming: every acknowledged one arrives, and none arrives twice.
#[tokio::test]
async fn nothing_is_lost_and_nothing_comes_twice_through_kill_9() {
    let sink = Sink::start().await;
    // The port must stay the same for the agent.
    let address = format!("127.0.0.1:{}", harness::lasting_port());
    let mut server = Server::start_with(&[("WEBHOOK_LISTEN", &address)]).await;
    // What the killed relay had leased comes again after ten seconds, and not after a minute.
    let lease = ["--lease", "10s"];
    let mut agent = Agent::start_with(&server, &sink.base, &lease).await;
    let path = agent.path(&server);
    // What it prints is read, or it would wait with a full pipe.
    tokio::spawn(async move { while let Ok(Some(_)) = agent.lines.next_line().await {} });
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let mut sending = tokio::task::JoinSet::new();
        // The first rounds last until the kill.
        let webhooks = if round < 2 { 1_000 } else { 100 };
        for sender in 0..4 {
            let (client, url) = (harness::Client::default(), format!("{}{path}", server.base));
            sending.spawn(async move {
                let mut acknowledged = Vec::new();
                for number in 0..webhooks {
                    let body = format!("{round}-{sender}-{number}");
                    match client.request("POST", &url).body(body.clone()).try_send().await {
                        Ok(answer) if answer.status == 200 => acknowledged.push(body),
                        Ok(answer) => assert_eq!(answer.status, 503, "{}", answer.text()),
                        Err(_) => break,
                    }
                }
                acknowledged
            });
        }
        if round < 2 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            server.kill().await;
        }
        acknowledged.extend(sending.join_all().await.into_iter().flatten());
        if round < 2 {
            server = server.restart().await;
        }
    }
    assert!(acknowledged.len() > 100, "{} acknowledged", acknowledged.len());
    let arriving = async {
        loop {
            let mut counts = HashMap::<_, usize>::new();
            for arrived in sink.so_far() {
                *counts.entry(String::from_utf8_lossy(&arrived.body).into_owned()).or_default() +=
                    1;
            }
            if acknowledged.iter().all(|body| counts.contains_key(body)) {
                return counts;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let counts = timeout(PATIENCE * 2, arriving).await.expect("every acknowledged one arrives");
    let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// Bodies that arrived, and how often.
fn counts(sink: &Sink) -> HashMap<String, usize> {
    let mut counts = HashMap::<_, usize>::new();
    for arrived in sink.so_far() {
        *counts.entry(String::from_utf8_lossy(&arrived.body).into_owned()).or_default() += 1;
    }
    counts
}

/// `kill -9` of agents that have webhooks in their hands, while others share the output and
/// webhooks keep coming: every acknowledged one arrives and is settled, and those alone arrive
/// twice that a killed agent may have been working on.
#[tokio::test]
async fn nothing_is_lost_when_agents_are_killed_with_webhooks_in_their_hands() {
    const KILLS: usize = 3;
    const SENT: usize = 400;
    let sink = Sink::scripted(|_| Reply::Hang(Duration::from_millis(100))).await;
    let server = Server::start().await;
    let few = ["--lease", "2s", "--concurrency", "4"];
    let mut agents = Vec::new();
    for _ in 0..2 {
        agents.push(Agent::start_with(&server, &sink.base, &few).await);
    }
    let path = agents[0].path(&server);
    let (client, url) = (harness::Client::default(), format!("{}{path}", server.base));
    let sending = tokio::spawn(async move {
        for number in 0..SENT {
            let request = client.request("POST", &url).body(number.to_string());
            request.send().await.expect(200);
        }
    });
    for killed in 0..KILLS {
        // It has some in its hands: they are on their way for a tenth of a second each.
        sink.received(20 * (killed + 1)).await;
        let mut killed = agents.remove(0);
        killed.child.kill().await.expect("it runs");
        agents.push(Agent::start_with(&server, &sink.base, &few).await);
    }
    sending.await.expect("all are acknowledged");
    let settled = async {
        loop {
            let page = server.get("/v1/logs?bucket=laptop&status=sent&limit=1").await.expect(200);
            if page.json()["total"] == SENT {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE * 2, settled).await.expect("every acknowledged one is settled");
    let counts = counts(&sink);
    assert_eq!(counts.len(), SENT);
    let twice: usize = counts.values().map(|count| count - 1).sum();
    assert!(twice <= KILLS * 4, "{twice} came again, of {KILLS} agents with 4 in their hands");
}

/// What takes longer than its lease is kept, so that no other agent gets it.
#[tokio::test]
async fn agents_that_share_an_output_get_each_webhook_once() {
    let sink =
        Sink::scripted(|number| Reply::Hang(Duration::from_secs(if number < 2 { 5 } else { 0 })))
            .await;
    let server = Server::start().await;
    let single = ["--lease", "1s", "--concurrency", "1"];
    let mut one = Agent::start_with(&server, &sink.base, &single).await;
    let mut other = Agent::start_with(&server, &sink.base, &single).await;
    let path = one.path(&server);
    for number in 0..100 {
        let request = server.anonymous("POST", &path).body(number.to_string());
        request.send().await.expect(200);
    }
    logs(&server, "sent", 100).await;
    assert!(counts(&sink).values().all(|count| *count == 1), "{:?}", counts(&sink));
    // Each of them had one of the first two.
    for agent in [&mut one, &mut other] {
        assert!(agent.line().await.contains("POST"));
    }
}

/// An agent says on standard error how much waited for it.
#[tokio::test]
async fn what_waited_is_counted() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let mut agent = Agent::start(&server, &sink.base).await;
    let path = agent.path(&server);
    agent.interrupt().await;
    for number in 0..30 {
        let request = server.anonymous("POST", &path).body(number.to_string());
        request.send().await.expect(200);
    }
    let mut agent = Command::new(env!("CARGO_BIN_EXE_webhook-server"));
    agent.args(["forward", "--bucket", "laptop", &sink.base]).env_clear();
    agent.env("WEBHOOK_SERVER_URL", &server.base).env("WEBHOOK_API_KEY", &server.key);
    agent.stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut agent = agent.spawn().expect("the agent starts");
    let mut lines = BufReader::new(agent.stderr.take().expect("it is piped")).lines();
    let mut said = Vec::new();
    while said.last().is_none_or(|line| line != "caught up 30 of 30") {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
        said.push(line.expect("text").expect("the agent runs"));
    }
    assert_eq!(said[0], "caught up 0 of 30");
    assert_eq!(counts(&sink).len(), 30);
}

#[tokio::test]
async fn a_report_on_another_accounts_log_is_refused() {
    let (mut server, bucket) = relay_to_clients().await;
    // Only one process at a time has the database.
    assert!(server.terminate().await.success());
    let key = server.account("other").await;
    let server = server.restart().await;
    let mut client = client::Client::subscribed(&server, Value::Null).await;
    post(&server, &bucket, "x").await;
    let log = client.webhook().await["meta"]["id"].as_str().expect("an ID").to_owned();
    let report = json!({"status": "sent", "status_code": 200});
    let path = format!("/v1/logs/{log}");
    let request = server.anonymous("PUT", &path).header("authorization", &format!("Bearer {key}"));
    request.json(&report).send().await.expect_error(404, "not found");
    assert_eq!(server.get(&path).await.expect(200).json()["status"], "received");
    server.request("PUT", &path).json(&report).send().await.expect(200);
    assert_eq!(server.get(&path).await.expect(200).json()["status"], "sent");
}

#[tokio::test]
async fn wrong_credentials_end_it() {
    let server = Server::start().await;
    for key in ["sk-wrong-wrong-wrong", "nonsense", "a:b"] {
        let mut agent = Command::new(env!("CARGO_BIN_EXE_webhook-server"));
        agent.args(["forward", "--bucket", "b", "http://localhost:1"]).env_clear();
        agent.env("WEBHOOK_SERVER_URL", &server.base).env("WEBHOOK_API_KEY", key);
        let ended = timeout(PATIENCE, agent.kill_on_drop(true).output()).await;
        let ended = ended.expect("it ends").expect("it starts");
        assert!(!ended.status.success(), "{key}: {ended:?}");
        assert!(!ended.stderr.is_empty());
    }
}

/// A service on this machine that speaks TLS with a certificate that is its own authority, as
/// `openssl req -x509` makes it, and answers everything with 200; its port and its certificate.
async fn https_service() -> (u16, String) {
    let mut params = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).expect("names");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            rustls::pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        )
        .expect("a usable certificate");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(tls) = acceptor.accept(tcp).await else { return };
                let ok = hyper::service::service_fn(async |_| {
                    Ok::<_, std::convert::Infallible>(http::Response::new(String::new()))
                });
                let http = hyper::server::conn::http1::Builder::new();
                drop(http.serve_connection(hyper_util::rt::TokioIo::new(tls), ok).await);
            });
        }
    });
    (port, certificate.pem())
}

#[tokio::test]
async fn the_certificate_of_the_local_service_is_for_the_agent_to_judge() {
    let server = Server::start().await;
    let (port, pem) = https_service().await;
    let target = format!("https://127.0.0.1:{port}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, pem).expect("a file");

    let mut agent = Agent::start(&server, &target).await;
    // What the server says of the output does not count.
    let bucket = server.get("/v1/buckets").await.expect(200).json()[0].clone();
    let mut output = bucket["outputs"][0].clone();
    output["tls_verification"] = json!(false);
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    server.request("PUT", &path).json(&output).send().await.expect(200);
    let webhook = agent.path(&server);
    server.anonymous("POST", &webhook).body("x").send().await.expect(200);
    let line = agent.line().await;
    let said = "tls: the certificate is self-signed: it is its own authority, and no trusted one \
                (--ca-file FILE trusts it, --insecure trusts any), sent again in ";
    assert!(line.contains(said), "{line}");
    agent.interrupt().await;

    for options in [&["--insecure"][..], &["--ca-file", ca.to_str().expect("text")]] {
        let mut agent = Agent::start_with(&server, &target, options).await;
        server.anonymous("POST", &webhook).body("x").send().await.expect(200);
        let line = agent.line().await;
        assert!(line.contains("  200  "), "{options:?}: {line}");
        agent.interrupt().await;
    }
    std::fs::write(&ca, "no certificate").expect("a file");
    for (options, said) in [
        (&["--ca-file", ca.to_str().expect("text")][..], "no certificate in the PEM text"),
        (&["--ca-file", "nowhere.pem"], "--ca-file nowhere.pem: No such file"),
        (&["--ca-file", "a", "--insecure"], "cannot be used with"),
    ] {
        let ended = command(&server.base, &server.key, &target).args(options).output();
        let ended = timeout(PATIENCE, ended).await.expect("it ends").expect("it starts");
        let error = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && error.contains(said), "{options:?}: {error}");
    }
}

#[tokio::test]
async fn each_attempt_has_a_line() {
    let sink = Sink::scripted(|number| Reply::Status(if number == 0 { 500 } else { 200 })).await;
    let server = Server::start().await;
    let mut agent = Agent::start(&server, &format!("{}/hook", sink.base)).await;
    server.anonymous("POST", &agent.path(&server)).body("x").send().await.expect(200);
    let first = agent.line().await;
    assert!(first.contains("POST   /hook  500, sent again in "), "{first}");
    let second = agent.line().await;
    assert!(second.contains("POST   /hook  200  "), "{second}");
}

/// A service that answers one request of each connection and closes it when the next one comes.
/// The body of each third answer breaks off.
async fn impatient_service() -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("bound"));
    tokio::spawn(async move {
        for number in 1.. {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let mut bytes = Vec::new();
            while !bytes.ends_with(b"\r\n\r\nx") {
                if stream.read_buf(&mut bytes).await.unwrap_or_default() == 0 {
                    break;
                }
            }
            let length = if number % 3 == 0 { 9 } else { 2 };
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nok");
            let _ = stream.write_all(answer.as_bytes()).await;
            if number % 3 != 0 {
                let _ = stream.read(&mut [0; 999]).await;
            }
        }
    });
    base
}

#[tokio::test]
async fn what_the_service_has_not_processed_is_no_failed_attempt() {
    let server = Server::start().await;
    let mut agent = Agent::start(&server, &impatient_service().await).await;
    for _ in 0..4 {
        server.anonymous("POST", &agent.path(&server)).body("x").send().await.expect(200);
        let line = agent.line().await;
        assert!(line.contains("POST   /  200  "), "{line}");
    }
    for log in logs(&server, "sent", 4).await {
        assert_eq!((&log["status_code"], &log["retries"]), (&json!(200), &json!(0)), "{log}");
    }
}

/// A server that puts control characters into everything that it says.
#[tokio::test]
async fn the_server_moves_no_cursor() {
    const EVIL: &str = "\u{1b}[2J\u{9b}31m\r";
    let sink = Sink::answering(|_| {
        let text = format!("no{EVIL} such account\n");
        Reply::With(http::Response::builder().status(403).body(text.into()).expect("an answer"))
    })
    .await;
    let ended = command(&sink.base, "sk-0123456789", "http://localhost:1").output();
    let ended = timeout(PATIENCE, ended).await.expect("it ends").expect("it starts");
    let said = String::from_utf8(ended.stderr).expect("text");
    assert!(!ended.status.success() && said.contains("such account"), "{said}");
    assert!(said.chars().all(|c| !c.is_control() || c == '\n'), "{said:?}");

    // What senders and owners of a bucket choose.
    let (server, sink) = (Server::start().await, Sink::start().await);
    let bucket = server.bucket("laptop").await;
    let spec = json!({"internal": true, "name": "agent", "destination": "http://localhost:1"});
    server.output(&bucket, spec).await;
    let mut agent = Agent::start(&server, &sink.base).await;
    let path = format!("{}/a%1b%9b", agent.path(&server));
    server.anonymous("POST", &path).body("x").send().await.expect(200);
    let line = agent.line().await;
    assert!(line.contains("/a%1b%9b  200") && line.chars().all(|c| !c.is_control()), "{line:?}");
}

/// The bar of what waited ends with the agent, and what was delivered is said.
#[tokio::test]
async fn an_interrupt_ends_what_is_shown() {
    let sink = Sink::scripted(|_| Reply::Hang(Duration::from_secs(1))).await;
    let server = Server::start().await;
    let mut agent = Agent::start(&server, &sink.base).await;
    let path = agent.path(&server);
    agent.interrupt().await;
    for _ in 0..5 {
        server.anonymous("POST", &path).body("x").send().await.expect(200);
    }
    // A terminal, where the bar is drawn.
    let line = format!(
        "exec {} forward --bucket laptop --concurrency 1 {}",
        env!("CARGO_BIN_EXE_webhook-server"),
        sink.base
    );
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).env("WEBHOOK_SERVER_URL", &server.base);
    terminal.env("WEBHOOK_API_KEY", &server.key).env("TERM", "xterm");
    terminal.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let Ok(mut terminal) = terminal.spawn() else {
        return println!("skipped: there is no script on this machine to make a terminal");
    };
    let mut stdout = terminal.stdout.take().expect("it is piped");
    sink.received(1).await;
    let id = terminal.id().expect("it runs");
    let kill = format!("kill -INT $(cat /proc/{id}/task/{id}/children)");
    assert!(Command::new("sh").args(["-c", &kill]).status().await.expect("sh").success());
    let mut shown = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut stdout, &mut shown);
    timeout(PATIENCE, read).await.expect("it ends in time").expect("text");
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let last = shown.rfind("caught up [").expect("the bar was drawn");
    // After the bar's last state there is nothing but whole lines.
    assert!(shown[last..].contains('\n'), "{shown:?}");
    assert!(timeout(PATIENCE, terminal.wait()).await.expect("ended").expect("a child").success());
}
