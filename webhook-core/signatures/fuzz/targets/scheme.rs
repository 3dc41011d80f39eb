//! A scheme and secrets from outside: compiled or refused, and then used.
#![no_main]

use http::HeaderMap;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use webhook_signatures::{Keys, Now, Request, Verifier};

fuzz_target!(|input: &[u8]| {
    let Ok(spec) = serde_json::from_slice::<Value>(input) else { return };
    let mut builder = match serde_json::from_value(spec["scheme"].clone()) {
        Ok(scheme) => Verifier::custom(scheme),
        Err(_) => Verifier::preset(spec["provider"].as_str().unwrap_or_default()),
    };
    for secret in spec["secrets"].as_array().into_iter().flatten() {
        builder = builder.secret(secret["secret"].as_str().unwrap_or_default());
    }
    for (name, value) in spec["parameters"].as_object().into_iter().flatten() {
        builder = builder.parameter(name, value.as_str().unwrap_or_default());
    }
    let Ok(verifier) = builder.url(spec["url"].as_str().unwrap_or_default()).build() else { return };
    let now = Now::from_unix_seconds(1_767_225_600);
    let headers = HeaderMap::from_iter([
        (http::header::AUTHORIZATION, "t=1767225600,v1=00".parse().expect("a value")),
        (http::header::CONTENT_TYPE, "application/x-www-form-urlencoded".parse().expect("a value")),
    ]);
    for body in [&b"{\"a\":{\"b\":[1]}}"[..], b"a=1&b=2", b"\xff"] {
        let url = "https://a.example/in?a=1";
        let request = Request { method: "GET", url, raw_query: "a=1", headers: &headers, body };
        let _ = verifier.verify(&request, now, &Keys::new());
        let _ = verifier.challenge(&request, now, &Keys::new());
        let _ = verifier.preview(&request);
    }
});
