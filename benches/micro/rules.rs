//! Rules on a 4 KiB JSON webhook, and signatures of longer ones: what each output
//! adds to receiving.
//!
//! ```text
//! cargo bench -p microbenches --bench rules
//! ```

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use http::{HeaderMap, HeaderValue, Method};
use std::hint::black_box;
use webhook_core::{Rules, Subject, model::Request};

fn webhook() -> Request {
    let commits: Vec<_> = (0..30)
        .map(|number| {
            format!(r#"{{"id":"{number:040x}","message":"change number {number}","added":[]}}"#)
        })
        .collect();
    let body = format!(
        r#"{{"ref":"refs/heads/main","repository":{{"full_name":"octo/repo"}},"commits":[{}]}}"#,
        commits.join(",")
    );
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("x-github-event", HeaderValue::from_static("push"));
    Request {
        method: Method::POST,
        extra_path: String::new(),
        raw_query: "source=github".into(),
        headers,
        body: Bytes::from(body),
    }
}

fn rules(criterion: &mut Criterion) {
    let request = webhook();
    let header = r#"{"match":{"type":"value","value":"push","parameter":{"source":"header","name":"X-GitHub-Event"}}}"#;
    let payload = r#"{"match":{"type":"value","value":"refs/heads/main","parameter":{"source":"payload","name":"ref"}}}"#;
    let regex =
        r#"{"match":{"type":"regex","regex":"number 2[0-9]\"","parameter":{"source":"body"}}}"#;
    let hmac = format!(
        r#"{{"match":{{"type":"payload-hmac-sha256","secret":"s","parameter":{{"source":"string","name":"sha256={:064}"}}}}}}"#,
        0
    );
    let all = format!(r#"{{"and":[{header},{payload},{regex}]}}"#);
    let mut group = criterion.benchmark_group("rules");
    for (name, json) in [
        ("none", "{}"),
        ("header", header),
        ("payload", payload),
        ("regex", regex),
        ("hmac", &*hmac),
        ("all three", &all),
    ] {
        let rules: Rules = serde_json::from_str(json).expect("rules");
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let subject = Subject::new(black_box(&request));
                black_box(rules.matches(&subject))
            });
        });
    }
    group.finish();
}

/// What checking the signature of a body costs, by its algorithm and length.
/// The signature is wrong: a rule compares it in constant time either way.
fn signatures(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("signatures");
    for bytes in [1 << 10, 16 << 10, 256 << 10] {
        let request = Request { body: Bytes::from(vec![b'x'; bytes]), ..webhook() };
        group.throughput(Throughput::Bytes(bytes as u64));
        for (algorithm, digits) in [("sha1", 40), ("sha256", 64), ("sha512", 128)] {
            let json = format!(
                r#"{{"match":{{"type":"payload-hmac-{algorithm}","secret":"s","parameter":{{"source":"string","name":"{algorithm}={:0digits$}"}}}}}}"#,
                0
            );
            let rules: Rules = serde_json::from_str(&json).expect("a rule");
            group.bench_function(format!("{algorithm}, {} KiB", bytes >> 10), |bencher| {
                bencher.iter(|| {
                    let subject = Subject::new(black_box(&request));
                    black_box(rules.matches(&subject))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, rules, signatures);
criterion_main!(benches);
