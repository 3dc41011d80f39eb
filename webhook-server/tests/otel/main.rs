//! Traces: what a collector gets from the real server, what destinations are told, and what
//! the log says.

#[path = "../harness/mod.rs"]
mod harness;
mod otlp;
#[allow(dead_code, reason = "this test uses a part of it")]
#[path = "../delivery/sink.rs"]
mod sink;

use harness::{Server, default_input};
use otlp::{Span, spans};
use serde_json::{Value, json};
use sink::{Reply, Sink};

const SECOND: u64 = 1_000_000_000;
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A server that traces to the collector, and a bucket with one output.
async fn traced(collector: &Sink, further: &[(&str, &str)], to: &str) -> (Server, Value) {
    let options = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.base.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=hooks"),
        ("OTEL_SERVICE_NAME", "hooks"),
        ("OTEL_BSP_SCHEDULE_DELAY", "100"),
        ("WEBHOOK_LOG_FORMAT", "json"),
        ("WEBHOOK_LOG", "info,webhook_core::attempt=debug"),
    ];
    let server = Server::start_with(&[&options, further].concat()).await;
    let bucket = server.bucket("events").await;
    let durability = json!({
        "enabled": true, "schedule": "custom", "custom_delays": [SECOND], "deadline": 3600 * SECOND,
    });
    let spec = json!({ "name": "sink", "destination": to, "durability": durability });
    server.output(&bucket, spec).await;
    (server, bucket)
}

/// The spans that have arrived, in the order in which they began.
fn arrived(collector: &Sink) -> Vec<Span> {
    let mut all: Vec<_> = collector.so_far().iter().flat_map(|it| spans(&it.body)).collect();
    all.sort_by_key(|span| (span.kind, span.started));
    all
}

#[tokio::test]
async fn a_webhook_and_its_attempts_are_one_trace() {
    let collector = Sink::start().await;
    let sink = Sink::scripted(|number| Reply::Status([503, 200][number.min(1)])).await;
    let to = format!("{}/hook?token=s3cret", sink.base);
    let (mut server, bucket) = traced(&collector, &[], &to).await;
    let path = format!("/v1/webhooks/{}/more?key=s3cret", default_input(&bucket));
    let answer = server.anonymous("POST", &path).body("{}").send().await.expect(200);
    let webhook = answer.header("request-id").to_owned();
    let deliveries = sink.received(2).await;
    assert!(server.terminate().await.success());

    let all = arrived(&collector);
    let [received, first, second] = all.as_slice() else { panic!("{all:?}") };
    let trace = webhook.replace('-', "");
    assert!(all.iter().all(|span| span.trace == trace && span.service == "hooks"), "{all:?}");
    assert_eq!((received.name.as_str(), received.kind), ("POST /v1/webhooks/{input}", 2));
    assert_eq!(received.parent, "");
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/v1/webhooks/{input}"),
        ("http.response.status_code", "200"),
        ("url.path", path.split_once("/more").expect("it is there").0),
        ("url.scheme", "http"),
        ("client.address", "127.0.0.1"),
        ("webhook.id", &webhook),
    ] {
        assert_eq!(received.attribute(name), Some(value), "{name}");
    }
    for (attempt, status, failed) in [(first, "503", true), (second, "200", false)] {
        assert_eq!((attempt.name.as_str(), attempt.kind), ("POST", 3));
        assert_eq!(attempt.parent, received.id);
        assert_eq!(attempt.attribute("http.response.status_code"), Some(status));
        assert_eq!(attempt.failed, failed);
        assert_eq!(attempt.attribute("error.type"), failed.then_some(status));
        assert!(attempt.attribute("webhook.delivery.id").is_some());
    }
    assert_eq!(first.attribute("http.request.resend_count"), None);
    assert_eq!(second.attribute("http.request.resend_count"), Some("1"));
    // The destination goes on from the attempt that reached it.
    for (delivery, attempt) in deliveries.iter().zip([first, second]) {
        let told = delivery.head.headers["traceparent"].to_str().expect("text");
        assert_eq!(told, format!("00-{trace}-{}-01", attempt.id));
    }
    let attempts = collector.so_far();
    assert!(attempts.iter().all(|it| it.head.headers["x-team"] == "hooks"));
    let sent = attempts.iter().flat_map(|it| it.body.to_vec()).collect::<Vec<_>>();
    assert!(!String::from_utf8_lossy(&sent).contains("s3cret"));
    let log = server.log();
    let lines = log.lines().filter(|line| line.contains(r#""message":"attempt""#));
    assert!(lines.clone().all(|line| line.contains(&trace)) && lines.count() == 2, "{log}");
}

#[tokio::test]
async fn a_senders_trace_goes_on_also_after_a_crash() {
    let collector = Sink::start().await;
    let sink = Sink::scripted(|number| match number {
        0 => Reply::Hang(std::time::Duration::from_secs(60)),
        _ => Reply::Status(200),
    })
    .await;
    let (mut server, bucket) = traced(&collector, &[], &sink.base).await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    let request = server.anonymous("POST", &path).header("traceparent", TRACEPARENT);
    request.header("tracestate", "a=1").send().await.expect(200);
    sink.received(1).await;
    collector.received(1).await;
    server.kill().await;
    let mut server = server.restart().await;
    let deliveries = sink.received(2).await;
    assert!(server.terminate().await.success());

    for delivery in deliveries {
        let header = |name: &str| delivery.head.headers[name].to_str().expect("text").to_owned();
        assert_eq!(header("traceparent"), TRACEPARENT);
        assert_eq!(header("tracestate"), "a=1");
    }
    let all = arrived(&collector);
    let [received, attempt] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((received.trace.as_str(), received.parent.as_str()), (TRACE, "b7ad6b7169203331"));
    assert_eq!((attempt.trace.as_str(), &attempt.parent), (TRACE, &received.id));
}

#[tokio::test]
async fn without_propagation_a_senders_trace_is_only_passed_on() {
    let collector = Sink::start().await;
    let sink = Sink::start().await;
    let further = [("OTEL_PROPAGATORS", "none")];
    let (mut server, bucket) = traced(&collector, &further, &sink.base).await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    let request = server.anonymous("POST", &path).header("traceparent", TRACEPARENT);
    request.send().await.expect(200);
    server.anonymous("POST", &path).send().await.expect(200);
    let deliveries = sink.received(2).await;
    assert!(server.terminate().await.success());
    let told: Vec<_> = deliveries.iter().map(|it| it.head.headers.get("traceparent")).collect();
    assert_eq!(told.iter().filter(|it| it.is_some_and(|it| it == TRACEPARENT)).count(), 1);
    assert_eq!(told.iter().filter(|it| it.is_none()).count(), 1);
    let all = arrived(&collector);
    assert!(all.len() == 4 && all.iter().all(|span| span.trace != TRACE), "{all:?}");
}

#[tokio::test]
async fn webhooks_do_not_wait_for_a_collector_that_is_not_there() {
    let sink = Sink::start().await;
    let nobody = Sink::start().await.base.clone();
    let further = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", nobody.as_str())];
    let (mut server, bucket) = traced(&Sink::start().await, &further, &sink.base).await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    server.anonymous("POST", &path).send().await.expect(200);
    sink.received(1).await;
    assert!(server.terminate().await.success());
    assert!(server.log().contains("spans are lost"), "{}", server.log());
}

#[tokio::test]
async fn a_variable_that_cannot_be_is_named_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = harness::command(folder.path());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let output = command.kill_on_drop(true).output().await.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("OTEL_EXPORTER_OTLP_PROTOCOL"), "{said}");
}
