//! When spans leave, and what becomes of those that cannot.

use std::{sync::Arc, time::Duration};

use http::{Request, Response, StatusCode};
use webhook_core::{
    WebhookId,
    forward::{Answer, ForwardRequest, ScriptedForwarder},
};
use webhook_otel::{Settings, Tracer};

const COLLECTOR: &str = "http://collector:4318/v1/traces";
const NAME: &[u8] = b"POST /v1/webhooks/{input}";

fn tracer(forwarder: &ScriptedForwarder, further: &[(&str, &str)]) -> Tracer {
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")];
    let variables = [&variables, further].concat();
    let settings = Settings::read(|name| {
        let set = variables.iter().find(|(set, _)| *set == name);
        set.map(|(_, value)| (*value).to_owned())
    });
    Tracer::start(settings.expect("valid"), Arc::new(forwarder.clone()))
}

fn receive(tracer: &Tracer, status: StatusCode) {
    let request = Request::post("/v1/webhooks/x/further?secret=1").body(()).expect("a request");
    let receiving = tracer.receiving(Some("/v1/webhooks/{input}"), &request);
    let id = WebhookId::generate().to_string();
    let answer = Response::builder().status(status).header("request-id", id).body(());
    receiving.answered(&answer.expect("an answer"));
}

fn spans(request: &ForwardRequest) -> usize {
    request.body.windows(NAME.len()).filter(|part| *part == NAME).count()
}

#[tokio::test(start_paused = true)]
async fn spans_leave_together_and_the_last_ones_at_the_end() {
    let forwarder = ScriptedForwarder::new();
    let tracer = tracer(&forwarder, &[("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3")]);
    for _ in 0..4 {
        receive(&tracer, StatusCode::OK);
    }
    forwarder.received(1).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(forwarder.requests().len(), 1);
    forwarder.received(2).await;
    receive(&tracer, StatusCode::OK);
    receive(&tracer, StatusCode::OK);
    tracer.close().await;
    let sent = forwarder.requests_to(COLLECTOR);
    assert_eq!(sent.iter().map(spans).collect::<Vec<_>>(), [3, 1, 2]);
    assert_eq!(sent[0].headers["content-type"], "application/x-protobuf");
    // What follows the input may be a secret, and so may the query.
    let body = String::from_utf8_lossy(&sent[0].body).into_owned();
    assert!(body.contains("/v1/webhooks/x") && !body.contains("further"), "{body}");
    assert!(!body.contains("secret"), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_is_away_holds_up_nobody() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script(COLLECTOR, [Answer::ok().held()]);
    let variables = [("OTEL_BSP_MAX_QUEUE_SIZE", "2"), ("OTEL_BSP_SCHEDULE_DELAY", "0")];
    let tracer = tracer(&forwarder, &variables);
    receive(&tracer, StatusCode::OK);
    forwarder.received(1).await;
    for _ in 0..1_000 {
        receive(&tracer, StatusCode::OK);
    }
    forwarder.script(COLLECTOR, [Answer::ok()]);
    tracer.close().await;
    let sent: usize = forwarder.requests().iter().map(spans).sum();
    assert_eq!(sent, 3, "one was on its way, two found room");
}

#[tokio::test(start_paused = true)]
async fn failures_are_kept_of_traces_that_are_not() {
    let forwarder = ScriptedForwarder::new();
    let variables = [("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "1e-9")];
    let tracer = tracer(&forwarder, &variables);
    for status in [StatusCode::OK, StatusCode::NOT_FOUND, StatusCode::SERVICE_UNAVAILABLE] {
        receive(&tracer, status);
    }
    tracer.close().await;
    assert_eq!(forwarder.requests().iter().map(spans).collect::<Vec<_>>(), [1]);
}

#[tokio::test]
async fn nothing_is_traced_without_a_collector() {
    let forwarder = ScriptedForwarder::new();
    let tracer = Tracer::start(None, Arc::new(forwarder.clone()));
    receive(&tracer, StatusCode::OK);
    tracer.close().await;
    assert!(forwarder.requests().is_empty());
}
