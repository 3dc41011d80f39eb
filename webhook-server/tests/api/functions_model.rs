//! `/v1/functions-generate` with a language model: a server on a free port that answers as the chat interface does, or
//! as it does not.

use std::{sync::Mutex, time::Duration};

use bytes::Bytes;
use http::Response;
use serde_json::{Value, json};

use super::{
    harness::{self, Server},
    sink::{Arrived, Reply, Sink},
};

const KEY: &str = "sk-generate-9f86d081884c7d65";
const RIGHT: &str = "local json = require(\"json\")
local body = json.decode(r.RequestBody)
r:SetRequestBody(json.encode({ total = body.price * body.quantity }))";
/// Adds where it must multiply.
const WRONG: &str = "local json = require(\"json\")
local body = json.decode(r.RequestBody)
r:SetRequestBody(json.encode({ total = body.price + body.quantity }))";

/// A model that gives these replies in order, the last one for ever, and a server that asks it.
struct Asked {
    server: Server,
    model: Sink,
}

fn reply(status: u16, body: &Value) -> Reply {
    let response = Response::builder().status(status).body(Bytes::from(body.to_string()));
    Reply::With(response.expect("a response"))
}

/// A chat completion with this text.
fn says(text: &str) -> Reply {
    let message = json!({"role": "assistant", "content": text});
    reply(200, &json!({"id": "c1", "choices": [{"index": 0, "message": message}]}))
}

/// Two samples that no function of the search explains.
fn samples(info: &str) -> Value {
    let pair = |price: u32, quantity: u32| {
        let input = json!({"price": price, "quantity": quantity}).to_string();
        json!({"input": input, "output": json!({"total": price * quantity}).to_string()})
    };
    json!({"examples": [pair(15, 2), pair(7, 6)], "additional_info": info})
}

impl Asked {
    async fn start(replies: Vec<Reply>) -> Self {
        Self::start_with(replies, &[]).await
    }

    async fn start_with(replies: Vec<Reply>, options: &[(&str, &str)]) -> Self {
        let replies = Mutex::new(replies);
        let model = Sink::answering(move |_: &Arrived| {
            let mut replies = replies.lock().expect("no test panics here");
            if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() }
        })
        .await;
        let url = format!("{}/v1/", model.base);
        let mut all = vec![
            ("WEBHOOK_GENERATE_URL", url.as_str()),
            ("WEBHOOK_GENERATE_MODEL", "small-coder"),
            ("WEBHOOK_GENERATE_KEY", KEY),
        ];
        all.extend(options);
        let server = Server::start_with(&all).await;
        Self { server, model }
    }

    async fn generate(&self, sample: &Value) -> Value {
        let request = self.server.request("POST", "/v1/functions-generate").json(sample);
        request.send().await.expect(200).json()
    }

    /// The `validation_err` of a function, after `asked` requests to the model.
    async fn wrong(&self, sample: &Value, asked: usize) -> String {
        let written = self.generate(sample).await;
        assert_eq!(self.model.so_far().len(), asked, "{written}");
        assert_eq!(written["validation_ok"], false, "{written}");
        written["validation_err"].as_str().expect("a text").to_owned()
    }
}

fn body(arrived: &Arrived) -> Value {
    serde_json::from_slice(&arrived.body).expect("JSON")
}

#[tokio::test]
async fn a_model_is_asked_where_the_search_finds_nothing() {
    let asked = Asked::start(vec![says(&format!("```lua\n{RIGHT}\n```"))]).await;
    // The search finds this one, so no sample leaves the server.
    let easy = json!({"input_payload": "{\"user\":\"Xavier\"}", "output_payload": "{\"text\":\"Hello Xavier\"}"});
    assert_eq!(asked.generate(&easy).await["validation_ok"], true);
    assert!(asked.model.so_far().is_empty());

    let written = asked.generate(&samples("")).await;
    assert_eq!((&written["validation_ok"], &written["validation_err"]), (&json!(true), &json!("")));
    assert_eq!(written["code"].as_str().map(str::trim), Some(RIGHT));
    let requests = asked.model.so_far();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].head.uri.path(), "/v1/chat/completions");
    let key = requests[0].head.headers.get("authorization").expect("a key");
    assert_eq!(key, &format!("Bearer {KEY}"));
    let told = body(&requests[0]);
    assert_eq!(told["model"], "small-coder");
    let samples = told["messages"][1]["content"].as_str().expect("a text");
    assert!(
        samples.contains(r#"{"price":15,"quantity":2}"#) && samples.contains(r#"{"total":42}"#)
    );
    assert!(!asked.server.log().contains(KEY), "the key is in the log");
}

#[tokio::test]
async fn a_wish_is_told_to_the_model() {
    let asked = Asked::start(vec![says(RIGHT)]).await;
    let input = r#"{"price":15,"quantity":2,"total":30}"#;
    let sample = json!({"input_payload": input, "output_payload": r#"{"total":30}"#,
        "additional_info": "multiply, as the total of the payload may be old"});
    let written = asked.generate(&sample).await;
    assert_eq!(written["code"].as_str().map(str::trim), Some(RIGHT));
    let told = body(&asked.model.so_far()[0]);
    let told = told["messages"][1]["content"].as_str().expect("a text").to_owned();
    assert!(told.contains("Wishes: multiply, as the total"), "{told}");
    // The language alone is no wish.
    let sample = json!({"input_payload": "{\"user\":\"Xavier\"}", "output_payload": "{\"text\":\"Hello Xavier\"}",
        "additional_info": "in JavaScript, please"});
    assert_eq!(asked.generate(&sample).await["driver"], "js");
    assert_eq!(asked.model.so_far().len(), 1);
}

#[tokio::test]
async fn a_wrong_function_is_corrected_twice_at_most() {
    let asked = Asked::start(vec![says(WRONG), says("end end"), says(RIGHT)]).await;
    let written = asked.generate(&samples("")).await;
    assert_eq!(written["validation_ok"], true, "{written}");
    let requests = asked.model.so_far();
    assert_eq!(requests.len(), 3);
    let last = |arrived: &Arrived| {
        let messages = body(arrived)["messages"].as_array().expect("a list").clone();
        messages.last().expect("a message")["content"].as_str().expect("a text").to_owned()
    };
    assert!(last(&requests[1]).contains("examples[0]: out.total: wanted 30, got 17"));
    assert!(last(&requests[2]).contains("does not compile: line 1"), "{}", last(&requests[2]));

    let asked = Asked::start(vec![says(WRONG)]).await;
    let wrong = asked.wrong(&samples(""), 3).await;
    assert_eq!(wrong, "examples[0]: out.total: wanted 30, got 17");
}

#[tokio::test]
async fn a_function_that_reads_nothing_is_not_right() {
    let asked = Asked::start(vec![says("r:SetRequestBody('{\"total\":30}')")]).await;
    let one = json!({"input_payload": r#"{"price":15,"quantity":2}"#,
        "output_payload": r#"{"total":30}"#, "additional_info": "the price of all"});
    let wrong = asked.wrong(&one, 3).await;
    assert!(wrong.contains("gives the same output for a payload"), "{wrong}");
}

#[tokio::test]
async fn a_model_that_does_not_answer_leaves_the_function_of_the_search() {
    let large = "x".repeat(5 << 10);
    let elsewhere = Sink::start().await;
    let redirect = Response::builder()
        .status(307)
        .header("location", format!("{}/v1/chat/completions", elsewhere.base))
        .body(Bytes::new())
        .expect("a response");
    let garbage =
        |text: &'static str| Reply::With(Response::new(Bytes::from_static(text.as_bytes())));
    for (answer, said) in [
        (Reply::Hang(Duration::from_secs(60)), "gave no answer: no complete answer within"),
        (garbage("<html>hello</html>"), "answered something else than a chat completion"),
        (garbage("{\"choices\":[]}"), "answered no text"),
        (says(" "), "answered no text"),
        (says(&large), "answered more than 4096 bytes"),
        (Reply::With(redirect), "answered 307 Temporary Redirect: redirects are refused"),
        (reply(401, &json!({"error": "bad key"})), "answered 401 Unauthorized"),
    ] {
        let options =
            [("WEBHOOK_GENERATE_TIMEOUT", "2s"), ("WEBHOOK_GENERATE_ANSWER_BYTES", "4KiB")];
        let asked = Asked::start_with(vec![answer], &options).await;
        let wrong = asked.wrong(&samples(""), 1).await;
        assert!(wrong.starts_with("this function comes from the search alone"), "{wrong}");
        assert!(wrong.contains(said), "{wrong}");
        let log = asked.server.log();
        assert!(log.contains("a language model gave no function") && !log.contains(KEY), "{log}");
    }
    assert!(elsewhere.so_far().is_empty(), "the redirect was followed");
}

#[tokio::test]
async fn a_text_without_code_is_not_right() {
    let asked = Asked::start(vec![says("I am sorry, I cannot do that.")]).await;
    let wrong = asked.wrong(&samples(""), 3).await;
    assert!(wrong.contains("the function does not compile: line 1"), "{wrong}");
}

#[tokio::test]
async fn a_hostile_function_ends_at_its_limits() {
    let target = Sink::start().await;
    let right = "r.setBody(JSON.stringify({ total: b.price * b.quantity }))";
    let js = |before: &str| {
        format!(
            "function transform(r) {{ const b = JSON.parse(r.body); {before}; {right}; return r; }}"
        )
    };
    for (info, code, said) in [
        ("", "while true do end".to_owned(), "limit"),
        ("", "local t = {} while true do t[#t + 1] = (\"x\"):rep(100000) end".to_owned(), "limit"),
        ("", format!("pcall(require(\"http\").get, \"{}\")\n{RIGHT}", target.base), "http"),
        (
            "",
            format!("if cfg:GetValue(\"SECRET\") == nil then error(\"no secret\") end\n{RIGHT}"),
            "no secret",
        ),
        // A name that is made while the function runs is refused by its limit.
        (
            "",
            format!("pcall(require(\"ht\" .. \"tp\").get, \"{}\")\n{RIGHT}", target.base),
            "limit",
        ),
        ("in JavaScript", js("for (;;) {}"), "limit"),
        ("in JavaScript", js(&format!("try {{ fetch(\"{}\") }} catch {{}}", target.base)), "http"),
        (
            "in JavaScript",
            js(&format!("try {{ http.get(\"{}\") }} catch {{}}", target.base)),
            "http",
        ),
    ] {
        let asked = Asked::start(vec![says(&code)]).await;
        let wrong = asked.wrong(&samples(info), 3).await;
        assert!(wrong.contains(said), "{code}: {wrong}");
        // The server goes about its work.
        asked.server.get("/healthz").await.expect(200);
    }
    assert!(target.so_far().is_empty(), "a request was sent");
}

#[tokio::test]
async fn values_that_a_function_keeps_are_thrown_away() {
    // Right only where the key counts from 0 in each run.
    let counts = format!("assert(require(\"kv\").incr(\"runs\") == 1)\n{RIGHT}");
    let asked = Asked::start(vec![says(&counts)]).await;
    for _ in 0..2 {
        let written = asked.generate(&samples("")).await;
        assert_eq!(written["validation_err"], "", "{written}");
    }
}

#[tokio::test]
async fn a_model_is_asked_for_a_bounded_number_of_functions() {
    let replies = vec![Reply::Hang(Duration::from_secs(60))];
    let options = [("WEBHOOK_GENERATE_CONCURRENCY", "1"), ("WEBHOOK_GENERATE_TIMEOUT", "20s")];
    let asked = Asked::start_with(replies, &options).await;
    let first = asked.server.request("POST", "/v1/functions-generate").json(&samples(""));
    let second = async {
        asked.model.received(1).await;
        asked.wrong(&samples(""), 1).await
    };
    tokio::select! {
        _ = first.send() => panic!("the model answered"),
        wrong = second => {
            assert!(wrong.contains("is busy with 1 other functions: try again"), "{wrong}");
        }
    }
}

#[tokio::test]
async fn options_that_miss_another_one_are_refused() {
    for (options, said) in [
        (
            vec![("WEBHOOK_GENERATE_URL", "http://127.0.0.1:1/v1")],
            "WEBHOOK_GENERATE_MODEL: must be set",
        ),
        (vec![("WEBHOOK_GENERATE_KEY", KEY)], "WEBHOOK_GENERATE_URL: must be set"),
        (
            vec![
                ("WEBHOOK_GENERATE_URL", "http://127.0.0.1:1/v1"),
                ("WEBHOOK_GENERATE_MODEL", "m"),
                ("WEBHOOK_GENERATE_TIMEOUT", "0s"),
            ],
            "WEBHOOK_GENERATE_TIMEOUT: must not be zero",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = harness::command(folder.path());
        let ended = command.envs(options).output().await.expect("it ends");
        assert!(!ended.status.success());
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(stderr.contains(said) && !stderr.contains(KEY), "{stderr}");
    }
}
