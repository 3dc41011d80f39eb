//! Answers that are none, or not whole, by destinations byte by byte.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use super::*;

/// A destination. It ends when it is dropped.
struct Raw {
    base: String,
    requests: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Raw {
    /// Answers the requests of each connection in turn with these bytes, and then either closes it
    /// when the next request came, or keeps it open and silent.
    async fn answering(answers: &'static [&'static str], closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}/", listener.local_addr().expect("bound"));
        let requests = Arc::<AtomicUsize>::default();
        let count = requests.clone();
        let serving = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let count = count.clone();
                tokio::spawn(async move {
                    for answer in answers {
                        if !receive(&mut stream, &count).await {
                            return;
                        }
                        let _ = stream.write_all(answer.as_bytes()).await;
                    }
                    if !closes || receive(&mut stream, &count).await {
                        // Until the relay closes it, or immediately.
                        while !closes && stream.read(&mut [0; 99]).await.is_ok_and(|read| read > 0)
                        {
                        }
                    }
                });
            }
        });
        Self { base, requests, serving }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// A request with the body `x`; whether it came.
async fn receive(stream: &mut TcpStream, count: &AtomicUsize) -> bool {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\nx") {
        if stream.read_buf(&mut bytes).await.unwrap_or_default() == 0 {
            return false;
        }
    }
    count.fetch_add(1, Ordering::SeqCst);
    true
}

/// The logs of this bucket's webhooks, one after the other.
async fn logs_of(server: &Server, bucket: &Value, webhooks: usize) -> Vec<Value> {
    for count in 1..=webhooks {
        server.anonymous("POST", &input_path(bucket)).body("x").send().await;
        server.ended_logs(count).await;
    }
    server.ended_logs(webhooks).await
}

async fn trace_of(server: &Server, log: &Value) -> Value {
    server.get(&format!("/v1/logs/{}/trace", id(log))).await.expect(200).json()
}

async fn relay_once_to(destination: &str, further: Value) -> (Server, Value) {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let mut spec = json!({ "name": "sink", "destination": destination, "retries": -1 });
    for (name, value) in further.as_object().expect("fields") {
        spec[name] = value.clone();
    }
    server.output(&bucket, spec).await;
    (server, bucket)
}

#[tokio::test]
async fn a_destination_that_closes_kept_connections_gets_every_webhook_without_a_retry() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let raw = Raw::answering(Box::leak(Box::new([ok])), true).await;
    let (server, bucket) = relay_once_to(&raw.base, json!({})).await;
    let logs = logs_of(&server, &bucket, 12).await;
    let mut reconnects = 0;
    for log in &logs {
        assert_eq!((&log["status"], &log["retries"]), (&json!("sent"), &json!(0)), "{log}");
        let told = trace_of(&server, log).await;
        let attempts = told["attempts"].as_array().expect("a list");
        let [first, .., last] = &attempts[..] else { continue };
        reconnects += 1;
        assert_eq!(attempts.len(), 2, "{told:#}");
        assert_eq!((&first["number"], &last["number"]), (&json!(1), &json!(1)));
        assert_eq!((&first["trigger"], &first["reused"]), (&json!("first"), &json!(true)));
        assert_eq!(first["error_kind"], "kept_closed");
        assert_eq!(first["next_because"], "reconnect");
        assert_eq!((&last["trigger"], &last["reused"]), (&json!("reconnect"), &json!(false)));
        assert_eq!(last["status_code"], 200);
        assert_eq!(told["verdict"], "sent: the answer was 200 at attempt 1");
    }
    // A connection that was kept for too long is not used again.
    assert!(reconnects > 0 && raw.requests() == 12 + reconnects, "{reconnects}");
}

#[tokio::test]
async fn a_yes_without_its_body_is_a_yes() {
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n";
    for (answer, kind) in [(cut, "timeout"), (chunked, "timeout"), (cut, "broken")] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}/", listener.local_addr().expect("bound"));
        let serving = tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                receive(&mut stream, &AtomicUsize::new(0)).await;
                let _ = stream.write_all(answer.as_bytes()).await;
                if kind == "timeout" {
                    open.push(stream);
                }
            }
        });
        let (server, bucket) = relay_once_to(&base, json!({ "timeout": 1 })).await;
        let log = logs_of(&server, &bucket, 1).await.remove(0);
        assert_eq!((&log["status"], &log["retries"]), (&json!("sent"), &json!(0)), "{log}");
        assert_eq!((&log["status_code"], &log["answer_incomplete"]), (&json!(200), &json!(true)));
        assert_eq!(log["error"], "");
        let told = trace_of(&server, &log).await;
        let [attempt] = &told["attempts"].as_array().expect("a list")[..] else {
            panic!("one attempt: {told:#}")
        };
        assert_eq!((&attempt["status_code"], &attempt["error_kind"]), (&json!(200), &json!(kind)));
        assert_eq!(attempt["answer_incomplete"], true);
        let said = "sent: the answer was 200, without its whole body, at attempt 1";
        assert_eq!(told["verdict"], said);
        serving.abort();
    }
}

#[tokio::test]
async fn a_switch_of_protocols_is_a_502_to_the_sender() {
    let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
    let raw = Raw::answering(Box::leak(Box::new([switching])), false).await;
    let (server, bucket) = relay_once_to(&raw.base, json!({})).await;
    let spec = json!({ "response_from_output": "anyOutput" });
    server.set_default_input(&bucket, spec).await;
    let answer = server.anonymous("POST", &input_path(&bucket)).body("x").send().await.expect(502);
    let said = "the destination answered 101 Switching Protocols, which is no final answer";
    assert_eq!(answer.text(), said);
    let log = server.ended_logs(1).await.remove(0);
    assert_eq!((&log["status"], &log["status_code"]), (&json!("failed"), &json!(101)));
    assert_eq!(log["reason"], "destination_refused");
    let told = trace_of(&server, &log).await;
    assert_eq!(told["received"]["answered"], 502);
}
