//! A redaction that changes nothing fails, and says what is right.

use bytes::Bytes;
use webhook_core::function::{FunctionError, FunctionRuntime, ScriptOutcome};

use super::fixture::{body, invocation, runtime};

const PAYLOAD: &str = r#"{"email":"ada@example.com","type":"paid"}"#;

async fn given(source: &str, body: &'static str) -> Result<ScriptOutcome, FunctionError> {
    let mut given = invocation(source);
    given.request.body = Bytes::from_static(body.as_bytes());
    runtime().run(given).await.result
}

#[tokio::test]
async fn a_body_has_no_fields_to_be_redacted() {
    for source in [
        "r.body.email = '***'",
        "delete r.body.email",
        "'use strict'; delete r.body.email",
        "const body = r.body; body.email = undefined",
        "const body = r.body; delete body.email; r.body = body",
        "const { body } = r; delete body['email']",
        "const redact = (o) => { delete o.email; return o }; r.body = redact(r.body)",
        "const name = 'email'; delete r.body[name]",
        "if (r.body.email) r.body = '{}'",
        "if (r.body?.email?.length) r.body = '{}'",
        "const { email } = r.body; if (email) r.body = '{}'",
        "delete r.RequestBody.email",
        "r.body.list.length = 0",
        "r.body.customer.email = 1",
        "function transform(request) { delete request.body.email; return request }",
        "function transform(request) { request.body.email = '***'; return request }",
        "const transform = ({ body }) => { delete body?.email; return { body } }",
        "/* map */ new Map(); delete r.body.email",
    ] {
        let error = given(source, PAYLOAD).await.expect_err(source).to_string();
        assert!(error.contains("JSON.parse(r.body)"), "{source}: {error}");
        assert!(error.starts_with("function:1: TypeError: "), "{source}: {error}");
    }
}

#[tokio::test]
async fn arguments_of_handlers_have_the_known_fields_alone() {
    for source in [
        "function handler(event) { delete event.email; return event }",
        "function handler(event) { event.email = '***'; return event }",
        "function handler(event) { if (event.email) event.cancel = true; return event }",
        "function handler(event) { return { ...event, email: '***' } }",
        "addHandler('transform', (req) => { delete req.payload; return req })",
        "addHandler('transform', (req) => { req.email = '***'; return req })",
        "addHandler('transform', (req) => { if (req.payload) req.body = {}; return req })",
        "addHandler('transform', (req) => ({ ...req, email: '***' }))",
    ] {
        let error = given(source, PAYLOAD).await.expect_err(source).to_string();
        assert!(error.contains(" has no field \""), "{source}: {error}");
    }
    // A payload that is a text or a list has no such fields either.
    for (source, body) in [
        (
            "function transform(payload) { delete payload.email; return payload }",
            r#""{\"email\":1}""#,
        ),
        ("function transform(payload) { payload.email = 1; return payload }", r#""{\"email\":1}""#),
        ("function handler(w) { delete w.payload.email; return w }", r#"[{"email":1}]"#),
        ("function transform(payload) { payload.email = 1; return payload }", r#"[{"email":1}]"#),
        ("addHandler('transform', (q) => { delete q.body.email; return q })", "email=ada"),
    ] {
        let error = given(source, body).await.expect_err(source).to_string();
        assert!(
            error.contains("the payload is a ") || error.contains("the body is a text"),
            "{source}: {error}"
        );
    }
}

#[tokio::test]
async fn texts_keep_what_they_have() {
    for (source, expected) in [
        (
            "r.body = [r.body.length, r.body[0], r.body[99] === undefined, r.body.at(-1)].join()",
            "41,{,true,}",
        ),
        ("r.body = `${r.body.slice(2, 7)}`", "email"),
        ("r.body = JSON.parse(r.body).email.toUpperCase()", "ADA@EXAMPLE.COM"),
        ("const a = JSON.parse(r.body); delete a.email; r.body = a", r#"{"type":"paid"}"#),
        (
            "const a = JSON.parse(r.body); delete a?.email; delete a['x']; r.body = a",
            r#"{"type":"paid"}"#,
        ),
        ("r.body = String(new String('a') instanceof Object)", "true"),
        ("r.body = String('a'.hasOwnProperty('length'))", "true"),
        ("r.body = String('a'.email) + String((5).email)", "undefinedundefined"),
        ("String.prototype.shout = function () { return this + '!' }; r.body = 'a'.shout()", "a!"),
        (
            "const walk = (o) => { delete o.email; if (typeof o === 'object') for (const k in o) walk(o[k]) }; const a = { b: 'x', email: 1 }; walk(a); r.body = a",
            r#"{"b":"x"}"#,
        ),
        ("await r.body; r.body = JSON.stringify({ a: r.body.split(',').length })", r#"{"a":2}"#),
        ("r.body = `${r.body.includes('email')}${typeof r.body}`", "truestring"),
    ] {
        let left = given(source, PAYLOAD).await.expect(source);
        assert_eq!(left.request.body, expected, "{source}");
    }
    let error = given("const a = JSON.parse(r.body); a.email.value = 1", PAYLOAD).await;
    let error = error.expect_err("a text in a text").to_string();
    assert!(error.contains("the field \"value\" of a text cannot be set"), "{error}");
    assert_eq!(body("r.body = 'delete r.body.email'").await, "delete r.body.email");
}

#[tokio::test]
async fn what_can_be_seen_is_refused_at_save() {
    let runtime = runtime();
    for source in [
        "r.body.email = '***'",
        "delete r.body.email",
        "function transform(request) { delete request.body.email; return request }",
        "function handler(event) { delete event.email; return event }",
        "addHandler(\"transform\", req => { delete req.payload; return req })",
    ] {
        let error = runtime.check(webhook_core::model::Driver::Js, source).await.expect_err(source);
        assert!(matches!(error, FunctionError::Compile { line: 1, .. }), "{source}: {error:?}");
    }
}
