//! What is run: an if, and the cookbook's Slack message for a push of 4 KB.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use webhook_core::{
    AccountId, FunctionId,
    function::{Invocation, ScriptOutcome},
    model::{Checks, Driver, Request},
};

/// The same in both languages.
pub(crate) struct Script {
    pub(crate) name: &'static str,
    pub(crate) lua: Invocation,
    pub(crate) js: Invocation,
}

pub(crate) fn all() -> [Script; 2] {
    let script = |name, page, title| Script {
        name,
        lua: invocation(Driver::Lua, &block(page, title, "lua")),
        js: invocation(Driver::Js, &block(page, title, "js")),
    };
    [
        script("trivial", "filtering", "Only POST passes"),
        script("slack", "messages", "GitHub pushes to Slack"),
    ]
}

/// Whether two scripts left the same; the order of keys does not count.
pub(crate) fn same(a: &ScriptOutcome, b: &ScriptOutcome) -> bool {
    let body = |left: &ScriptOutcome| -> Value {
        serde_json::from_slice(&left.request.body).expect("JSON")
    };
    a.stop_forwarding == b.stop_forwarding && body(a) == body(b)
}

/// A script of the cookbook.
fn block(page: &str, title: &str, language: &str) -> Arc<str> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cookbook");
    let page = fs::read_to_string(folder.join(format!("{page}.md"))).expect("a page");
    let section = page.split_once(&format!("\n## {title}\n")).expect("a scenario").1;
    let block = section.split_once(&format!("```{language}\n")).expect("a block").1;
    Arc::from(block.split_once("```").expect("its end").0)
}

fn invocation(driver: Driver, source: &Arc<str>) -> Invocation {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("host", "hooks.example.com"),
        ("user-agent", "GitHub-Hookshot/044aadd"),
        ("content-type", "application/json"),
        ("accept", "*/*"),
        ("x-github-event", "push"),
        ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let commits: Vec<_> = (0..11)
        .map(|number| {
            json!({
                "id": format!("{number:040x}"),
                "message": format!("Change number {number}\n\nwith <a reason> & more"),
                "url": format!("https://github.com/octo/repo/commit/{number:040x}"),
                "timestamp": "2024-03-01T11:59:00+01:00",
                "author": {"name": "Mona", "email": "mona@example.com"},
                "added": [], "removed": [], "modified": ["src/list.rs"],
            })
        })
        .collect();
    let body = json!({
        "ref": "refs/heads/main",
        "deleted": false,
        "compare": "https://github.com/octo/repo/compare/6113728f27ae...0d1a26e67d8f",
        "commits": commits,
        "repository": {"id": 186_853_002, "name": "repo", "full_name": "octo/repo"},
        "pusher": {"name": "octocat", "email": "mona@example.com"},
    });
    let body = body.to_string();
    assert!((3_800..4_400).contains(&body.len()), "{} bytes", body.len());
    Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::generate(),
        revision: 1,
        driver,
        source: Arc::clone(source),
        config: Arc::default(),
        metadata: BTreeMap::new(),
        checks: Checks::default(),
        request: Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers,
            body: Bytes::from(body),
        },
        response: None,
        trial: None,
    }
}
