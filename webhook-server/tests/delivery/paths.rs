//! Extra paths stay below the destination, and are otherwise what the sender sent.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::*;

/// Sends a request for exactly this path; the status.
async fn raw(server: &Server, path: &str) -> String {
    let address = server.base.replace("http://", "");
    let mut stream = TcpStream::connect(&address).await.expect("connected");
    let head = format!(
        "DELETE {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Length: 0\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    answer.split(' ').nth(1).expect("a status").to_owned()
}

#[tokio::test]
async fn a_path_that_climbs_is_refused_and_every_other_one_stays() {
    let sink = Sink::start().await;
    let (server, bucket) = relay_to(&format!("{}/base/", sink.base)).await;
    let input = input_path(&bucket);
    for extra in ["/../admin/x", "/%2e%2e/admin", "/a/..%2f..%2fadmin", "/\\..\\admin", "/.%2E"] {
        assert_eq!(raw(&server, &format!("{input}{extra}")).await, "400", "{extra}");
    }
    let request = server.anonymous("POST", &format!("{input}/%2e%2e/x"));
    request.send().await.expect_error(400, "path: ");
    let kept = ["/a/../b", "/a%2Fb//c", "/...", "/%252e%252e/x", "/a?x=/../.."];
    for (number, extra) in kept.iter().enumerate() {
        assert_eq!(raw(&server, &format!("{input}{extra}")).await, "200", "{extra}");
        let arrived = sink.received(number + 1).await.remove(number);
        assert_eq!(arrived.head.uri.to_string(), format!("/base{extra}"));
    }
    let logs = server.get("/v1/logs").await.expect(200).json();
    assert_eq!(logs["total"], kept.len(), "what is refused leaves nothing");
}

#[tokio::test]
async fn a_path_of_a_function_that_climbs_fails_for_good() {
    let sink = Sink::start().await;
    let (server, bucket) = relay_to(&format!("{}/base/", sink.base)).await;
    let climb = server.function("r:SetRequestPath(\"/a/../../admin\")").await;
    let spec = json!({"name": "agent", "internal": true, "destination": sink.base});
    server.output(&bucket, spec).await;
    let locked = format!("{}/locked", sink.base);
    let locked = json!({"name": "locked", "destination": locked, "lock_path": true});
    server.output(&bucket, locked).await;
    let function = json!({"function_id": id(&climb), "name": "by function", "internal": true});
    server.output(&bucket, function).await;
    server.set_default_input(&bucket, json!({"function_id": id(&climb)})).await;
    server.anonymous("POST", &input_path(&bucket)).send().await.expect(200);
    // The output with a locked path does not append it.
    assert_eq!(sink.received(1).await[0].head.uri, "/locked");
    server.ended_logs(4).await;
    let logs = server.get("/v1/logs?status=failed").await.expect(200).json();
    assert_eq!(logs["total"], 3, "{logs}");
    for log in logs["data"].as_array().expect("a list") {
        assert!(log["error"].as_str().is_some_and(|error| error.contains("..")), "{log}");
        assert_eq!((&log["retries"], &log["reason"]), (&json!(0), &json!("destination_refused")));
    }
    assert_eq!(sink.so_far().len(), 1);
}
