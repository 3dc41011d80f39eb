use std::sync::Arc;

use http::{HeaderName, HeaderValue, StatusCode};
use webhook_core::{
    forward::{Answer, ScriptedForwarder},
    function::FunctionError,
};

use super::fixture::{body, complete, limited};
use crate::js::JsRuntime;

fn sending() -> (ScriptedForwarder, JsRuntime) {
    let forwarder = ScriptedForwarder::new();
    let header = (HeaderName::from_static("x-b"), HeaderValue::from_static("2"));
    let answer = Answer::status(StatusCode::CREATED).header(header.0, header.1).body(r#"{"n":1}"#);
    forwarder.script("http://example.com/a", [answer.clone(), answer]);
    forwarder.script("http://nobody.example/", [Answer::connection_refused()]);
    let runtime = JsRuntime::builder().forwarder(Arc::new(forwarder.clone())).build();
    (forwarder, runtime.expect("threads"))
}

#[tokio::test]
async fn the_names_of_the_web_do_what_they_do_there() {
    let (forwarder, runtime) = sending();
    let left = complete(&runtime, include_str!("web.js")).await.result.expect("runs").request.body;
    assert_eq!(String::from_utf8_lossy(&left), "", "values that are not what they should be");
    let sent = &forwarder.requests()[0];
    assert_eq!((sent.method.as_str(), &sent.body[..]), ("POST", &b"{}"[..]));
    assert_eq!(sent.headers["x-a"], "1");
    assert_eq!(sent.headers["content-type"], "text/plain;charset=UTF-8");
}

#[tokio::test]
async fn streams_compress_and_carry_bodies() {
    let (forwarder, runtime) = sending();
    let left = complete(&runtime, include_str!("streams.js")).await.result.expect("runs");
    assert_eq!(String::from_utf8_lossy(&left.request.body), "", "what is not as it should be");
    let sent = forwarder.requests();
    assert_eq!((&sent[0].body[..], &sent[1].body[..]), (&b"in two parts"[..], &b"of a blob"[..]));
    assert_eq!(sent[1].headers["content-type"], "text/csv");
}

#[tokio::test]
async fn pairs_of_keys_sign_and_verify() {
    assert_eq!(body(include_str!("subtle.js")).await, "", "signatures that are wrong");
}

#[tokio::test]
async fn locales_are_right_or_refused() {
    assert_eq!(body(include_str!("locales.js")).await, "", "what is neither");
}

#[tokio::test]
async fn the_limits_hold_for_them() {
    let (_, runtime) = sending();
    let many = "for (let i = 0; i < 11; i++) try { await fetch('http://example.com/') } catch {}";
    let result = complete(&runtime, &format!("{many} await fetch('http://example.com/')")).await;
    assert_eq!(result.result, Err(FunctionError::Limit("http calls, at most 10".to_owned())));
    let runtime = limited(|limits| {
        limits.string_bytes = 1_000;
        limits.memory_bytes = 4 << 20;
    });
    for source in [
        "btoa('a'.repeat(1001))",
        "new TextDecoder().decode(new Uint8Array(2000))",
        "new URLSearchParams('a&'.repeat(1e5))",
        "new URLSearchParams(Array.from({ length: 500 }, () => ['abc', 'd'])).toString()",
        "new URL('http://a/' + 'b'.repeat(1001))",
        "const deep = []; let a = deep; for (let i = 0; i < 1e5; i++) a = a[0] = []; structuredClone(deep)",
        "const c = new CompressionStream('gzip'), w = c.writable.getWriter(); \
            for (let i = 0; i < 500; i++) w.write(crypto.getRandomValues(new Uint8Array(10))); w.close(); \
            await new Response(c.readable).bytes()",
        "const bomb = 'H4sIAAAAAAACA+3BMQEAAADCoKzrX8IUfkABAAAAAG8Ddln0TIgTAAA='; \
            await new Response(new Blob([base64.decode(bomb, true)]).stream() \
            .pipeThrough(new DecompressionStream('gzip'))).text()",
        "new ReadableStream({ start(c) { for (;;) c.enqueue(new Array(9)) } })",
        "const s = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(900)) } }); await new Response(s).text()",
        "const list = new Array(4e6).fill(0); structuredClone(list)",
    ] {
        let result = complete(&runtime, source).await.result;
        assert!(matches!(result, Err(FunctionError::Limit(_))), "{source}: {result:?}");
    }
}

#[tokio::test]
async fn a_spoilt_library_keeps_nothing_of_the_host() {
    let spoilt = "const seen = []; for (const key of ['defineProperty', 'apply', 'get']) \
        Reflect[key] = (...given) => { seen.push(...given) }; Object.keys = (o) => (seen.push(o), []); \
        try { new URL('http://a') } catch {} try { crypto.subtle } catch {}\n\
        r.body = seen.some((o) => o && (o.setBytes || o.module)) ? 'leaks' : 'keeps'";
    assert_eq!(body(spoilt).await, "keeps");
}
