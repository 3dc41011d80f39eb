//! What a webhook costs the database: how often its file of changes is made durable.

use super::*;

/// How many webhooks are sent, one after the other, each to its end.
const WEBHOOKS: usize = 12;

/// The commits in SQLite's write-ahead log: frames that end a transaction, of the salts that
/// its header has (<https://www.sqlite.org/fileformat2.html#the_write_ahead_log>). With
/// `synchronous=FULL` each of them is one sync to disk.
fn commits(server: &Server) -> usize {
    let log = std::fs::read(server.data_dir().join("webhooks.db-wal")).expect("a log");
    let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().expect("four bytes"));
    let page = number(8) as usize;
    let frames = (32..log.len()).step_by(24 + page).filter(|at| at + 24 + page <= log.len());
    let current = frames.filter(|at| log[at + 8..at + 16] == log[16..24]);
    current.filter(|at| number(at + 4) != 0).count()
}

/// The commits of webhooks that are sent one after the other.
async fn commits_of_webhooks(server: &Server, bucket: &Value, sink: &Sink, before: usize) -> usize {
    let earlier = commits(server);
    for number in 1..=WEBHOOKS {
        let request = server.anonymous("POST", &input_path(bucket));
        request.body(r#"{"id":7}"#).send().await.expect(200);
        sink.received(before + number).await;
        server.ended_logs(before + number).await;
    }
    commits(server).checked_sub(earlier).expect("the log was not begun anew")
}

/// With three functions on its way a webhook is as many commits as without.
#[tokio::test]
async fn functions_cost_no_commits() {
    let server = Server::start().await;
    let (bucket, sink) = (server.bucket("events").await, Sink::start().await);
    let spec = json!({ "name": "sink", "destination": sink.base });
    let output = server.output(&bucket, spec.clone()).await;
    let without = commits_of_webhooks(&server, &bucket, &sink, 0).await;
    assert!(without >= WEBHOOKS, "each is stored before it is answered: {without}");

    let mut functions = Vec::new();
    for name in ["input", "output", "response"] {
        let source = json!({ "name": name, "payload": format!("print('{name}')") });
        functions.push(server.function_of(source).await);
    }
    let [of_input, of_output, of_response] = &functions[..] else { panic!("three functions") };
    server.set_default_input(&bucket, json!({ "function_id": id(of_input) })).await;
    let mut spec = spec;
    spec["function_id"] = id(of_output).into();
    spec["response_function_id"] = id(of_response).into();
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    let with = commits_of_webhooks(&server, &bucket, &sink, WEBHOOKS).await;
    for function in &functions {
        let runs = server.runs(function).await;
        assert_eq!(runs.len(), WEBHOOKS, "the runs of {}", function["name"]);
    }
    // A node's lease, which is extended from time to time, may be among either.
    assert!(with <= without + 2, "{with} commits with functions, {without} without");
}
