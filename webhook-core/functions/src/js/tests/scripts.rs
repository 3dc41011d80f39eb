use std::time::Duration;

use bytes::Bytes;
use http::Method;
use webhook_core::{
    function::{FunctionError, FunctionRuntime, ScriptResponse},
    model::Driver,
};

use super::fixture::{body, complete, fails, headers, invocation, limited, run, runtime};

#[tokio::test]
async fn statements_change_the_request() {
    let left = run(r#"
        const order = JSON.parse(r.body);
        if (r.method !== "POST") { r.stopForwarding(); return; }
        r.setBody(JSON.stringify({ who: order.name, token: cfg.get("TOKEN") }));
        r.setMethod("put");
        r.setPath("new path");
        r.setRawQuery("?q=1");
        r.setHeader("X-New", "1");
        r.deleteHeader("X-Token");
    "#)
    .await;
    assert_eq!(left.request.body, r#"{"who":"Ada","token":"secret"}"#);
    assert_eq!(left.request.method, Method::PUT);
    assert_eq!(left.request.extra_path, "/new%20path");
    assert_eq!(left.request.raw_query, "q=1");
    let expected = headers(&[("content-type", "application/json"), ("x-new", "1")]);
    assert_eq!(left.request.headers, expected);
    assert!(!left.stop_forwarding && !left.response_modified);
    assert_eq!(left.response, None);
}

#[tokio::test]
async fn what_transform_returns_is_taken_over() {
    let left = run(r#"
        function transform(r) {
            return { ...r, body: { name: JSON.parse(r.body).name }, method: "PATCH",
                headers: { ...r.headers, "X-Kind": "order", "x-token": undefined } };
        }
    "#)
    .await;
    assert_eq!(left.request.body, r#"{"name":"Ada"}"#);
    assert_eq!(left.request.method, Method::PATCH);
    let expected = headers(&[("content-type", "application/json"), ("x-kind", "order")]);
    assert_eq!(left.request.headers, expected);
    assert_eq!(left.request.extra_path, "/in");
    for source in [
        "function transform(r) { r.body = 'x'; return r }",
        "const transform = (r) => { r.RequestBody = 'x' }",
        "async function transform(r) { return { RequestBody: await 'x' } }",
        "var transform = r => ({ bodyBytes: new Uint8Array([120]) })",
        "async function set() { r.body = 'x' }\nawait set();",
        "return { body: 'x' }",
    ] {
        assert_eq!(body(source).await, "x", "{source}");
    }
    let error = fails("function transform(r) { return 'x' }").await;
    assert!(error.to_string().contains("must return r or an object"), "{error}");
}

#[tokio::test]
async fn a_script_that_does_nothing_changes_nothing() {
    for source in
        ["", "// only a comment", "function transform(r) { return r }", "return {...r}", "r.body"]
    {
        let mut given = invocation(source);
        given.request.body = Bytes::from_static(b"\xff\x00\xfe");
        let left = runtime().run(given.clone()).await.result.expect(source);
        assert_eq!(left.request, given.request, "{source}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_text_is_kept_and_can_be_read_as_bytes() {
    let run = async |source: &str| {
        let mut given = invocation(source);
        given.request.body = Bytes::from_static(b"a\xff\x00");
        runtime().run(given).await.result.expect(source).request.body
    };
    assert_eq!(
        run("r.body = r.body; r.setHeader('x-length', r.body.length)").await,
        &b"a\xff\x00"[..]
    );
    assert_eq!(run("r.body = [...r.bodyBytes].join()").await, "97,255,0");
    assert_eq!(run("r.setBody(r.bodyBytes.slice(1))").await, &b"\xff\x00"[..]);
    assert_eq!(run("r.setBody(r.bodyBytes.buffer)").await, &b"a\xff\x00"[..]);
    assert_eq!(run("r.body = r.body + '!'").await, "a\u{fffd}\0!");
    assert_eq!(run("r.body = '\\ud800'").await, "\u{fffd}");
}

#[tokio::test]
async fn headers_are_found_in_any_case() {
    let printed = body(
        r#"
        r.headers["X-ADDED"] = ["a", "b"];
        delete r.headers["x-tOKEN"];
        r.body = JSON.stringify([r.headers["CONTENT-type"], r.RequestHeader["x-added"], "X-Token" in r.headers,
            Object.keys(r.headers), r.headers["not a name"], r.headers.missing]);
        "#,
    )
    .await;
    let expected = r#"["application/json","a, b",false,["Content-Type","X-Added"],null,null]"#;
    assert_eq!(printed, expected);
}

#[tokio::test]
async fn the_other_fields_are_read() {
    let printed = body(
        r#"r.body = [r.query.a, r.query.b, r.RequestQuery.c, r.metadata.bucket_name, r.Metadata.x,
            r.method, r.RequestPath, r.rawQuery, cfg.GetValue("NONE")].join("|")"#,
    )
    .await;
    assert_eq!(printed, "1|x y||orders||POST|/in|a=1&a=2&b=x%20y|");
    let mut form = invocation("r.body = JSON.stringify(r.formData)");
    form.request.headers = headers(&[("content-type", "application/x-www-form-urlencoded")]);
    form.request.body = Bytes::from_static(b"a=1&b=x+y&a=2");
    let left = runtime().run(form).await.result.expect("a form");
    assert_eq!(left.request.body, r#"{"a":["1","2"],"b":["x y"]}"#);
}

#[tokio::test]
async fn parts_of_forms_are_exact_bytes() {
    let mut given = invocation(
        "const shown = (v) => typeof v === 'string' ? v : [...v];\n\
        const parts = r.formParts.map((p) => [p.name, p.fileName, p.type, [...p.bytes]]);\n\
        const fields = Object.entries(r.formData).map(([name, values]) => [name, values.map(shown)]);\n\
        r.body = { parts, fields, 64: base64.encode(r.formData.f[0]) };\n\
        if (r.formParts.length + Object.keys(r.formData).length > 0) throw new Error('of the old body')",
    );
    given.request.headers = headers(&[("content-type", "multipart/form-data; boundary=x")]);
    given.request.body = Bytes::from_static(
        b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\xc3\xa4\r\n--x\r\n\
        Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\
        \x89P\0\r\n--x--\r\n",
    );
    let left = runtime().run(given.clone()).await.result.expect("a form").request.body;
    let expected =
        r#"{"64":"iVAA","parts":[["a",null,null,[195,164]],["f","a.png","image/png",[137,80,0]]],"#;
    let expected = format!("{expected}{}", r#""fields":[["a",["ä"]],["f",[[137,80,0]]]]}"#);
    assert_eq!(String::from_utf8_lossy(&left), expected);

    given.source = "r.body = r.formData.a[0]".into();
    given.request.headers = headers(&[("content-type", "application/x-www-form-urlencoded")]);
    given.request.body = Bytes::from_static(b"a=%89%50");
    let left = runtime().run(given).await.result.expect("a form").request.body;
    assert_eq!(left, &b"\x89\x50"[..]);
}

#[tokio::test]
async fn the_answer_is_read_and_set() {
    let left = run(
        "r.setResponseStatus(202); r.setResponseHeader('X-A', '1'); r.SetResponseBody('hello'); r.StopForwarding()",
    )
    .await;
    let response = left.response.expect("was set");
    assert_eq!((response.status, &response.body[..]), (202, &b"hello"[..]));
    assert_eq!(response.headers, headers(&[("x-a", "1")]));
    assert!(left.response_modified && left.stop_forwarding);

    let mut answered = invocation(
        "r.setBody(r.responseStatus + r.ResponseBody + r.responseHeaders['x-b']); r.ResponseStatusCode = 201",
    );
    let response_headers = headers(&[("x-b", "2")]);
    answered.response = Some(ScriptResponse {
        status: 200,
        headers: response_headers.clone(),
        body: Bytes::from_static(b"ok"),
    });
    let left = runtime().run(answered).await.result.expect("runs");
    assert_eq!(left.request.body, "200ok2");
    let response = left.response.expect("was there");
    assert_eq!((response.status, &response.body[..]), (201, &b"ok"[..]));
    assert_eq!(response.headers, response_headers);
}

#[tokio::test]
async fn output_is_captured() {
    let script = "console.log('a', 1, {b: [2]}, null);\nconsole.error(new Error('no'));\nnone.x";
    let completion = complete(&runtime(), script).await;
    assert_eq!(completion.logs, [r#"a 1 {"b":[2]} null"#, "Error: no"]);
    let error = completion.result.expect_err("fails");
    assert_eq!(error.to_string(), "function:3: ReferenceError: none is not defined");
}

#[tokio::test]
async fn what_an_unawaited_promise_throws_is_printed() {
    let script = "async function lost() { throw new Error('lost') } lost();\n\
        await lost().catch(() => {}); try { await lost() } catch {} r.body = 'x'";
    let completion = complete(&runtime(), script).await;
    assert_eq!(completion.result.expect("goes on").request.body, "x");
    assert_eq!(completion.logs, ["unhandled rejection: Error: lost"]);
}

#[tokio::test]
async fn errors_carry_their_line() {
    for (source, expected) in [
        ("\nthrow new TypeError('bad')", "function:2: TypeError: bad"),
        (
            "function f() {\n  null.x\n}\nf()",
            "function:2: TypeError: cannot read property 'x' of null",
        ),
        (
            "function transform(r) {\n\n[1].map(() => { throw Error('in') }) }",
            "function:3: Error: in",
        ),
        ("await (async () => {\nthrow Error('later') })()", "function:2: Error: later"),
        ("\nif (r) throw 'text'", "function:2: threw text"),
        ("throw null", "function:1: threw null"),
        ("\nif (r) { throw null; }", "function:2: threw null"),
        ("await Promise.reject(null)", "function:1: threw null"),
        ("throw undefined", "function:1: threw undefined"),
        ("throw { message: 'no amount' }", "function:1: threw no amount"),
        ("throw { code: 7 }", "function:1: threw {\"code\":7}"),
        ("throw { toString() { return 'why' } }", "function:1: threw why"),
        ("throw new Error('a\\ud800b')", "function:1: Error: a\u{fffd}b"),
        ("throw 'a\\udc00'", "function:1: threw a\u{fffd}"),
        ("\nawait Promise.reject('text')", "function:2: threw text"),
        ("const a = 1;\n\na = 2;\nr.body = ''", "function:3: TypeError: 'a' is read-only"),
        (
            "const a = 1;\nconst f = () => {\n  let b = 2;\n  a += b;\n};\nf()",
            "function:4: TypeError: 'a' is read-only",
        ),
        ("const o = {};\n  o.send(1)", "function:2: TypeError: o.send is not a function"),
        ("const name = 'x';\n\nname();", "function:3: TypeError: name is not a function"),
        ("let f = 3; f(1, r.body);", "function:1: TypeError: f is not a function"),
        (
            "class A { constructor() { this.run() } }\nnew A()",
            "function:1: TypeError: this.run is not a function",
        ),
        ("\n[1].map(3)", "function:2: TypeError: not a function"),
        ("r.setMethod('a b')", "function:1: TypeError: \"A B\" is not a request method"),
        ("r.setHeader('a b', 'c')", "function:1: TypeError: \"a b\" is not a header name"),
        ("\nr.query = {}", "function:2: TypeError: r.query cannot be set"),
        ("r.setResponseStatus(99)", "function:1: TypeError: 99 is not a status from 200 to 599"),
        (
            "await new Promise(() => {})",
            "function: the script waits for a promise that nothing settles",
        ),
    ] {
        let error = fails(source).await;
        assert!(matches!(&error, FunctionError::Script(_)), "{source}: {error:?}");
        assert_eq!(error.to_string(), expected.replace("A B", "a b"), "{source}");
    }
}

#[tokio::test]
async fn sources_that_do_not_compile_are_refused_with_line_and_reason() {
    let runtime = runtime();
    for (source, line) in [
        ("let x = 1;\nlet y = ;", 2),
        ("function transform(r) {\n  return r\n", 2),
        ("})(); r.body = 'out'; (function () {", 1),
        ("}}); r.body = 'out'; ({m() {{", 1),
        ("a\n\nb c", 3),
        ("\n\0", 2),
        ("`", 1),
        ("import x from 'y'", 1),
    ] {
        let error = runtime.check(Driver::Js, source).await.expect_err(source);
        let FunctionError::Compile { line: found, reason } = error else { panic!("{error:?}") };
        assert_eq!(found, line, "{source}: {reason}");
        assert!(!reason.is_empty());
    }
    let missing = runtime.check(Driver::Lua, "return").await;
    assert_eq!(missing, Err(FunctionError::NoDriver(Driver::Lua)));
    for source in ["return 1", "'use strict'; await 1", "// end", "throw 1", "while (true) {}"] {
        assert_eq!(runtime.check(Driver::Js, source).await, Ok(()), "{source}");
    }
    assert!(matches!(fails("let let").await, FunctionError::Compile { line: 1, .. }));
}

#[tokio::test]
async fn the_library_behaves_as_it_does_elsewhere() {
    let cases = include_str!("library.js");
    assert_eq!(body(cases).await, "", "expressions that are not what they should be");
}

#[tokio::test]
async fn what_a_sandbox_must_not_have_is_not_there() {
    let names = "require setInterval eval BigInt Proxy Atomics SharedArrayBuffer performance \
        WeakRef FinalizationRegistry finish kept declared Deno std os print load";
    let script =
        format!("r.body = {names:?}.split(/ +/).filter((name) => name in globalThis).join()");
    assert_eq!(body(&script).await, "");
    for code in [
        "Function('return 1')",
        "new Function('1')",
        "(() => {}).constructor('1')",
        "Object.getPrototypeOf(async function* () {}).constructor('1')",
    ] {
        let error = fails(code).await.to_string();
        assert!(error.contains("code from text is not available"), "{code}: {error}");
    }
}

/// What is searched piece by piece, and what is put in by the prelude, is what
/// the engine itself finds in and makes of shorter texts.
#[tokio::test]
async fn long_texts_are_searched_and_replaced_like_short_ones() {
    let source = include_str!("long_texts.js");
    let runtime = limited(|limits| {
        // Some seconds of work, on a machine that may be busy.
        limits.compute_time = Duration::from_secs(200);
        limits.total_time = Duration::from_secs(300);
        limits.fuel = u64::MAX;
        limits.memory_bytes = 256 << 20;
        limits.string_bytes = 64 << 20;
    });
    let left = complete(&runtime, source).await.result.expect("runs").request.body;
    assert_eq!(String::from_utf8_lossy(&left), "", "cases that differ");
}
