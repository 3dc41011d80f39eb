use std::time::Duration;

use tokio::time::timeout;

use super::{client::Client, *};
use crate::harness::PATIENCE;

#[tokio::test]
async fn who_does_not_answer_two_pings_is_closed() {
    let (server, _) = relay_with(&[("WEBHOOK_SOCKET_PING_INTERVAL", "200ms")]).await;
    let mut silent = Client::subscribed(&server, Value::Null).await;
    let mut polite = Client::subscribed(&server, Value::Null).await;
    let silence = async {
        for _ in 0..2 {
            silent.expect_status("ping").await;
        }
        silent.expect_status("error").await;
        assert_eq!(silent.closed().await, 1008);
    };
    let politeness = async {
        for _ in 0..8 {
            polite.expect_status("ping").await;
            polite.send(json!({"action": "pong"})).await;
        }
    };
    tokio::join!(silence, politeness);
}

/// A client that never reads fills its window; the others get everything.
#[tokio::test]
async fn who_never_reads_is_given_up_and_nobody_else_is_affected() {
    let (server, bucket) = relay_with(&[("WEBHOOK_SOCKET_WRITE_TIMEOUT", "1s")]).await;
    let mut reader = Client::subscribed(&server, Value::Null).await;
    let _deaf = Client::subscribed(&server, Value::Null).await;
    let body = "x".repeat(1 << 20);
    for number in 0..30 {
        post(&server, &bucket, &format!("{number} {body}")).await;
        let got = reader.bodies(1).await.remove(0);
        assert!(got.starts_with(&format!("{number} ")), "{}", &got[..10]);
    }
    let given_up = async {
        while !server.log().contains("does not read") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, given_up).await.expect("the deaf client is given up");
    post(&server, &bucket, "after").await;
    assert_eq!(reader.bodies(1).await, ["after"]);
}

#[tokio::test]
async fn the_number_of_clients_is_bounded() {
    let (server, _) = relay_with(&[("WEBHOOK_MAX_SOCKETS", "2")]).await;
    let one = Client::authenticated(&server).await;
    let _two = Client::authenticated(&server).await;
    let handshake = || {
        let request = server.anonymous("GET", "/v1/socket").header("upgrade", "websocket");
        let request = request.header("connection", "upgrade").header("sec-websocket-version", "13");
        request.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
    };
    let refused = handshake().send().await.expect_error(503, "too many clients");
    assert!(!refused.header("retry-after").is_empty());
    drop(one);
    let free = async {
        while !server.get("/metrics").await.text().contains("webhook_sockets 1") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, free).await.expect("the place is free again");
    Client::authenticated(&server).await;
}

/// What 1 000 of them cost is measured by the load harness (`socket-idle`);
/// these fit into the open files that a process usually may have.
#[tokio::test]
async fn idle_clients_cost_little() {
    const CLIENTS: u64 = 400;
    let (server, bucket) = relay_to_clients().await;
    let before = server.resident_kib();
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(Client::subscribed(&server, Value::Null).await);
    }
    let idle = server.resident_kib();
    post(&server, &bucket, "to all").await;
    for client in &mut clients {
        assert_eq!(client.webhook().await["body"], "to all");
    }
    let after = server.resident_kib();
    println!("resident KiB: {before} without, {idle} with them, {after} after one webhook");
    let grown = idle.saturating_sub(before);
    assert!(grown < 64 * CLIENTS, "{} KiB for each client", grown / CLIENTS);
}
