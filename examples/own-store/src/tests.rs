//! What holds for this store holds for any: the suite of `webhook-conformance`.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};
use webhook_conformance::Fixture;

use super::*;

async fn make_store() -> Fixture {
    let store = OwnStore::new(String::new());
    Fixture::of(Stores::relay(store.clone(), store))
}

mod deliveries {
    webhook_conformance::delivery_store_conformance!(super::make_store);
}

#[tokio::test]
async fn what_comes_to_the_route_arrives_at_the_destination() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let address = listener.local_addr().expect("it has one");
    let store = OwnStore::new(format!("http://{address}/orders"));
    let webhooks = webhooks(&store);
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let take = post(|body: String| async move { arrived.send(body).expect("the test listens") });
    let application =
        Router::new().route("/orders", take).route_service("/hooks/{*rest}", webhooks.ingest());
    tokio::spawn(async move { axum::serve(listener, application).await });
    tokio::spawn(async move { webhooks.run(std::future::pending()).await });

    let mut sender = TcpStream::connect(address).await.expect("connected");
    let input = store.bucket.inputs[0].id;
    let request = format!(
        "POST /hooks/{input} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Length: 5\r\n\r\nhello"
    );
    sender.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    sender.read_to_string(&mut answer).await.expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let body = timeout(Duration::from_secs(30), arrivals.recv()).await.expect("it arrives");
    assert_eq!(body.as_deref(), Some("hello"));
}
