//! Requests to all presets: whatever comes in, nothing panics, and nothing is verified.
#![no_main]

use std::sync::LazyLock;

use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use webhook_signatures::{Keys, Now, Request, Verdict, Verifier, presets};

const P256: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==";

static VERIFIERS: LazyLock<Vec<Verifier>> = LazyLock::new(|| {
    let verifier = |preset: &webhook_signatures::Preset| {
        let mut builder = Verifier::preset(&preset.name);
        for field in &preset.fields {
            if let Some(name) = field.name.strip_prefix("parameters.") {
                builder = builder.parameter(name, "production");
            } else if field.name == "secret" && field.required {
                let secret = match preset.algorithm.as_str() {
                    "ed25519" if preset.name == "discord" => "ab".repeat(32),
                    "ed25519" => format!("whpk_{}=", "A".repeat(43)),
                    "basic" => "user:password-of-the-fuzzer".to_owned(),
                    "ecdsa-p256-sha256" => P256.to_owned(),
                    _ => "abcd".repeat(8),
                };
                builder = builder.secret(secret);
            }
        }
        builder.build().expect("a preset")
    };
    presets().iter().map(verifier).collect()
});

// The first byte says which preset; lines up to an empty one are the query and headers,
// what follows is the body, and the document of keys as well.
fuzz_target!(|input: &[u8]| {
    let Some((&which, rest)) = input.split_first() else { return };
    let verifier = &VERIFIERS[usize::from(which) % VERIFIERS.len()];
    let end = rest.windows(2).position(|pair| pair == b"\n\n").unwrap_or(rest.len());
    let (head, body) = (&rest[..end], rest.get(end + 2..).unwrap_or_default());
    let mut lines = head.split(|&byte| byte == b'\n');
    let query = String::from_utf8_lossy(lines.next().unwrap_or_default());
    let mut headers = HeaderMap::new();
    for line in lines {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            headers.append(name, value);
        }
    }
    let url = format!("https://a.example/in?{query}");
    let method = if body.is_empty() { "GET" } else { "POST" };
    let request = Request { method, url: &url, raw_query: &query, headers: &headers, body };
    let now = Now::from_unix_seconds(1_767_225_600);
    let mut keys = Keys::new();
    let mut verdict = verifier.verify(&request, now, &keys);
    if let Verdict::NeedsKey(wanted) = verdict {
        keys.insert(wanted, body.to_vec());
        verdict = verifier.verify(&request, now, &keys);
    }
    assert!(!verdict.is_verified(), "{verdict:?}");
    let _ = verifier.challenge(&request, now, &keys);
    let _ = verifier.preview(&request);
    let _ = (verifier.delivery_id(&request), verifier.event(&request));
});
