//! A server that is not to be trusted, and one without `extra_path`, against the real agent.

use std::{net::SocketAddr, process::Stdio};

use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines, copy_bidirectional},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStderr, Command},
    sync::mpsc,
    time::timeout,
};
use tokio_tungstenite::{accept_async, tungstenite::Message};

use super::*;
use crate::{harness::PATIENCE, sink::Sink};

/// Passes everything on to a real server but the socket, on which it says what it likes.
struct Hostile {
    address: SocketAddr,
    frames: mpsc::UnboundedSender<Value>,
}

impl Hostile {
    async fn before(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (frames, said) = mpsc::unbounded_channel();
        let real = server.base.replace("http://", "");
        tokio::spawn(async move {
            let mut said = Some(said);
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 15];
                let _ = stream.peek(&mut head).await;
                if head.starts_with(b"GET /v1/socket") {
                    let said = said.take().expect("the agent connects once");
                    tokio::spawn(speak(stream, said));
                    continue;
                }
                let mut behind = TcpStream::connect(&real).await.expect("the server listens");
                tokio::spawn(async move { copy_bidirectional(&mut stream, &mut behind).await });
            }
        });
        Self { address, frames }
    }

    /// Sends the frame of a webhook with this meta.
    fn say(&self, meta: Value) {
        let frame = json!({"type": "webhook", "meta": meta, "headers": {}, "query": "q=1",
            "body": "x", "method": "POST"});
        self.frames.send(frame).expect("the connection is open");
    }
}

async fn speak(stream: TcpStream, mut said: mpsc::UnboundedReceiver<Value>) {
    let mut socket = accept_async(stream).await.expect("the handshake");
    for status in ["authenticated", "subscribed"] {
        socket.next().await.expect("a frame").expect("it is read");
        let frame = json!({"type": "status", "status": status});
        socket.send(Message::text(frame.to_string())).await.expect("it is sent");
    }
    while let Some(frame) = said.recv().await {
        socket.send(Message::text(frame.to_string())).await.expect("it is sent");
    }
}

/// The next line of the agent that names this.
async fn said_of(lines: &mut Lines<BufReader<ChildStderr>>, what: &str) -> String {
    loop {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("a line").expect("text");
        let line = line.expect("the agent runs");
        if line.contains(what) {
            return line;
        }
    }
}

/// An agent that forwards to `target`, and its standard error.
async fn agent(hostile: &Hostile, key: &str, target: &str) -> (Child, BufReader<ChildStderr>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_webhook-server"))
        .args(["forward", "--bucket", "events", target])
        .env_clear()
        .env("WEBHOOK_SERVER_URL", format!("http://{}", hostile.address))
        .env("WEBHOOK_API_KEY", key)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the agent starts");
    let stderr = child.stderr.take().expect("it is piped");
    (child, BufReader::new(stderr))
}

/// The ID of the log of a webhook that waits for an agent.
async fn waiting(server: &Server, bucket: &Value, body: &str) -> String {
    post(server, bucket, body).await;
    let logs = server.get("/v1/logs?limit=1").await.expect(200).json();
    logs["data"][0]["id"].as_str().expect("an ID").to_owned()
}

/// Waits until the log has this status.
async fn becomes(server: &Server, log: &str, status: &str) -> Value {
    let path = format!("/v1/logs/{log}");
    let becoming = async {
        loop {
            let log = server.get(&path).await.expect(200).json();
            if log["status"] == status {
                return log;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, becoming).await.unwrap_or_else(|_| panic!("{log} does not become {status}"))
}

#[tokio::test]
async fn the_agent_sends_to_its_own_target_and_nowhere_else() {
    let (target, elsewhere) = (Sink::start().await, Sink::start().await);
    let (server, bucket) = relay_to_clients().await;
    let mut logs = Vec::new();
    for number in 0..6 {
        logs.push(waiting(&server, &bucket, &number.to_string()).await);
    }
    let hostile = Hostile::before(&server).await;
    let hook = format!("{}/hook", target.base);
    let (_agent, stderr) = agent(&hostile, &server.key, &hook).await;
    let mut said = stderr.lines();
    let evil = format!("{}/latest/meta-data/", elsewhere.base);

    // Whatever the destination is, with a path it goes to the target.
    hostile.say(json!({"id": logs[0], "output_destination": evil, "extra_path": "/a%2Fb"}));
    becomes(&server, &logs[0], "sent").await;
    let line = said_of(&mut said, &evil).await;
    assert!(line.contains(&hook), "{line}");
    let same = format!("{hook}/x");
    hostile.say(json!({"id": logs[1], "output_destination": same, "extra_path": "/x"}));
    becomes(&server, &logs[1], "sent").await;
    // A path that leads above the target goes nowhere.
    hostile.say(json!({"id": logs[2], "output_destination": hook, "extra_path": "/%2e%2e/admin"}));
    let failed = becomes(&server, &logs[2], "failed").await;
    assert_eq!(failed["status_code"], 0);

    // A server that says no path may name what is below the target.
    hostile.say(json!({"id": logs[3], "output_destination": format!("{hook}/below")}));
    becomes(&server, &logs[3], "sent").await;
    for (log, destination) in [(&logs[4], evil), (&logs[5], format!("{hook}/../admin"))] {
        hostile.say(json!({"id": log, "output_destination": destination}));
        let line = said_of(&mut said, log).await;
        assert!(line.contains(&destination), "{line}");
        let log = server.get(&format!("/v1/logs/{log}")).await.expect(200).json();
        assert_eq!(log["status"], "received", "it is left to another agent");
    }
    let paths: Vec<_> = target.so_far().iter().map(|it| it.head.uri.to_string()).collect();
    assert_eq!(paths, ["/hook/a%2Fb?q=1", "/hook/x?q=1", "/hook/below?q=1"]);
    assert_eq!(elsewhere.so_far().len(), 0);
}

#[tokio::test]
async fn whoever_changes_the_output_does_not_choose_where_the_agent_sends() {
    let (target, elsewhere) = (Sink::start().await, Sink::start().await);
    let server = Server::start().await;
    let hook = format!("{}/hook", target.base);
    let agent = agent::Agent::start(&server, &hook).await;
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    let path = format!("/v1/buckets/{}", harness::id(&buckets[0]));
    let output = &buckets[0]["outputs"][0];
    let path = format!("{path}/outputs/{}", harness::id(output));
    let spec = json!({"internal": true, "destination": format!("{}/latest/", elsewhere.base)});
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    let input = agent.path(&server);
    server.anonymous("POST", &format!("{input}/x?q=1")).body("x").send().await.expect(200);
    assert_eq!(target.received(1).await[0].head.uri, "/hook/x?q=1");
    // With a locked path nothing is appended.
    let spec = json!({"internal": true, "destination": hook, "lock_path": true});
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    server.anonymous("POST", &format!("{input}/x?q=2")).body("x").send().await.expect(200);
    assert_eq!(target.received(2).await[1].head.uri, "/hook?q=2");
    assert_eq!(elsewhere.so_far().len(), 0);
}

#[tokio::test]
async fn a_loop_through_an_agent_ends_at_the_bound() {
    let server = Server::start().await;
    let bucket = server.bucket("laptop").await;
    let input = format!("/v1/webhooks/{}", harness::default_input(&bucket));
    let _agent = agent::Agent::start(&server, &format!("{}{input}", server.base)).await;
    server.anonymous("POST", &input).body("ping").send().await.expect(200);
    let failed = agent::logs(&server, "failed", 1).await;
    assert_eq!(failed[0]["reason"], "loop");
    assert_eq!(agent::logs(&server, "sent", 8).await.len(), 8);
    assert_eq!(server.get("/v1/logs").await.expect(200).json()["total"], 9);
}
