use super::*;
use crate::sink::Reply;

#[tokio::test]
async fn it_is_tried_until_it_succeeds_with_the_same_id_and_bytes() {
    let sink = Sink::scripted(|number| Reply::Status([503, 429, 200][number.min(2)])).await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let second = 1_000_000_000_u64;
    let durability = json!({
        "enabled": true, "schedule": "custom", "custom_delays": [second], "deadline": 3600 * second,
    });
    let spec = json!({ "name": "sink", "destination": sink.base, "durability": durability });
    server.output(&bucket, spec).await;
    server.anonymous("POST", &input_path(&bucket)).body("again").send().await.expect(200);
    let arrived = sink.received(3).await;
    assert!(arrived.iter().all(|arrived| arrived.body == "again"));
    let id = |index: usize| arrived[index].head.headers["x-webhook-relay-id"].clone();
    assert!(id(0) == id(1) && id(1) == id(2));
}

#[tokio::test]
async fn a_final_answer_is_not_tried_again() {
    let sink = Sink::scripted(|_| Reply::Status(410)).await;
    let (server, bucket) = relay_to(&sink.base).await;
    server.anonymous("POST", &input_path(&bucket)).body("gone").send().await.expect(200);
    sink.received(1).await;
    // The next one's attempt is behind any other attempt of the first at once.
    server.anonymous("POST", &input_path(&bucket)).body("too").send().await.expect(200);
    let bodies: Vec<_> = sink.received(2).await.into_iter().map(|arrived| arrived.body).collect();
    assert_eq!(bodies, ["gone", "too"]);
    let log = server.log();
    assert!(!log.contains("retry_in_ms"), "{log}");
}
