//! What scripts send with `http`.

use webhook_core::function::FunctionRuntime;
use webhook_functions::lua::LuaRuntime;

use crate::harness::{StubForwarder, invocation};

#[tokio::test]
async fn requests_go_through_the_forwarder_and_answers_come_back() {
    let forwarder = StubForwarder::answering("hello");
    let runtime = LuaRuntime::builder().threads(1).forwarder(forwarder.clone()).build();
    let runtime = runtime.expect("threads");
    let source = r#"
        local http = require("http")
        local res, err = http.post("https://a.example/p?x=1", {
            query = {y = "2 3"}, headers = {["X-A"] = "b"}, cookies = {c = "d"},
            body = "payload", timeout = 2, auth = {user = "u", pass = "p"},
        })
        print(err, res.status_code, res.body, res.body_size, res.headers["X-ANSWER"], res.cookies.a, res.url)
        print(http.get("http://refused.example/"))
        print(http.get("http://large.example/"))
        print(http.get("not an address"))
        print(http.request("DELETE", "http://a.example/").status_code, http.put("http://a.example/", {form = {k = "v"}}).body)
        local all, errors = http.request_batch({{"get", "http://a.example/1"}, {"post", "http://refused.example/", {body = "x"}}})
        print(#all, all[1].body, all[2], errors[1], errors[2])
        local ok, inner = pcall(function() return http.get("http://a.example/") end)
        print(ok, inner.body)
        print(coroutine.wrap(function() return http.get("http://a.example/").body end)())
        print(("x"):gsub("%a", function(c) return http.get("http://a.example/" .. c).body end))
    "#;
    let completion = runtime.run(invocation(source)).await;
    assert!(completion.result.is_ok(), "{:?}", completion.result);
    assert_eq!(
        completion.logs,
        [
            "nil\t201\thello\t5\tyes\t1\thttps://a.example/p?x=1&y=2+3",
            "nil\thttp: destination refused: 10.0.0.1 is private",
            "nil\thttp: the answer's body is over the limit of 1048576 bytes",
            "nil\thttp: address: relative URL without a base",
            "201\thello",
            "2\thello\tfalse\tnil\thttp: destination refused: 10.0.0.1 is private",
            "true\thello",
            "hello",
            "hello\t1",
        ],
    );
    let requests = forwarder.requests.lock().expect("nobody panics");
    let first = requests.first().expect("a request");
    assert_eq!(first.method, "POST");
    assert_eq!(&first.body[..], b"payload");
    assert_eq!(first.headers["x-a"], "b");
    assert_eq!(first.headers["cookie"], "c=d");
    assert_eq!(first.headers["authorization"], "Basic dTpw");
    assert_eq!(first.timeout.as_secs(), 2);
    assert!(first.tls_verification);
    let put = requests.iter().find(|request| request.method == "PUT").expect("a request");
    assert_eq!(put.headers["content-type"], "application/x-www-form-urlencoded");
    assert_eq!(&put.body[..], b"k=v");
}

#[tokio::test]
async fn without_a_forwarder_nothing_is_sent() {
    let runtime = LuaRuntime::builder().threads(1).build().expect("threads");
    let completion =
        runtime.run(invocation("print(require('http').get('http://a.example/'))")).await;
    assert_eq!(
        completion.logs,
        ["nil\thttp: request cannot be sent: functions may not send requests on this server"],
    );
}
