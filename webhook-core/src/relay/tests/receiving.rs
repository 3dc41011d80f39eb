use super::*;
use crate::model::{AuthType, BucketAuth, Headers, Secret};

#[tokio::test(start_paused = true)]
async fn the_static_answer_is_sent_when_the_webhook_is_stored() {
    let mut headers = HeaderMap::new();
    headers.insert("x-answer", "yes".parse().expect("a value"));
    let input = InputSpec {
        status_code: 202,
        headers: Headers(headers),
        body: "{\"ok\":true}".into(),
        ..InputSpec::default()
    };
    let world = World::with(BucketSpec::default(), input, RelayOptions::default()).await;
    let answer = world.post("x").await;
    assert_eq!(answer.status(), 202);
    assert_eq!(answer.headers()["x-answer"], "yes");
    assert_eq!(answer.body(), "{\"ok\":true}");

    let webhook = answer.headers()["request-id"].to_str().expect("text").parse().expect("an id");
    let account = world.bucket.account_id;
    let logs = world.stores.deliveries.logs_of(account, webhook).await.expect("readable");
    let [log] = logs.as_slice() else { panic!("one log without outputs, not {}", logs.len()) };
    assert_eq!(log.delivery.status, DeliveryStatus::Received);
    assert_eq!(log.delivery.output_id, None);
    assert_eq!(log.webhook.request.body, "x");
    assert_eq!(log.webhook.remote_addr, Some([203, 0, 113, 7].into()));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_input_is_404_in_plain_text() {
    let world = World::new().await;
    for path in [format!("/v1/webhooks/{}", InputId::generate()), "/v1/webhooks/x".to_owned()] {
        let answer = world.send(http::Request::post(path), "").await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        assert_eq!(answer.body(), "there is no input at this address");
    }
    let deleted = world.input;
    let account = world.bucket.account_id;
    assert_eq!(world.post("").await.status(), 200);
    world.stores.documents.delete_input(account, deleted).await.expect("deleted");
    world.relay.bucket_changed(&world.bucket);
    assert_eq!(world.post("").await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn credentials_are_asked_for_and_not_kept() {
    let auth =
        BucketAuth { kind: AuthType::Token, token: Secret::new("s3cret"), ..BucketAuth::default() };
    let bucket = BucketSpec { auth, ..BucketSpec::default() };
    let mut world = World::with(bucket, InputSpec::default(), RelayOptions::default()).await;
    world.output_to(HOOK).await;
    world.deliver().await;
    let refused = world.post("").await;
    assert_eq!(
        (refused.status(), &refused.body()[..]),
        (StatusCode::UNAUTHORIZED, &b"Unauthorized"[..])
    );
    let request = http::Request::post(world.address()).header("authorization", "Bearer s3cret");
    assert_eq!(world.send(request, "").await.status(), 200);
    world.forwarder.finished(1).await;
    assert!(!world.forwarder.requests()[0].headers.contains_key("authorization"));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_suspended_bucket_is_429() {
    let mut world = World::new().await;
    world.bucket.suspended = true;
    world.stores.documents.update_bucket(&world.bucket).await.expect("updated");
    let answer = world.post("").await;
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(answer.headers().contains_key("retry-after"));
}

#[tokio::test(start_paused = true)]
async fn two_host_headers_are_400() {
    let world = World::new().await;
    let request = http::Request::post(world.address())
        .header("host", "a.example")
        .header("host", "b.example");
    let answer = world.send(request, "").await;
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    assert_eq!(answer.body(), "Host: the header is given more than once");
}
