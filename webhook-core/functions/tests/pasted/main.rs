//! Functions as their authors published them for other services, each with a payload and what is to come of it.
//!
//! The files of `collection` have a title, what is given and wanted, and the source for each.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use webhook_core::{
    AccountId, FunctionId,
    function::{FunctionRuntime, Invocation, ScriptOutcome},
    model::{Checks, Driver, Request},
};
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};

/// How many of the collection run as they are, at least.
const RUN: usize = 50;

struct Pasted {
    name: String,
    invocation: Invocation,
    wanted: Vec<String>,
    fails: Option<String>,
}

fn pasted(file: &str, text: &str) -> Pasted {
    let (title, rest) = text.split_once('\n').expect("a title");
    let (facts, source) = rest.split_once("---\n").expect("a source");
    let driver = if file == "relay-lua" { Driver::Lua } else { Driver::Js };
    let (mut config, mut headers, mut checks) =
        (BTreeMap::new(), HeaderMap::new(), Checks::default());
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    let (mut wanted, mut fails) = (Vec::new(), None);
    let mut request = Request {
        method: Method::POST,
        extra_path: String::new(),
        raw_query: String::new(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    for fact in facts.lines() {
        let (kind, value) = fact.split_once(' ').expect("a fact");
        match kind {
            "config" => {
                let (key, value) = value.split_once('=').expect("a variable");
                config.insert(key.to_owned(), value.to_owned());
            }
            "header" => {
                let (name, value) = value.split_once(": ").expect("a header");
                let name: HeaderName = name.parse().expect("a name");
                headers.insert(name, value.parse().expect("a value"));
            }
            "event" => checks.event = Some(value.into()),
            "query" => request.raw_query = value.to_owned(),
            "path" => request.extra_path = value.to_owned(),
            "method" => request.method = value.parse().expect("a method"),
            "input" => request.body = Bytes::copy_from_slice(value.as_bytes()),
            "wanted" => wanted.push(value.to_owned()),
            "fails" => fails = Some(value.to_owned()),
            other => panic!("{title}: {other}"),
        }
    }
    assert!(!wanted.is_empty() || fails.is_some(), "{title} wants nothing");
    request.headers = headers;
    let metadata = [("input_id", "in-1"), ("output_url", "https://example.com/hook")];
    let metadata =
        metadata.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let invocation = Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::generate(),
        revision: 1,
        driver,
        source: Arc::from(source),
        config: Arc::new(config),
        metadata,
        checks,
        request,
        response: None,
        trial: None,
    };
    Pasted { name: format!("{file}: {title}"), invocation, wanted, fails }
}

fn collection() -> Vec<Pasted> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pasted/collection");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("the collection") {
        let path = entry.expect("a file").path();
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a text");
        let text = format!("\n{text}");
        all.extend(text.split("\n== ").skip(1).map(|text| pasted(&file, text)));
    }
    all
}

/// A body as what it means: the order of the fields of an object does not count, digits do.
fn meaning(body: &[u8]) -> String {
    match serde_json::from_slice::<Value>(body) {
        Ok(json) => json.to_string(),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    }
}

fn difference(given: &Invocation, left: &ScriptOutcome, wanted: &str) -> Option<String> {
    let came = match wanted.split_once(' ').unwrap_or((wanted, "")) {
        ("same", _) => (left.request.body == given.request.body).then(|| "same".to_owned()),
        ("stopped", _) => left.stop_forwarding.then(|| "stopped".to_owned()),
        ("method", _) => Some(format!("method {}", left.request.method)),
        ("query", _) => Some(format!("query {}", left.request.raw_query)),
        ("header", line) => {
            let name = line.split(':').next().unwrap_or_default();
            let value = left.request.headers.get(name);
            value.map(|value| format!("header {name}: {}", value.to_str().unwrap_or_default()))
        }
        ("answer", text) => {
            let (_, body) = text.split_once(' ').unwrap_or((text, ""));
            let answer = left.response.as_ref().filter(|_| left.stop_forwarding);
            answer.map(|answer| {
                let same = meaning(&answer.body) == meaning(body.as_bytes());
                let came = String::from_utf8_lossy(&answer.body).into_owned();
                format!("answer {} {}", answer.status, if same { body } else { &came })
            })
        }
        _ => {
            let body = &left.request.body;
            let same = meaning(body) == meaning(wanted.as_bytes()) && !left.stop_forwarding;
            Some(if same { wanted.to_owned() } else { String::from_utf8_lossy(body).into_owned() })
        }
    };
    (came.as_deref() != Some(wanted)).then(|| format!("wanted {wanted}, left {left:?}"))
}

#[tokio::test]
async fn functions_run_as_pasted_or_say_what_to_write() {
    let lua = LuaRuntime::builder().threads(1).build().expect("threads");
    let js = JsRuntime::builder().build().expect("threads");
    let (mut failures, mut ran, collection) = (Vec::new(), 0, collection());
    assert!(collection.len() >= 60, "{} functions", collection.len());
    for Pasted { name, invocation, wanted, fails } in collection {
        let runtime: &dyn FunctionRuntime =
            if invocation.driver == Driver::Lua { &lua } else { &js };
        let saved = runtime.check(invocation.driver, &invocation.source).await;
        let result = match saved {
            Ok(()) => runtime.run(invocation.clone()).await.result,
            Err(error) => Err(error),
        };
        match (result, fails) {
            (Ok(left), None) => {
                let differences: Vec<_> = wanted
                    .iter()
                    .filter_map(|wanted| difference(&invocation, &left, wanted))
                    .collect();
                ran += usize::from(differences.is_empty());
                failures
                    .extend(differences.iter().map(|difference| format!("{name}: {difference}")));
            }
            (Err(error), Some(fails)) if error.to_string().contains(&fails) => {}
            (result, fails) => failures.push(format!("{name}: {result:?}, wanted {fails:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(ran >= RUN, "{ran} functions ran");
}
