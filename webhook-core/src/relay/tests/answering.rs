use super::*;
use crate::model::{Durability, ResponseFromOutput};

async fn world(from: ResponseFromOutput) -> World {
    let input = InputSpec { response_from_output: from, status_code: 202, ..InputSpec::default() };
    World::with(BucketSpec::default(), input, RelayOptions::default()).await
}

#[tokio::test(start_paused = true)]
async fn the_first_output_that_answers_answers_the_sender() {
    let mut world = world(ResponseFromOutput::Any).await;
    world.output_to("https://down.example/").await;
    world.output_to(HOOK).await;
    world.forwarder.script("https://down.example/", [Answer::connection_refused()]);
    let answer = Answer::status(StatusCode::CREATED)
        .header("x-from".parse().expect("a name"), "output".parse().expect("a value"))
        .header("connection".parse().expect("a name"), "close".parse().expect("a value"))
        .body("made");
    world.forwarder.script(HOOK, [answer.after(Duration::from_secs(2))]);
    world.deliver().await;
    let answer = world.post("x").await;
    assert_eq!((answer.status(), &answer.body()[..]), (StatusCode::CREATED, &b"made"[..]));
    assert_eq!(answer.headers()["x-from"], "output");
    assert!(!answer.headers().contains_key("connection"));
    world.forwarder.finished(4).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_output_is_an_answer_too() {
    let mut world = world(ResponseFromOutput::Any).await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [Answer::status(StatusCode::IM_A_TEAPOT)]);
    world.deliver().await;
    assert_eq!(world.post("x").await.status(), StatusCode::IM_A_TEAPOT);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn past_ten_seconds_the_static_answer_is_sent_and_the_delivery_goes_on() {
    let mut world = world(ResponseFromOutput::Any).await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [Answer::ok().body("late").after(Duration::from_secs(20))]);
    world.deliver().await;
    assert_eq!(world.post("x").await.status(), 202);
    assert_eq!(world.relay.functions.clock.now().since(START), Duration::from_secs(10));
    let log = world.outcome_of_request(0).await;
    assert_eq!(log.delivery.status, DeliveryStatus::Sent);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_what_has_ended_or_for_another_output() {
    let mut world = world(ResponseFromOutput::Output(OutputId::generate())).await;
    world.output_to(HOOK).await;
    assert_eq!(world.post("x").await.status(), 202, "the named output is gone");
    let mut world = self::world(ResponseFromOutput::Any).await;
    let single = OutputSpec { destination: HOOK.into(), retries: -1, ..OutputSpec::default() };
    world.output(single).await;
    world.forwarder.script(HOOK, [Answer::connection_refused()]);
    world.deliver().await;
    assert_eq!(world.post("x").await.status(), 202);
    assert_eq!(world.relay.functions.clock.now(), START, "it ended at once");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn handoff_after_shortens_the_waiting() {
    let mut world = world(ResponseFromOutput::Any).await;
    let durability = Durability {
        enabled: true,
        handoff_after: Duration::from_secs(3),
        ..Durability::default()
    };
    world
        .output(OutputSpec { destination: HOOK.into(), durability, ..OutputSpec::default() })
        .await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(5))]);
    world.deliver().await;
    assert_eq!(world.post("x").await.status(), 202);
    assert_eq!(world.relay.functions.clock.now().since(START), Duration::from_secs(3));
    world.forwarder.finished(1).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_over_the_limit_is_not_passed_on_in_part() {
    let input = InputSpec {
        response_from_output: ResponseFromOutput::Any,
        status_code: 202,
        ..InputSpec::default()
    };
    let options = RelayOptions { max_answer_bytes: 10, ..RelayOptions::default() };
    let mut world = World::with(BucketSpec::default(), input, options).await;
    world.output_to(HOOK).await;
    world
        .forwarder
        .script(HOOK, [Answer::ok().body("0123456789"), Answer::ok().body("0123456789!")]);
    world.deliver().await;
    assert_eq!(world.post("x").await.body(), "0123456789");
    assert_eq!(world.post("x").await.status(), 202);
    world.stop().await;
}
