//! A source whose engine has less of the library does what it does with all of it.

use std::{fs, path::Path};

use webhook_core::function::FunctionRuntime;

use super::fixture::{headers, invocation, runtime};
use crate::js::{JsRuntime, library::Library, vm};

/// Scripts that are known to need no more than a part of it.
const SOURCES: [&str; 37] = [
    "",
    "if (r.method !== 'GET') { r.stopForwarding(); return; }\nr.body = 'not reached'",
    "r.body = r.body + r.path + r.rawQuery; r.setHeader('X-A', 'b'); r.setHeader('x-n', 1)",
    "r.setBody({ a: 1, b: { c: null, d: undefined } })",
    "r.body = 5; r.setBody(r.body + 1)",
    "r.body = '😀'[0] + r.body",
    "r.body = undefined",
    "r.body = () => 1",
    "r.foo = 1",
    "const order = JSON.parse(r.body); delete order.n; r.body = { ...order, all: `${order.name}!` }",
    "const order = JSON.parse(r.body); r.setHeader('x-first', order.n[0]); r.setHeader('x-all', order.n)",
    "const order = JSON.parse(r.body); let sum = 0; for (const n of order.n) sum += n; r.body = '' + sum + order.n",
    "const order = JSON.parse('{'); r.body = order",
    "r.body = JSON.stringify({ a: JSON.parse(r.body, (key, value) => (key === 'n' ? undefined : value)) }, null, 2)",
    "function transform(r) { const data = JSON.parse(r.body); data.a = `${data.n}`; r.body = data; return r; }",
    "JSON.parse = () => 1; JSON = JSON.parse(); r.headers = { a: JSON }; r.body = { a: JSON }",
    "const a = [1]; a.length = 4e9; r.body = '' + a",
    "const a = [1]; a.length = 4e9; r.setHeader('x-a', a)",
    "const a = { ...'ab' }; a.length = 4e9; if (a == 'b') r.body = 'c'",
    "delete r.body",
    "delete r.foo",
    "r.toString = 1; r.body = r.toString + r.hasOwnProperty('body')",
    "r.method = 'put'; r.path = '/x y'; r.rawQuery = '?a'; r.body = r.method + r.path + r.rawQuery",
    "r.body = r.foo",
    "r.setHeader('a b', 'c')",
    "let a = 3; a(1, r.body)",
    "\n\nnone.x",
    "\nthrow 'text'",
    "async function lost() { throw 'lost' } lost(); await 1; r.body = 'x'",
    "await (async () => {\nnone.x })()",
    "function transform(r) { r.body = 'a'; return r; }",
    "const f = () => 1",
    "const order = JSON.parse(r.body); order.n.push(order.name); r.body = JSON.stringify(order)",
    "const { name, n } = JSON.parse(r.body); r.body = `${name} has ${n.length} and ${n}`; console.log(n, name)",
    "const names = []; for (const key of Object.keys(JSON.parse(r.body))) names.push(key); r.body = names.join()",
    "r.body = ['b', 'a'].sort().concat([4], 5).map((x) => x + '!').join('-') + r.body.includes('Ada')",
    "r.body = 'a-b'.split('-').length + 'aXb'.replace('X', 'y') + 'abab'.replaceAll('b', () => 'c') + 'ab'.indexOf('b')",
];

/// The JavaScript of the pages for who writes functions.
fn of_pages() -> Vec<String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut pages = vec![docs.join("functions-javascript.md"), docs.join("functions.md")];
    let cookbook = fs::read_dir(docs.join("cookbook")).expect("the cookbook");
    pages.extend(cookbook.map(|entry| entry.expect("a page").path()));
    let texts = pages.iter().map(|page| fs::read_to_string(page).expect("a page"));
    let scripts = texts.flat_map(|text| {
        let blocks = text.split("```js\n").skip(1);
        let scripts = blocks.filter_map(|block| block.split_once("\n```"));
        scripts.map(|(script, _)| script.to_owned()).collect::<Vec<_>>()
    });
    scripts.collect()
}

fn library(source: &str) -> Library {
    Library::of(source, vm::library_names())
}

async fn outcome(runtime: &JsRuntime, source: &str, is_form: bool) -> String {
    let mut given = invocation(source);
    if is_form {
        given.request.headers =
            headers(&[("content-type", "application/x-www-form-urlencoded"), ("x-a", "1")]);
        given.request.body = "a=1&b=x+y&bodyBytes=2".into();
        given.request.method = http::Method::GET;
    }
    let completion = runtime.run(given).await;
    format!("{:?} {:?}", completion.result, completion.logs)
}

#[tokio::test]
async fn less_of_the_library_makes_no_difference() {
    let runtime = runtime();
    let pages = of_pages();
    assert!(pages.len() > 30, "{}", pages.len());
    let whole: Vec<_> = SOURCES.iter().filter(|s| library(s) == Library::Whole).collect();
    assert!(whole.is_empty(), "{whole:?}");
    let sources = SOURCES.map(str::to_owned).into_iter().chain(pages);
    for source in sources.filter(|source| library(source) != Library::Whole) {
        // What may be named in any way gets the whole library.
        let whole = format!("{source}\n// globalThis");
        assert_eq!(library(&whole), Library::Whole, "{source}");
        for is_form in [false, true] {
            let own = outcome(&runtime, &source, is_form).await;
            assert_eq!(own, outcome(&runtime, &whole, is_form).await, "{source}");
        }
    }
}

#[tokio::test]
async fn engines_with_less_leave_nothing_either() {
    let runtime = JsRuntime::builder().running_calls(1, 1).build().expect("threads");
    for spoil in ["kept = 1; var declared = 2; r.body = 'x'", "JSON = 1; Object = 2; kept = 3"] {
        assert_ne!(library(spoil), Library::Whole, "{spoil}");
        for _ in 0..3 {
            runtime.run(invocation(spoil)).await.result.expect("may spoil its own");
            for look in
                ["r.body = typeof kept + typeof declared", "r.body = typeof kept + JSON.parse('1')"]
            {
                let left = runtime.run(invocation(look)).await.result.expect("unspoilt");
                assert!(left.request.body.starts_with(b"undefined"), "{look}");
            }
        }
    }
}
