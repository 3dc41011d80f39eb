//! The management operations of an account with many buckets and outputs.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{generator::Generator, listing::question, micros_each};
use crate::{
    Outcome, api::text, measured::Measured, options::Context, part::generator::Plan,
    subject::server::Server,
};

/// Buckets of the account, and outputs of its first bucket.
const BUCKETS: usize = 100;
const OUTPUTS: usize = 50;
/// Outputs that are made and deleted again.
const MADE: u32 = 200;
/// More than one client asks for in practice.
const RATE: f64 = 50.0;

pub(super) fn measure(context: &Context) -> Outcome<Measured> {
    let folder = context.scratch()?;
    let server = Server::start(context, folder.path(), &[])?;
    let (bucket, input) = server.api.bucket("bucket")?;
    for number in 1..BUCKETS {
        server.api.bucket(&format!("bucket-{number}"))?;
    }
    let spec = |name: String| json!({ "name": name, "destination": "http://127.0.0.1:9/" });
    let mut output = json!(null);
    for number in 0..OUTPUTS {
        output = server.api.output(&bucket, &spec(format!("output-{number}")))?;
    }
    let one = format!("/v1/buckets/{}", text(&bucket["id"])?);
    let outputs = format!("{one}/outputs");
    let path = format!("{outputs}/{}", text(&output["id"])?);
    let changed = json!({ "destination": "http://127.0.0.1:9/", "description": "changed" });
    let operations = [
        ("list buckets", "GET", "/v1/buckets".to_owned(), json!({})),
        ("get bucket", "GET", one.clone(), json!({})),
        ("update bucket", "PUT", one.clone(), json!({ "description": "changed" })),
        ("update input", "PUT", format!("{one}/inputs/{input}"), json!({ "status_code": 204 })),
        ("update output", "PUT", path, changed),
    ];
    let mut measured = Measured::default();
    let mut asking = Generator::start(context)?;
    for (name, method, path, body) in &operations {
        let lasts = context.scale.load / 4;
        let plan = question(&server, method, path, &body.to_string(), lasts);
        let before = server.process.usage()?;
        let answered = asking.run(&Plan { rate: Some(RATE), ..plan }, |_| Ok(()))?;
        let used = server.process.usage()?.since(before);
        measured.value(format!("{name} p50 ms"), answered.latency.p50);
        measured.value(format!("{name} p99 ms"), answered.latency.p99);
        measured.value(format!("{name} CPU µs"), micros_each(used.cpu, answered.acknowledged));
        let others = answered.failed + answered.broken + answered.refused;
        measured.never(&format!("{name} that failed"), others);
    }
    let (mut making, mut deleting) = (Duration::ZERO, Duration::ZERO);
    for number in 0..MADE {
        let began = Instant::now();
        let made = server.api.output(&bucket, &spec(format!("made-{number}")))?;
        making += began.elapsed();
        let began = Instant::now();
        server.api.json("DELETE", &format!("{outputs}/{}", text(&made["id"])?), None)?;
        deleting += began.elapsed();
    }
    for (name, took) in [("create output", making), ("delete output", deleting)] {
        measured.value(format!("{name} mean ms"), micros_each(took, MADE.into()) / 1e3);
    }
    Ok(measured)
}
