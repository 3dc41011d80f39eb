//! `webhook-server mcp`, by a client of JSON-RPC.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
    time::timeout,
};

use super::{
    harness::{PATIENCE, Server, command, id},
    send,
    sink::Sink,
};

struct Assistant {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    next: u64,
    _folder: tempfile::TempDir,
}

impl Assistant {
    async fn start(server: &Server, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut child = command(folder.path())
            .arg("mcp")
            .args(options)
            .envs([("WEBHOOK_SERVER_URL", &server.base), ("WEBHOOK_API_KEY", &server.key)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut assistant = Self { child, input, output, next: 0, _folder: folder };
        let version = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t"}});
        let hello = assistant.ask("initialize", version).await;
        assert_eq!(hello["result"]["protocolVersion"], "2025-03-26");
        assert_eq!(hello["result"]["serverInfo"]["name"], "webhook-server");
        assert!(hello["result"]["capabilities"]["tools"].is_object());
        // A notification is not answered.
        assistant.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assistant
    }

    async fn write(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.expect("it is read");
    }

    async fn read(&mut self) -> Value {
        let line = timeout(PATIENCE, self.output.next_line()).await.expect("an answer in time");
        let line = line.expect("text").expect("it has not ended");
        serde_json::from_str(&line).expect("one message on each line")
    }

    async fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters});
        self.write(&message.to_string()).await;
        let answer = self.read().await;
        assert_eq!((&answer["id"], &answer["jsonrpc"]), (&json!(self.next), &json!("2.0")));
        answer
    }

    /// What a tool answers, and whether that is an error.
    async fn call(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments})).await;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    async fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().expect("a list");
        for tool in tools {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert!(!tool["description"].as_str().expect("text").is_empty());
        }
        tools.iter().map(|tool| tool["name"].as_str().expect("text").to_owned()).collect()
    }
}

#[tokio::test]
async fn an_assistant_reads_and_with_write_sends_again() {
    let server = Server::start().await;
    let sink = Sink::start().await;
    let bucket = server.bucket("shop").await;
    let secret = json!({"name": "shop", "auth": {"type": "token", "token": "t0p-s3cret"}});
    let path = format!("/v1/buckets/{}", id(&bucket));
    let function = json!({"name": "f", "driver": "lua", "payload": "print(\"seen\")"});
    let function =
        server.request("POST", "/v1/functions").json(&function).send().await.expect(201).json();
    let output = json!({"name": "o", "destination": sink.base, "function_id": id(&function)});
    server.output(&bucket, output).await;
    send(&server, &bucket, "hello").await;
    sink.received(1).await;
    server.request("PUT", &path).json(&secret).send().await.expect(200);

    let mut reader = Assistant::start(&server, &[]).await;
    let tools = reader.tools().await;
    assert!(tools.contains(&"explain_webhook".to_owned()) && tools.len() == 8, "{tools:?}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mcp.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    for tool in &tools {
        assert!(page.contains(&format!("`{tool}`")), "{tool} is not on the page");
    }
    let (buckets, _) = reader.call("list_buckets", json!({})).await;
    assert!(buckets.contains("shop") && !buckets.contains("t0p-s3cret"), "{buckets}");
    let (none, _) = reader.call("list_buckets", json!({"limit": 1, "offset": 1})).await;
    assert!(!none.contains("shop"), "{none}");
    let mut listed = Value::Null;
    for _ in 0..200 {
        let (text, failed) =
            reader.call("list_webhooks", json!({"bucket": "shop", "limit": 5})).await;
        assert!(!failed, "{text}");
        listed = serde_json::from_str(&text).expect("JSON");
        // The outcome is stored a moment after the destination has it.
        if listed["data"][0]["status"] == "sent" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    let log = id(&listed["data"][0]).to_owned();
    let (explained, failed) = reader.call("explain_webhook", json!({"id": log})).await;
    assert!(!failed, "{explained}");
    let explained: Value = serde_json::from_str(&explained).expect("JSON");
    assert_eq!(explained["log"]["body"], "hello");
    assert_eq!(explained["output_now"]["name"], "o");
    assert_eq!(explained["trace"]["verdict"], "sent: the answer was 200 at attempt 1");
    assert_eq!(explained["run_of_output_function"]["status"], "success");
    let (runs, _) = reader.call("list_runs", json!({"id": id(&function), "limit": 1})).await;
    assert!(runs.contains("seen"), "{runs}");
    let (counts, failed) = reader.call("count_webhooks", json!({"bucket": "shop"})).await;
    assert!(!failed && counts.contains("\"day\""), "{counts}");

    // Nothing is sent without --write.
    let refused = json!({"name": "replay_webhook", "arguments": {"id": log}});
    let refused = reader.ask("tools/call", refused).await;
    assert_eq!(refused["error"]["code"], -32602);
    assert!(refused["error"]["message"].as_str().expect("text").contains("--write"));

    let mut writer = Assistant::start(&server, &["--write"]).await;
    assert_eq!(writer.tools().await.len(), 10);
    assert_eq!(sink.so_far().len(), 1);
    let (said, failed) = writer.call("replay_webhook", json!({"id": log})).await;
    assert!(!failed, "{said}");
    assert_eq!(sink.received(2).await[1].body, "hello");
    let arguments = json!({"id": id(&function), "request_body": "x", "headers": {"X-A": ["1"]}});
    let (said, failed) = writer.call("test_function", arguments).await;
    assert!(!failed && said.contains("seen"), "{said}");
}

#[tokio::test]
async fn whatever_else_comes_is_answered_and_survived() {
    let server = Server::start().await;
    let mut assistant = Assistant::start(&server, &["--write"]).await;
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("7", -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, -32602),
    ] {
        assistant.write(line).await;
        let answer = assistant.read().await;
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    // Not answered: a notification, an answer to nothing, an empty line.
    for line in [r#"{"jsonrpc":"2.0","method":"x"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, ""]
    {
        assistant.write(line).await;
    }
    for (name, arguments, said) in [
        ("get_webhook", json!({}), "id: must be an ID"),
        ("get_webhook", json!({"id": "../account/api-key"}), "id: must be an ID"),
        ("get_webhook", json!({"id": "01890a5d-ac96-774b-bcce-b302099a8057"}), "404"),
        ("list_webhooks", json!({"limit": "5"}), "limit: must be a whole number"),
        ("list_webhooks", json!({"limit": 1000}), "400: limit"),
        ("list_webhooks", json!({"bucket": "a&limit=1 é"}), "404"),
        ("list_webhooks", json!({"buckets": "x"}), "buckets: list_webhooks has no such argument"),
        ("list_buckets", json!([]), "arguments: must be an object"),
        ("test_function", json!({"id": "x", "headers": "y"}), "headers: must be an object"),
    ] {
        let (text, failed) = assistant.call(name, arguments.clone()).await;
        assert!(failed && text.contains(said), "{name} {arguments}: {text}");
    }
    assert!(assistant.ask("ping", json!({})).await["result"].is_object());
    drop(assistant.input);
    let ended = timeout(PATIENCE, assistant.child.wait()).await.expect("it ends with its input");
    assert!(ended.expect("a child").success());
}
