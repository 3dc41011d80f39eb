//! Numbers that a function does not change leave with every digit.

use proptest::{prelude::*, test_runner::TestRunner};
use webhook_core::function::FunctionRuntime;

use crate::harness::{invocation, request, runtime};

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

const DECODED: &str =
    "local json = require('json')\nlocal o = assert(json.decode(r.RequestBody))\n";

async fn left(
    runtime: &webhook_functions::lua::LuaRuntime,
    source: &str,
    body: &str,
) -> Result<String, String> {
    let mut given =
        invocation(&format!("{DECODED}{source}\nr:SetRequestBody(assert(json.encode(o)))"));
    given.request = request(body);
    let left = runtime.run(given).await.result.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&left.request.body).into_owned())
}

#[test]
fn a_function_that_changes_one_field_leaves_every_other_number() {
    let (runtime, tokio) = (runtime(), tokio::runtime::Runtime::new().expect("a runtime"));
    let mut runner = TestRunner::new(ProptestConfig::with_cases(256));
    let tried = runner.run(&document(), |document| {
        let came = tokio.block_on(left(&runtime, "o.a = 'x'", &payload(&document, "1.50")));
        prop_assert_eq!(came, Ok(payload(&document, "\"x\"")));
        Ok(())
    });
    tried.expect("every number is as it was");
}

#[tokio::test]
async fn numbers_keep_their_digits_where_they_go() {
    let runtime = runtime();
    let body = r#"{"id":12345678901234567890,"n":1e2,"other":12345678901234567891,"total":19.90}"#;
    for (source, expected) in [
        ("o.other = nil", r#"{"id":12345678901234567890,"n":1e2,"total":19.90}"#),
        ("o = { amount = o.total }", r#"{"amount":19.90}"#),
        ("o = { n = o.n + 1, total = o.total * 2 }", r#"{"n":101.0,"total":39.8}"#),
        ("o = { json.decode('[1.50]')[1] }", "[1.50]"),
    ] {
        assert_eq!(left(&runtime, source, body).await.as_deref(), Ok(expected), "{source}");
    }
    // Either of the two may be meant.
    for source in [
        "o = { order = o.id }",
        "o = json.decode('[12345678901234567890,12345678901234567891]') table.remove(o, 1)",
    ] {
        let error = left(&runtime, source, body).await.expect_err(source);
        assert!(error.contains("stands for several numbers"), "{source}: {error}");
    }
}
