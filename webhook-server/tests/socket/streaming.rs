use std::collections::HashSet;

use super::{client::Client, *};
use crate::harness::{default_input, id};

#[tokio::test]
async fn frames_look_as_the_official_clients_expect() {
    let (server, bucket) = relay_to_clients().await;
    let mut client = Client::subscribed(&server, json!(["events"])).await;
    let path = format!("/v1/webhooks/{}/extra?q=1&q=2", default_input(&bucket));
    let request = server.anonymous("PUT", &path).header("x-github-event", "push");
    request.body("text").send().await.expect(200);
    let frame = client.webhook().await;
    let meta = &frame["meta"];
    assert_eq!(meta["bucked_id"], bucket["id"]);
    assert_eq!(meta["bucket_id"], bucket["id"]);
    assert_eq!(meta["bucket_name"], "events");
    assert_eq!(meta["input_id"], default_input(&bucket));
    assert_eq!(meta["input_name"], "Default public endpoint");
    assert_eq!(meta["output_name"], "agent");
    assert_eq!(meta["output_destination"], "http://localhost:3000/hook/extra");
    assert_eq!(frame["headers"]["X-Github-Event"], json!(["push"]));
    assert_eq!(frame["headers"]["X-Webhook-Relay-Id"], json!([meta["id"]]));
    assert_eq!(
        (&frame["method"], &frame["query"], &frame["body"]),
        (&json!("PUT"), &json!("q=1&q=2"), &json!("text"))
    );
    assert_eq!(frame.get("body_encoding"), None);
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    let request = server.anonymous("POST", &path).body(vec![0xff, 0x00]);
    request.send().await.expect(200);
    let frame = client.webhook().await;
    assert_eq!((&frame["body"], &frame["body_encoding"]), (&json!("/wA="), &json!("base64")));
}

#[tokio::test]
async fn two_subscribers_both_get_everything() {
    let (server, bucket) = relay_to_clients().await;
    let mut one = Client::subscribed(&server, json!(["events"])).await;
    let mut two = Client::subscribed(&server, json!([id(&bucket)])).await;
    let expected: HashSet<_> = (0..200).map(|number| number.to_string()).collect();
    for body in &expected {
        post(&server, &bucket, body).await;
    }
    for client in [&mut one, &mut two] {
        let bodies = client.bodies(expected.len()).await;
        assert_eq!(HashSet::from_iter(bodies), expected);
    }
}

#[tokio::test]
async fn a_dropped_connection_in_the_middle_of_a_stream_loses_nothing() {
    let (server, bucket) = relay_to_clients().await;
    let mut broken = Client::subscribed(&server, Value::Null).await;
    let sending = async {
        for number in 0..100 {
            post(&server, &bucket, &number.to_string()).await;
        }
    };
    let breaking = async {
        broken.bodies(30).await;
        drop(broken);
    };
    tokio::join!(sending, breaking);
    // Nothing was reported: the next one gets it all, the oldest first.
    let mut next = Client::subscribed(&server, Value::Null).await;
    let bodies = next.bodies(100).await;
    let expected: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    let mut sorted = bodies.clone();
    sorted.sort_by_key(|body| body.parse::<u32>().expect("a number"));
    assert_eq!(sorted, expected);
}

#[tokio::test]
async fn a_client_chooses_buckets_and_may_choose_again() {
    let (server, bucket) = relay_to_clients().await;
    let other = server.bucket("other").await;
    let mut client = Client::authenticated(&server).await;
    client.send(json!({"action": "subscribe", "buckets": ["other", "missing"]})).await;
    let message = client.expect_status("subscribed").await;
    assert_eq!(message, "subscribed to buckets: other; unknown buckets: missing");
    post(&server, &bucket, "not for it").await;
    post(&server, &other, "live").await;
    let frame = client.webhook().await;
    assert_eq!((&frame["body"], &frame["meta"]["output_name"]), (&json!("live"), &json!("")));
    for all in [json!([""]), json!([]), Value::Null] {
        client.send(json!({"action": "subscribe", "buckets": all})).await;
        let message = client.expect_status("subscribed").await;
        assert_eq!(message, "subscribed to buckets: events, other");
        if all == json!([""]) {
            assert_eq!(client.webhook().await["body"], "not for it", "it waited");
        }
    }
}

#[tokio::test]
async fn only_unknown_buckets_are_no_subscription_to_all() {
    let (server, bucket) = relay_to_clients().await;
    let mut client = Client::authenticated(&server).await;
    client.send(json!({"action": "subscribe", "buckets": ["missing"]})).await;
    let message = client.expect_status("subscribed").await;
    assert_eq!(message, "subscribed to buckets: ; unknown buckets: missing");
    post(&server, &bucket, "x").await;
    client.send(json!({"action": "ping"})).await;
    client.expect_status("pong").await;
}

#[tokio::test]
async fn a_clients_report_answers_the_sender_of_a_bucket_without_outputs() {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let input = harness::default_input(&bucket).to_owned();
    let spec = json!({"response_from_output": "anyOutput", "status_code": 202, "body": "static"});
    let path = format!("/v1/buckets/{}/inputs/{input}", harness::id(&bucket));
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    let ask = || server.anonymous("POST", &format!("/v1/webhooks/{input}")).body("ask").send();
    let started = std::time::Instant::now();
    assert_eq!(ask().await.expect(202).text(), "static");
    assert!(started.elapsed().as_secs() < 9, "nobody was there to wait for");

    let mut client = Client::subscribed(&server, json!(["events"])).await;
    let (answer, ()) = tokio::join!(ask(), async {
        let frame = client.webhook().await;
        let id = frame["meta"]["id"].as_str().expect("an id");
        let report = json!({"status_code": 201, "response_body": "aGVsbG8=",
            "response_headers": {"X-From": ["client"]}});
        let report = server.request("PUT", &format!("/v1/logs/{id}")).json(&report).send();
        assert_eq!(report.await.expect(200).json()["status"], "sent");
    });
    let answer = answer.expect(201);
    assert_eq!((answer.text().as_str(), answer.header("x-from")), ("hello", "client"));
}

#[tokio::test]
async fn an_orderly_stop_says_goodbye() {
    let (mut server, _) = relay_to_clients().await;
    let mut client = Client::subscribed(&server, Value::Null).await;
    let mut silent = Client::connect(&server).await;
    server.signal("TERM").await;
    assert_eq!(client.closed().await, 1001);
    assert_eq!(silent.closed().await, 1001);
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn an_output_limits_what_it_hands_over_of_what_was_missed() {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let replay = json!({"enabled": true, "lookback": 0, "limit": 2});
    server.output(&bucket, json!({"name": "a", "internal": true, "replay_missing": replay})).await;
    for body in ["1", "2", "3"] {
        post(&server, &bucket, body).await;
    }
    let mut client = Client::subscribed(&server, Value::Null).await;
    assert_eq!(client.bodies(2).await, ["1", "2"]);
    post(&server, &bucket, "new").await;
    assert_eq!(client.bodies(1).await, ["new"]);
}
