//! Tokens and signatures on the way out, on a clock that the test moves.

use serde_json::{Value, json};

use super::*;
use crate::{forward::ForwardError, model::Attempt, store::LogQuery};

const TOKENS: &str = "https://auth.example/token";

fn granted(token: &str, expires_in: u64) -> Answer {
    Answer::ok().body(json!({"access_token": token, "expires_in": expires_in}).to_string())
}

fn spec(mut fields: Value) -> OutputSpec {
    fields["name"] = json!("o");
    fields["destination"] = json!(HOOK);
    fields["retries"] = json!(-1);
    serde_json::from_value(fields).expect("a spec")
}

fn oauth2() -> OutputSpec {
    spec(json!({"timeout": 5, "auth": {
        "type": "oauth2_client_credentials", "token_url": TOKENS, "client_id": "me",
        "client_secret": "s3cret",
    }}))
}

/// What the destination was shown, in the order in which it was.
fn shown(world: &World) -> Vec<String> {
    let requests = world.forwarder.requests_to(HOOK);
    let shown = requests.iter().map(|request| request.headers["authorization"].clone());
    shown.map(|value| value.to_str().expect("text").to_owned()).collect()
}

/// What came of the only delivery.
async fn outcome(world: &World) -> (DeliveryStatus, Attempt) {
    loop {
        let page = world.stores.logs.logs(world.bucket.account_id, &LogQuery::new(10)).await;
        let log = page.expect("readable").logs.pop();
        if let Some(log) = log.filter(|log| log.delivery.status.is_final()) {
            let last = log.delivery.last.expect("an attempt");
            return (log.delivery.status, last);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_used_until_a_minute_before_its_end() {
    let mut world = World::new().await;
    world.forwarder.script(TOKENS, [granted("t1", 3_600), granted("t2", 3_600)]);
    world.output(oauth2()).await;
    world.deliver().await;
    for (wait, sent) in [(0, 1), (3_530, 2), (30, 3)] {
        tokio::time::sleep(Duration::from_secs(wait)).await;
        world.post("x").await;
        while world.forwarder.requests_to(HOOK).len() < sent {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert_eq!(shown(&world), ["Bearer t1", "Bearer t1", "Bearer t2"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_refuses_every_token_gets_two_requests_and_the_server_two() {
    let mut world = World::new().await;
    world.forwarder.script(TOKENS, [granted("t1", 3_600), granted("t2", 3_600)]);
    world.forwarder.script(HOOK, [Answer::status(StatusCode::UNAUTHORIZED)]);
    world.output(oauth2()).await;
    world.deliver().await;
    world.post("x").await;
    world.forwarder.finished(4).await;
    world.post("y").await;
    world.forwarder.finished(5).await;
    assert_eq!(shown(&world), ["Bearer t1", "Bearer t2", "Bearer t2"]);
    assert_eq!(world.forwarder.requests_to(TOKENS).len(), 2);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_outputs_timeout_counts_for_the_token_and_the_request_together() {
    let mut world = World::new().await;
    world.forwarder.script(TOKENS, [granted("t1", 3_600).after(Duration::from_secs(4))]);
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(2))]);
    world.output(oauth2()).await;
    world.deliver().await;
    let started = tokio::time::Instant::now();
    world.post("x").await;
    world.forwarder.finished(2).await;
    assert_eq!(started.elapsed().as_secs(), 5);
    let timeout = world.forwarder.requests_to(HOOK)[0].timeout;
    assert!(timeout <= Duration::from_secs(1), "{timeout:?} is left");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_of_tokens_that_hangs_or_is_refused_is_what_the_attempt_says() {
    for (answer, said) in [
        (granted("t", 1).held(), "credentials: no token within the timeout"),
        (
            Answer::error(|| ForwardError::Refused("10.0.0.1 is not public".to_owned())),
            "credentials: no token could be asked for: destination refused: 10.0.0.1 is not public",
        ),
        (
            Answer::ok().body("x".repeat((64 << 10) + 1)),
            "credentials: no token could be asked for: the answer has more than 65536 bytes",
        ),
    ] {
        let mut world = World::new().await;
        world.forwarder.script(TOKENS, [answer]);
        world.output(oauth2()).await;
        world.deliver().await;
        world.post("x").await;
        let (status, attempt) = outcome(&world).await;
        assert_eq!((status, attempt.error.as_deref()), (DeliveryStatus::Failed, Some(said)));
        assert!(world.forwarder.requests_to(HOOK).is_empty());
        world.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_needs_no_token_asks_nobody_and_what_is_off_changes_nothing() {
    let mut world = World::new().await;
    world.output(spec(json!({"auth": {"type": "none"}, "signing": {"enabled": false}}))).await;
    world.deliver().await;
    world.post("x").await;
    world.forwarder.finished(1).await;
    let request = world.forwarder.requests().remove(0);
    assert!(!request.headers.contains_key("authorization"));
    assert!(!request.headers.keys().any(|name| name.as_str().starts_with("webhook-")));
    world.stop().await;
}
