//! Webhooks about what happens to others.

use super::*;

/// The example of docs/notifications.md, with `curl`; then what it asks for happens.
#[tokio::test]
async fn the_example_of_the_page_makes_a_notification_that_tells() {
    let sink = Sink::start().await;
    let refusing = Sink::scripted(|_| sink::Reply::Status(400)).await;
    let (server, bucket) = relay_to(&refusing.base).await;
    let Some(answers) = example_of("notifications.md", &server, &[]).await else { return };
    let answers = serde_json::Deserializer::from_slice(&answers).into_iter::<Value>();
    let answers: Vec<_> = answers.collect::<Result<_, _>>().expect("a bucket and a notification");
    let (ops, made) = (&answers[0], &answers[1]);
    assert_eq!(made["to_bucket"], ops["id"], "{made}");
    server.output(ops, json!({ "name": "pager", "destination": sink.base })).await;
    server.anonymous("POST", &input_path(&bucket)).body("lost").send().await.expect(200);
    let told = &sink.received(1).await[0];
    let event: Value = serde_json::from_slice(&told.body).expect("JSON");
    assert_eq!((&event["specversion"], &event["type"]), (&json!("1.0"), &json!("delivery.failed")));
    assert_eq!(event["data"]["bucket"]["id"], bucket["id"]);
    assert_eq!(event["data"]["last_error"], "the destination answered 400");
}
