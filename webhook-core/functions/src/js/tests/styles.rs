//! What must not pass by mistake, and whose styles are understood.

use bytes::Bytes;
use webhook_core::{
    function::{FunctionError, FunctionRuntime, ScriptOutcome},
    model::Driver,
};

use super::fixture::{body, complete, fails, headers, invocation, run, runtime};

#[tokio::test]
async fn a_script_that_only_declares_fails() {
    let runtime = runtime();
    for source in [
        "function process(payload) { delete payload.email; return payload }",
        "const redact = (p) => ({ ...p, email: undefined }); const url = cfg.get('URL');",
        "console.log('loaded'); class Redact { run(p) { return p } }",
        "function main(r) { r.body = '' }",
        "/* transform */ async function on(r) {}",
    ] {
        let error = complete(&runtime, source).await.result.expect_err(source).to_string();
        assert!(error.starts_with("function: TypeError: the script declares"), "{error}");
    }
    let source = "function process(payload) { return payload }";
    let refused = runtime.check(Driver::Js, source).await.expect_err("at save");
    assert!(matches!(refused, FunctionError::Compile { line: 1, .. }), "{refused:?}");
    for source in [
        "const f = (x) => x; if (f(r.method) === 'GET') r.stopForwarding()",
        "const early = () => true; if (early()) return; r.body = ''",
        "const a = 1",
    ] {
        complete(&runtime, source).await.result.expect(source);
    }
}

#[tokio::test]
async fn fields_that_r_does_not_have_are_errors() {
    for source in [
        "function transform(order) { delete order.email; return order }",
        "function transform(order) { const { email, ...rest } = order; return rest }",
        "function transform(order) { order.email = '***' }",
        "function transform(order) { if (order.type === 'paid') order.body = '' }",
        "if (r.email) r.body = ''",
    ] {
        let error = fails(source).await.to_string();
        assert!(error.starts_with("function:1: TypeError: r has no field"), "{source}: {error}");
    }
    for source in ["delete r.body", "'use strict'; r.setBody = 1", "r.stopForwarding = 1"] {
        let error = fails(source).await.to_string();
        assert!(error.contains(" cannot be "), "{source}: {error}");
    }
    let left =
        body("r.body = [typeof r.then, JSON.stringify(r).length > 2, 'email' in r, `${r}`].join()")
            .await;
    assert_eq!(left, "undefined,true,false,[object Object]");
}

#[tokio::test]
async fn returned_objects_must_be_of_the_fields_of_r() {
    for (source, expected) in [
        ("function transform(r) { return { text: 'x' } }", "\"text\", which is no field of r"),
        (
            "function transform(r) { return { ...r, email: 1 } }",
            "\"email\", which is no field of r",
        ),
        ("return { statusCode: 200, body: 'x' }", "\"statusCode\", which is no field of r"),
        ("return { ...r, query: { a: 1 } }", "r.query cannot be set"),
        ("return { body: undefined }", "not undefined"),
        ("return { ...r, body: null }", "not null"),
        ("return { body: Promise.resolve('x') }", "await it"),
    ] {
        let error = fails(source).await.to_string();
        assert!(error.contains(expected), "{source}: {error}");
    }
    for source in [
        "const all = JSON.parse(JSON.stringify(r)); delete all.bodyBytes; return { ...all, body: 'x' }",
        "return { ...r, bodyBytes: new Uint8Array([120]) }",
        "return { ...r, body: 'x' }",
        "return { ...r, RequestBody: 'x' }",
    ] {
        assert_eq!(body(source).await, "x", "{source}");
    }
}

#[tokio::test]
async fn bodies_that_are_nothing_are_errors() {
    for call in ["setBody", "SetRequestBody", "setResponseBody", "SetResponseBody"] {
        for nothing in
            ["", "undefined", "null", "() => 1", "Promise.resolve('x')", "{ toJSON() {} }"]
        {
            let source = format!("r.{call}({nothing})");
            let error = fails(&source).await.to_string();
            assert!(error.contains("body"), "{source}: {error}");
        }
    }
    for source in ["r.body = undefined", "r.RequestBody = null", "r.responseBody = null"] {
        assert!(fails(source).await.to_string().contains("a body must be"), "{source}");
    }
    assert_eq!(body("r.body = ''").await, "");
    assert_eq!(body("r.body = 0").await, "0");
}

async fn given(source: &str, body: &'static str) -> Result<ScriptOutcome, FunctionError> {
    let mut given = invocation(source);
    given.request.body = Bytes::from_static(body.as_bytes());
    given.metadata.insert("output_url".to_owned(), "https://example.com/hook".to_owned());
    runtime().run(given).await.result
}

/// Numbers that JavaScript cannot hold, and spaces that it would not write.
const EXACT: &str = r#"{ "id": 12345678901234567890, "email": "a@b.c" }"#;

#[tokio::test]
async fn payloads_that_stay_leave_every_byte() {
    for source in [
        "function transform(payload) { return payload }",
        "const transform = async (event) => event",
        "function handler(webhook) { return webhook }",
        "addHandler('transform', (request) => request)",
    ] {
        let left = given(source, EXACT).await.expect(source);
        assert_eq!(left.request.body, EXACT, "{source}");
        assert_eq!(left.request.headers, invocation("").request.headers, "{source}");
        assert_eq!(left.request.raw_query, invocation("").request.raw_query, "{source}");
    }
}

#[tokio::test]
async fn handlers_of_other_services_get_and_leave_what_theirs_do() {
    for (source, expected) in [
        ("function transform(payload) { return [payload.a] }", "[1]"),
        ("function transform(payload) { return 'x' }", "\"x\""),
        (
            "function handler(w) { w.payload = { m: w.method, u: w.url }; return w }",
            r#"{"m":"POST","u":"https://example.com/hook"}"#,
        ),
        (
            "async function handler({ payload, ...rest }) { return { ...rest, payload: [payload.a] } }",
            "[1]",
        ),
        ("function handler(w) { w.eventType = 'x'; w.payload = w.eventType; return w }", "\"x\""),
        ("addHandler('transform', (q) => { q.body.a++; return q })", r#"{"a":2}"#),
        (
            "addHandler('transform', (q) => ({ ...q, body: q.query + q.path }))",
            "a=1&a=2&b=x%20y/in",
        ),
        (
            "addHandler('transform', (q) => ({ ...q, body: q.parsed_query }))",
            r#"{"a":["1","2"],"b":"x y"}"#,
        ),
        ("addHandler('transform', (q) => ({ ...q, body: process.env.TOKEN }))", "secret"),
        ("addHandler('transform', (q) => ({ ...q, body: q.headers['x-token'] }))", "t"),
        // A function of that name, in a script that works on r.
        ("function handler(x) { return x + '!' } r.body = handler('x')", "x!"),
    ] {
        let left = given(source, r#"{"a":1}"#).await.expect(source);
        assert_eq!(left.request.body, expected, "{source}");
    }
    let left = given(
        "addHandler('transform', (q) => { q.parsed_query.c = 'd'; delete q.headers['x-token']; q.headers['X-New'] = 1; return q })",
        "{}",
    ).await.expect("runs");
    assert_eq!(left.request.raw_query, "a=1&a=2&b=x+y&c=d");
    assert_eq!(
        left.request.headers,
        headers(&[("content-type", "application/json"), ("x-new", "1")])
    );
    let left = run("function handler(w) { w.cancel = true; w.payload = {}; return w }").await;
    assert!(left.stop_forwarding);
}

#[tokio::test]
async fn handlers_that_leave_nothing_fail() {
    for (source, expected) in [
        ("function transform(payload) {}", "must return the new payload"),
        ("function transform(payload) { return () => 1 }", "must return a payload"),
        ("function handler(w) { delete w.payload.email }", "must return the webhook"),
        ("function handler(w) { return w.payload }", "must return the webhook"),
        ("function handler(w) { return { ...w, payload: undefined } }", "must return a payload"),
        (
            "function handler(w) { w.url = 'https://elsewhere.example'; return w }",
            "cannot be changed",
        ),
        ("function handler(w) { if (w.eventType === 'a') w.cancel = true; return w }", "not known"),
        ("addHandler('transform', (q) => {})", "must return the request"),
        ("addHandler('transform', (q) => q.body)", "must return the request"),
        ("addHandler('transform', (q) => ({ ...q, body: undefined }))", "a body must be"),
        ("addHandler('transform', (q, context) => context.connection.id)", "not known here"),
        ("addHandler('request', (q) => q)", "takes \"transform\" and a function"),
    ] {
        let error = given(source, r#"{"a":1}"#).await.expect_err(source).to_string();
        assert!(error.contains(expected), "{source}: {error}");
    }
    for source in ["function transform(payload) { return {} }", "function handler(w) { return w }"]
    {
        let error = given(source, "a=1").await.expect_err(source).to_string();
        assert!(error.contains("the body is not JSON"), "{source}: {error}");
    }
}

#[tokio::test]
async fn a_form_with_json_in_payload_is_given_as_that_json() {
    let form = headers(&[("content-type", "application/x-www-form-urlencoded")]);
    let sent = "payload=%7B%22a%22%3A%22x+y%22%2C%22b%22%3A1%7D";
    let runtime = runtime();
    let left = async |source: &str, sent: &'static str| {
        let mut invocation = invocation(source);
        invocation.request.headers = form.clone();
        invocation.request.body = Bytes::from_static(sent.as_bytes());
        let left = runtime.run(invocation).await.result.expect(source);
        String::from_utf8(left.request.body.to_vec()).expect("text")
    };
    for source in [
        "function transform(payload) { if (payload.a !== 'x y') throw 'a'; return payload }",
        "function handler(webhook) { if (webhook.payload.b !== 1) throw 'b'; return webhook }",
        "addHandler('transform', (request) => { if (request.body.b !== 1) throw 'b'; return request })",
    ] {
        assert_eq!(left(source, sent).await, sent, "{source}");
    }
    for source in [
        "function transform(payload) { delete payload.b; return payload }",
        "function handler(webhook) { delete webhook.payload.b; return webhook }",
        "addHandler('transform', (request) => { delete request.body.b; return request })",
    ] {
        assert_eq!(left(source, sent).await, "payload=%7B%22a%22%3A%22x%20y%22%7D", "{source}");
    }
    let whole = "addHandler('transform', (request) => { request.body += '!'; return request })";
    assert_eq!(left(whole, "payload=1&a=%7B").await, "payload=1&a=%7B!");
    assert_eq!(left(whole, "payload=text").await, "payload=text!");
}
