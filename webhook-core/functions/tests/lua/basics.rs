//! The objects `r` and `cfg`.

use webhook_core::{
    function::{FunctionError, FunctionRuntime, ScriptResponse},
    model::Driver,
};

use crate::harness::{failure, invocation, outcome, output, runtime};

#[tokio::test]
async fn a_script_reads_and_changes_the_request() {
    let outcome = outcome(
        r#"
        assert(r.RequestBody == '{"a":1}')
        assert(r.RequestMethod == "POST" and r.RequestPath == "/a/b")
        assert(r.RequestHeader["X-GITHUB-event"] == "push" and r.RequestHeader["none"] == nil)
        assert(r.RequestQuery.k == "v" and r.RequestQuery["x"] == "1 2")
        assert(r.Metadata["bucket_name"] == "orders")
        assert(cfg:GetValue("TOKEN") == "secret" and cfg:GetValue("other") == nil)
        r:SetRequestBody("new")
        assert(r.RequestBody == "new")
        r:SetRequestMethod("put")
        r:SetRequestPath("/x y")
        r:SetRequestRawQuery("a=b")
        assert(r.RequestQuery.a == "b")
        r:SetRequestHeader("X-New", 5)
        r:DeleteRequestHeader("x-github-event")
        r:StopForwarding()
        "#,
    )
    .await;
    assert_eq!(outcome.request.body, "new");
    assert_eq!(outcome.request.method, "PUT");
    assert_eq!(outcome.request.extra_path, "/x%20y");
    assert_eq!(outcome.request.raw_query, "a=b");
    assert_eq!(outcome.request.headers["x-new"], "5");
    assert!(!outcome.request.headers.contains_key("x-github-event"));
    assert!(outcome.stop_forwarding && outcome.response.is_none() && !outcome.response_modified);
}

#[tokio::test]
async fn a_script_sets_the_response() {
    let outcome = outcome(
        r#"r:SetResponseBody("no") r:SetResponseStatusCode(403) r:SetResponseHeader("X-A", "b")"#,
    )
    .await;
    let response = outcome.response.expect("a response");
    assert_eq!((response.status, &response.body[..]), (403, &b"no"[..]));
    assert_eq!(response.headers["x-a"], "b");
    assert!(outcome.response_modified);
}

#[tokio::test]
async fn errors_carry_the_line_and_the_name() {
    let cases = [
        ("local x\n\nx.y = 1", "function:3: attempt to index a nil value (local 'x')"),
        ("local t = {}\nt.a.b = 1", "function:2: attempt to index a nil value (field 'a')"),
        ("foo()", "function:1: attempt to call a nil value (global 'foo')"),
        ("local s = 'a'\ns:nope()", "function:2: attempt to call a nil value (method 'nope')"),
        (
            "local n\nreturn 1 + n",
            "function:2: attempt to perform arithmetic on a nil value (local 'n')",
        ),
        (
            "return 'a' .. nil_one",
            "function:1: attempt to concatenate a nil value (global 'nil_one')",
        ),
        ("return 1 < 'a'", "function:1: attempt to compare number with string"),
        ("\nerror('boom')", "function:2: boom"),
        ("error('boom', 0)", "boom"),
        ("error({})", "(error object is a table value)"),
        (
            "error(setmetatable({code = 7}, {__tostring = function(e) return 'code ' .. e.code end}))",
            "code 7",
        ),
        (
            "error(setmetatable({}, {__tostring = function() while true do end end}))",
            "(error object is a table value)",
        ),
        ("local t = {}\nt[nil] = 1", "function:2: table index is nil"),
        ("return #nil_one", "function:1: attempt to get length of a nil value (global 'nil_one')"),
        ("string.rep()", "function:1: bad argument #1 to 'rep' (string expected, got no value)"),
    ];
    for (source, message) in cases {
        assert_eq!(failure(source).await.to_string(), message, "{source}");
    }
}

#[tokio::test]
async fn output_is_captured() {
    assert_eq!(output("print(1, 'a', nil, 2.0) log('x')").await, ["1\ta\tnil\t2.0", "x"]);
}

#[tokio::test]
async fn a_response_function_reads_and_changes_the_answer() {
    let mut call = invocation(
        r#"
        assert(r.ResponseBody == "no" and r.ResponseStatusCode == 500)
        assert(r.ResponseHeader["x-why"] == "because")
        r:SetResponseBody("yes") r:SetResponseStatusCode(200)
        assert(r.ResponseBody == "yes")
        "#,
    );
    call.response = Some(ScriptResponse {
        status: 500,
        headers: [("x-why".parse().expect("a name"), "because".parse().expect("a value"))]
            .into_iter()
            .collect(),
        body: "no".into(),
    });
    let outcome = runtime().run(call.clone()).await.result.expect("a good script");
    let response = outcome.response.expect("a response");
    assert_eq!((response.status, &response.body[..]), (200, &b"yes"[..]));
    assert!(outcome.response_modified);
    call.source = "local _ = r.ResponseBody".into();
    let outcome = runtime().run(call.clone()).await.result.expect("a good script");
    assert!(!outcome.response_modified);
    assert_eq!(outcome.response, call.response);
}

#[tokio::test]
async fn form_fields_are_lists() {
    let mut call = invocation(
        r#"
        local form = r.RequestFormData
        print(form.a[1], form.a[2], form["b c"][1], form.none, #form.a)
        r:SetRequestBody("a=9")
        print(r.RequestFormData.a[1])
        "#,
    );
    let form = "application/x-www-form-urlencoded".parse().expect("a value");
    call.request.headers.insert("content-type", form);
    call.request.body = "a=1&b%20c=x+y&a=2".into();
    assert_eq!(runtime().run(call).await.logs, ["1\t2\tx y\tnil\t2", "9"]);
}

#[tokio::test]
async fn parts_of_forms_are_exact_bytes() {
    let mut call = invocation(
        r#"
        for i, p in ipairs(r.RequestFormParts) do
          print(i, p.name, p.file_name, p.type, p.body:byte(1, -1))
        end
        print(#r.RequestFormData.f[1], #r.RequestFormParts)
        r:SetRequestBody("")
        print(#r.RequestFormParts)
        "#,
    );
    let multipart = "multipart/form-data; boundary=x".parse().expect("a value");
    call.request.headers.insert("content-type", multipart);
    call.request.body = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x\r\n\
        Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\
        \x89P\0\r\n--x--\r\n"[..].into();
    let printed = runtime().run(call.clone()).await.logs;
    assert_eq!(printed, ["1\ta\tnil\tnil\t49", "2\tf\ta.png\timage/png\t137\t80\t0", "3\t2", "0"]);

    call.source = "print(r.RequestFormData.a[1]:byte(1, -1))".into();
    let form = "application/x-www-form-urlencoded".parse().expect("a value");
    call.request.headers.insert("content-type", form);
    call.request.body = "a=%89%50".into();
    assert_eq!(runtime().run(call).await.logs, ["137\t80"]);
}

#[tokio::test]
async fn bodies_are_exact_bytes() {
    let mut call = invocation("r:SetRequestBody(r.RequestBody:reverse() .. #r.RequestBody)");
    call.request.body = vec![0, 255, b'\r', b'\n', 128].into();
    let outcome = runtime().run(call).await.result.expect("a good script");
    assert_eq!(outcome.request.body[..], [128, b'\n', b'\r', 255, 0, b'5']);
}

#[tokio::test]
async fn only_lua_is_run() {
    let mut call = invocation("return 1");
    call.driver = Driver::Js;
    assert_eq!(runtime().run(call).await.result, Err(FunctionError::NoDriver(Driver::Js)));
    let checked = runtime().check(Driver::Wasm, "").await;
    assert_eq!(checked, Err(FunctionError::NoDriver(Driver::Wasm)));
    let checked = runtime().check(Driver::Lua, "\nlocal 1").await;
    assert!(matches!(checked, Err(FunctionError::Compile { line: 2, .. })), "{checked:?}");
}
