//! What an account writes: compiled or refused, and then used.
#![no_main]

use http::HeaderMap;
use libfuzzer_sys::fuzz_target;
use webhook_signatures::{Keys, Now, Request, SignatureSpec, Verifier};

fuzz_target!(|input: &[u8]| {
    let Ok(spec) = serde_json::from_slice::<SignatureSpec>(input) else { return };
    let now = Now::from_unix_seconds(1_767_225_600);
    let _ = spec.check(now);
    let Ok(verifier) = Verifier::new(&spec) else { return };
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
