//! Numbers that a function does not change leave with every digit.

use bytes::Bytes;
use proptest::{prelude::*, test_runner::TestRunner};
use webhook_core::function::FunctionRuntime;

use super::fixture::{headers, invocation, runtime};
use crate::js::JsRuntime;

/// A JSON document as a text, with numbers of every spelling.
fn document() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        "-?(0|[1-9][0-9]{0,24})",
        "-?(0|[1-9][0-9]{0,9})\\.[0-9]{1,20}",
        "-?[1-9](\\.[0-9]{1,3})?[eE][+-]?[1-9][0-9]?",
        "8209829119461545[0-9]{2}",
    ];
    let leaf = prop_oneof![
        6 => number,
        1 => Just("null".to_owned()),
        1 => Just("true".to_owned()),
        1 => "\"[ -!#-\\[\\]-~]{0,8}\"",
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::btree_map("[a-z]{1,5}", inner, 0..6).prop_map(|fields| {
                let fields: Vec<_> =
                    fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

/// The document in one field after the field that a function changes.
fn payload(document: &str, changed: &str) -> String {
    format!("{{\"a\":{changed},\"b\":{document}}}")
}

async fn left(runtime: &JsRuntime, source: &str, body: String) -> Result<String, String> {
    let mut given = invocation(source);
    given.request.body = Bytes::from(body);
    let left = runtime.run(given).await.result.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&left.request.body).into_owned())
}

#[test]
fn a_function_that_changes_one_field_leaves_every_other_number() {
    let (runtime, tokio) = (runtime(), tokio::runtime::Runtime::new().expect("a runtime"));
    let sources = [
        "const o = JSON.parse(r.body); o.a = 'x'; r.body = o",
        "const o = JSON.parse(r.body); o.a = 'x'; r.body = JSON.stringify(o)",
        "function transform(payload) { payload.a = 'x'; return payload }",
        "function transform(payload) { return { ...payload, a: 'x' } }",
        "addHandler('transform', (q) => { q.body.a = 'x'; return q })",
        "function handler(w) { w.payload = Object.assign({}, w.payload, { a: 'x' }); return w }",
    ];
    let given = (document(), prop::sample::select(sources.to_vec()));
    let mut runner = TestRunner::new(ProptestConfig::with_cases(256));
    let tried = runner.run(&given, |(document, source)| {
        let came = tokio.block_on(left(&runtime, source, payload(&document, "1.50")));
        prop_assert_eq!(came, Ok(payload(&document, "\"x\"")), "{}", source);
        Ok(())
    });
    tried.expect("every number is as it was");
}

#[tokio::test]
async fn numbers_keep_their_digits_where_they_go() {
    let runtime = runtime();
    let body = r#"{"id":820982911946154508,"next":820982911946154509,"total":19.90,"n":1e2,"list":[1.0,-0]}"#;
    for (source, expected) in [
        (
            "const { id, ...rest } = JSON.parse(r.body); r.body = rest",
            r#"{"next":820982911946154509,"total":19.90,"n":1e2,"list":[1.0,-0]}"#,
        ),
        (
            "const o = JSON.parse(r.body); r.body = { amount: o.total, all: o.list }",
            r#"{"amount":19.90,"all":[1.0,-0]}"#,
        ),
        (
            "const o = JSON.parse(r.body); r.body = JSON.stringify(o, ['next', 'total'])",
            r#"{"next":820982911946154509,"total":19.90}"#,
        ),
        (
            "const o = JSON.parse(r.body, (k, v) => k === 'n' ? 2 : v); r.body = { n: o.n, list: o.list }",
            r#"{"n":2,"list":[1.0,-0]}"#,
        ),
        (
            "const o = JSON.parse(r.body); o.total += 1; o.n = 100; delete o.next; r.body = o",
            r#"{"id":820982911946154508,"total":20.9,"n":1e2,"list":[1.0,-0]}"#,
        ),
        (
            "const o = JSON.parse('{\"id\":820982911946154508}'); r.setHeader('x-id', o.id); r.body = { id: o.id }",
            r#"{"id":820982911946154508}"#,
        ),
        ("r.body = JSON.stringify({ a: 1.50, b: -0, c: 1e21 })", r#"{"a":1.5,"b":0,"c":1e+21}"#),
    ] {
        assert_eq!(
            left(&runtime, source, body.to_owned()).await.as_deref(),
            Ok(expected),
            "{source}"
        );
    }
    // Either of the two may be meant.
    for source in [
        "const o = JSON.parse(r.body); r.body = { order: o.id }",
        "const o = JSON.parse('[820982911946154508,820982911946154509]'); o.shift(); r.body = o",
    ] {
        let error = left(&runtime, source, body.to_owned()).await.expect_err(source);
        assert!(error.contains("stands for several numbers"), "{source}: {error}");
    }
    let mut given = invocation(
        "const o = JSON.parse(r.body); r.setHeader('x-id', o.id); r.deleteHeader('x-token')",
    );
    given.request.body = Bytes::from_static(br#"{"id":820982911946154508}"#);
    let left = runtime.run(given).await.result.expect("runs");
    let expected = headers(&[("content-type", "application/json"), ("x-id", "820982911946154508")]);
    assert_eq!(left.request.headers, expected);
}
