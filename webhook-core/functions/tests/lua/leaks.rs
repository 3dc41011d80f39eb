//! A script whose result nothing takes fails, and says what is right.

use webhook_core::function::FunctionError;

use crate::harness::{failure, outcome};

#[tokio::test]
async fn a_function_that_nothing_calls_is_refused() {
    for source in [
        "function transform(r) r:SetRequestBody('') end",
        "local function handler(event) event.email = nil return event end",
        "local json = require('json')\ntransform = function(r) return r end",
        "local transform = function(r) return r end",
    ] {
        let error = failure(source).await;
        assert!(matches!(error, FunctionError::Compile { .. }), "{source}: {error:?}");
        let error = error.to_string();
        assert!(error.contains("nothing calls the function"), "{source}: {error}");
    }
    for source in [
        "function transform(r) r:SetRequestBody('x') end transform(r)",
        "local function handler() r:SetRequestBody('x') end pcall(handler)",
        "function transform() r:SetRequestBody('x') end _G['transform']()",
    ] {
        assert_eq!(outcome(source).await.request.body, "x", "{source}");
    }
}

#[tokio::test]
async fn a_value_that_a_script_returns_is_an_error() {
    for (source, kind) in [
        ("return { a = 1 }", "table"),
        ("if true then\n  return 'x'\nend", "text"),
        (
            "local json = require('json')\nlocal o = json.decode(r.RequestBody)\no.a = nil\nreturn json.encode(o)",
            "string",
        ),
        ("local o = {}\nreturn o", "table"),
        ("return 1 + 1", "number"),
        ("return true", "boolean"),
    ] {
        let error = failure(source).await.to_string();
        let expected = format!(
            "the script returns a {kind}, which nothing takes: set the new body with r:SetRequestBody(text)"
        );
        assert!(error.contains(&expected), "{source}: {error}");
    }
    for source in [
        "return",
        "return nil",
        "r:SetRequestBody('x') return r",
        "return r:SetRequestHeader('a', 'b')",
    ] {
        outcome(source).await;
    }
}
