//! Answers whose head came alone, and answers that are none.

use super::*;
use crate::{
    forward::{ForwardError, ForwardResponse, history::FailureKind},
    id::FunctionId,
    model::{Function, FunctionSpec, ResponseFromOutput},
};

/// The head of an answer, and then the end of the connection or of the time.
fn incomplete(status: StatusCode, is_late: bool) -> Answer {
    Answer::error(move || {
        let mut head = ForwardResponse::empty(status);
        head.headers.insert("x-from", "it".parse().expect("a value"));
        let (reason, after) = ("closed".to_owned(), Duration::from_secs(30));
        let cause = match is_late {
            true => ForwardError::Timeout { after, timings: None },
            false => ForwardError::Broken { reason, source: None, timings: None },
        };
        ForwardError::Incomplete { head: Box::new(head), cause: Box::new(cause) }
    })
}

async fn delivered(answer: Answer, spec: OutputSpec) -> (World, Log) {
    let mut world = World::new().await;
    world.forwarder.script(HOOK, [answer]);
    if let Some(id) = spec.response_function_id {
        let function = Function::new(id, world.bucket.account_id, START, FunctionSpec::default());
        let created = world.stores.documents.create(function.account_id, &function).await;
        created.expect("a new function");
    }
    world.output(OutputSpec { destination: HOOK.into(), ..spec }).await;
    let log = world.deliver_one().await;
    (world, log)
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_says_yes_and_nothing_more_has_the_webhook() {
    for (is_late, kind) in [(false, FailureKind::Broken), (true, FailureKind::Timeout)] {
        let answer = incomplete(StatusCode::ACCEPTED, is_late);
        let (world, log) = delivered(answer, OutputSpec::default()).await;
        assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 1));
        assert_eq!(world.forwarder.requests().len(), 1);
        let made = log.delivery.history.attempts();
        assert_eq!((made[0].status_code, made[0].failure), (202, Some(kind)));
        assert!(made[0].is_answer_incomplete() && log.delivery.is_answer_incomplete());
        let told = serde_json::to_value(&log).expect("a log");
        assert_eq!((&told["answer_incomplete"], &told["error"]), (&true.into(), &"".into()));
        assert_eq!((&told["status_code"], &told["response_body"]), (&202.into(), &"".into()));
        assert_eq!(told["response_headers"]["X-From"][0], "it");
    }
    let (_, log) = delivered(Answer::ok(), OutputSpec::default()).await;
    assert!(serde_json::to_value(&log).expect("a log").get("answer_incomplete").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_yes_or_whose_body_is_needed_is_a_failure() {
    let function = Some(FunctionId::generate());
    let needed = OutputSpec { response_function_id: function, ..OutputSpec::default() };
    for (status, spec) in [
        (StatusCode::OK, needed),
        (StatusCode::NOT_FOUND, OutputSpec::default()),
        (StatusCode::BAD_GATEWAY, OutputSpec::default()),
    ] {
        let (world, log) = delivered(incomplete(status, false), spec).await;
        assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Failed, 3));
        assert_eq!(world.forwarder.requests().len(), 3);
        assert!(!log.delivery.is_answer_incomplete());
    }
}

async fn asked(answer: Answer) -> Response<Bytes> {
    let input = InputSpec {
        response_from_output: ResponseFromOutput::Any,
        status_code: 203,
        ..InputSpec::default()
    };
    let mut world = World::with(BucketSpec::default(), input, RelayOptions::default()).await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [answer]);
    world.deliver().await;
    let response = world.post("x").await;
    world.stop().await;
    response
}

#[tokio::test(start_paused = true)]
async fn a_sender_gets_no_part_of_an_answer() {
    assert_eq!(asked(incomplete(StatusCode::CREATED, false)).await.status(), 203);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_ends_no_exchange_is_a_502_and_a_failure() {
    let switching = || Answer::status(StatusCode::SWITCHING_PROTOCOLS);
    let response = asked(switching().header(http::header::UPGRADE, "x".parse().expect("it"))).await;
    assert_eq!(response.status(), 502);
    assert!(!response.headers().contains_key("upgrade"));
    let said = "the destination answered 101 Switching Protocols, which is no final answer";
    assert_eq!(response.body(), said);
    let (_, log) = delivered(switching(), OutputSpec::default()).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Failed, 1));
    assert_eq!(log.delivery.last.expect("an attempt").status_code, 101);
}
