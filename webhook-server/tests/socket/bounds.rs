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

/// A client's connection from this address.
async fn handshake(server: &Server, from: &str) -> Result<Client, u16> {
    let address = server.base.strip_prefix("http://").expect("plain HTTP");
    let tcp = tokio::net::TcpSocket::new_v4().expect("a socket");
    tcp.bind(format!("{from}:0").parse().expect("an address")).expect("loopback");
    let tcp = tcp.connect(address.parse().expect("an address")).await.expect("it listens");
    let url = format!("ws://{address}/v1/socket");
    match tokio_tungstenite::client_async(url, tcp).await {
        Ok((stream, _)) => Ok(Client { stream }),
        Err(tokio_tungstenite::tungstenite::Error::Http(response)) => {
            Err(response.status().as_u16())
        }
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn strangers_have_few_places_and_take_none_from_others() {
    let options = [("WEBHOOK_MAX_SOCKETS", "2"), ("WEBHOOK_MAX_UNAUTHENTICATED_SOCKETS", "4")];
    let (server, bucket) = relay_with(&options).await;
    let mut known = Client::subscribed(&server, Value::Null).await;
    let here = async || handshake(&server, "127.0.0.1").await;
    let mut stranger = here().await.expect("the first");
    let _second = here().await.expect("the second");
    assert_eq!(here().await.err(), Some(503), "half of the places are for others");
    let elsewhere = [(); 3].map(|()| handshake(&server, "127.0.0.2"));
    let elsewhere = futures_util::future::join_all(elsewhere).await;
    assert_eq!(elsewhere.iter().filter(|one| one.is_ok()).count(), 2);
    assert_eq!(handshake(&server, "127.0.0.3").await.err(), Some(503), "all are taken");
    post(&server, &bucket, "undisturbed").await;
    assert_eq!(known.bodies(1).await, ["undisturbed"]);

    // Who says who it is makes room for another stranger.
    stranger.auth("whr", &server.key).await;
    stranger.expect_status("authenticated").await;
    drop((known, elsewhere));
    let room = async {
        while here().await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, room).await.expect("a place");
}

#[tokio::test]
async fn of_strangers_that_say_who_they_are_the_first_have_the_places() {
    let (server, _) = relay_with(&[("WEBHOOK_MAX_SOCKETS", "1")]).await;
    let (mut first, mut second) = (Client::connect(&server).await, Client::connect(&server).await);
    for client in [&mut first, &mut second] {
        client.auth("whr", &server.key).await;
        if client.frame().await["status"] == "error" {
            assert_eq!(client.closed().await, 1013, "try again later");
            return;
        }
    }
    panic!("both were let in");
}

#[tokio::test]
async fn wrong_credentials_are_slowed_down() {
    const DELAY: Duration = Duration::from_secs(3);
    let options = [("WEBHOOK_WRONG_CREDENTIALS", "1"), ("WEBHOOK_WRONG_CREDENTIALS_DELAY", "3s")];
    let (server, _) = relay_with(&options).await;
    let guess = async || {
        let mut client = Client::connect(&server).await;
        let started = std::time::Instant::now();
        client.auth("whr", "sk-wrong").await;
        let said = client.frame().await["status"].clone();
        (said, client.closed().await, started.elapsed())
    };
    let (said, code, took) = guess().await;
    assert!(said == "unauthorized" && code == 1008 && took < DELAY, "{said} {code} {took:?}");
    let all = futures_util::future::join_all((0..6).map(|_| guess())).await;
    let held_back = all.iter().filter(|(said, _, took)| said == "unauthorized" && *took >= DELAY);
    assert_eq!(held_back.count(), 4, "{all:?}");
    assert_eq!(all.iter().filter(|(_, code, _)| *code == 1013).count(), 2, "{all:?}");
    let started = std::time::Instant::now();
    Client::authenticated(&server).await;
    assert!(started.elapsed() < DELAY);
}
