use super::*;
use crate::{model::Headers, rule::Rules};

#[tokio::test(start_paused = true)]
async fn method_path_query_headers_and_bytes_arrive() {
    let mut world = World::new().await;
    world.output_to("https://example.com/base?own=1").await;
    world.deliver().await;
    let request = http::Request::builder()
        .method(Method::from_bytes(b"PURGE").expect("a token"))
        .uri(format!("{}/a%2Fb/../c?q=%20&q=2", world.address()))
        .header("host", "hooks.example.com")
        .header("x-event", "one")
        .header("x-event", "two")
        .header("connection", "x-private")
        .header("x-private", "secret")
        .header("x-forwarded-for", "198.51.100.1");
    assert_eq!(world.send(request, "b\u{0}dy").await.status(), 200);
    world.forwarder.finished(1).await;

    let sent = world.forwarder.requests().remove(0);
    assert_eq!(sent.method.as_str(), "PURGE");
    assert_eq!(sent.url, "https://example.com/base/a%2Fb/../c?own=1&q=%20&q=2");
    assert_eq!(sent.body, "b\u{0}dy");
    assert_eq!(sent.headers.get_all("x-event").iter().collect::<Vec<_>>(), ["one", "two"]);
    assert!(!sent.headers.contains_key("x-private"));
    assert!(!sent.headers.contains_key("connection"));
    assert!(!sent.headers.contains_key("host"), "made from the destination");
    assert_eq!(sent.headers["x-forwarded-for"], "198.51.100.1, 203.0.113.7");
    assert_eq!(sent.headers["x-forwarded-proto"], "https");
    assert_eq!(sent.headers["x-forwarded-host"], "hooks.example.com");
    let log = world.outcome_of_request(0).await;
    assert_eq!(log.delivery.status, DeliveryStatus::Sent);
    assert_eq!(sent.headers["x-webhook-relay-id"], log.delivery.id.to_string().as_str());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_output_overwrites_headers_and_locks_the_path() {
    let mut world = World::new().await;
    let headers: Headers = serde_json::from_str(
        r#"{"Host":"inside.example","X-Event":["a","b"],"X-Forwarded-For":"hidden"}"#,
    )
    .expect("headers");
    world
        .output(OutputSpec {
            destination: HOOK.into(),
            headers,
            lock_path: true,
            timeout: Some(Duration::from_secs(7)),
            tls_verification: false,
            ..OutputSpec::default()
        })
        .await;
    world.deliver().await;
    let request =
        http::Request::post(format!("{}/extra?q=1", world.address())).header("x-event", "z");
    world.send(request, "").await;
    world.forwarder.finished(1).await;
    let sent = world.forwarder.requests().remove(0);
    assert_eq!(sent.url, "https://example.com/hook?q=1");
    assert_eq!(sent.headers["host"], "inside.example");
    assert_eq!(sent.headers.get_all("x-event").iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(sent.headers["x-forwarded-for"], "hidden");
    assert_eq!(sent.timeout, Duration::from_secs(7));
    assert!(!sent.tls_verification);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rules_pick_outputs_and_what_they_stop_is_logged_as_rejected() {
    let mut world = World::new().await;
    let rules: Rules = serde_json::from_str(
        r#"{"match":{"type":"value","parameter":{"source":"request","name":"method"},"value":"PUT"}}"#,
    )
    .expect("rules");
    let only_put = OutputSpec { destination: HOOK.into(), rules, ..OutputSpec::default() };
    let stopped = world.output(only_put).await;
    world.output_to("https://example.com/all").await;
    world
        .output(OutputSpec {
            name: "off".into(),
            destination: "https://example.com/off".into(),
            disabled: true,
            ..OutputSpec::default()
        })
        .await;
    world.deliver().await;
    let answer = world.post("x").await;
    world.forwarder.finished(1).await;
    world.outcome_of_request(0).await;
    assert_eq!(world.forwarder.requests().len(), 1);

    let webhook = answer.headers()["request-id"].to_str().expect("text").parse().expect("an id");
    let account = world.bucket.account_id;
    let logs = world.stores.deliveries.logs_of(account, webhook).await.expect("readable");
    let statuses: Vec<_> = logs
        .iter()
        .map(|log| (log.delivery.output_id == Some(stopped), log.delivery.status))
        .collect();
    assert_eq!(statuses, [(true, DeliveryStatus::Rejected), (false, DeliveryStatus::Sent)]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn internal_outputs_are_left_to_clients() {
    let mut world = World::new().await;
    world.output(OutputSpec { internal: true, ..OutputSpec::default() }).await;
    world.deliver().await;
    let answer = world.post("x").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(world.forwarder.requests().is_empty());
    let webhook = answer.headers()["request-id"].to_str().expect("text").parse().expect("an id");
    let account = world.bucket.account_id;
    let logs = world.stores.deliveries.logs_of(account, webhook).await.expect("readable");
    assert_eq!(logs[0].delivery.status, DeliveryStatus::Received);
    assert!(logs[0].delivery.internal);
    world.stop().await;
}
