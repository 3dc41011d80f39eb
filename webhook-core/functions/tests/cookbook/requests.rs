use http::Method;
use serde_json::json;

use crate::scenario::{NOW, Scenario, post, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut all = vec![enrich(), token(), sign()];
    all.extend([rewrite(), methods(), judge()]);
    all
}

fn enrich() -> Scenario {
    let order = || post(r#"{"id":1,"customer_id":42,"items":[]}"#).config("API_KEY", "key");
    let asked = "GET https://api.example.com/customers/42 Bearer key";
    let customer = r#"{"name":"Ada","tier":"gold","secret":"x"}"#;
    scenario("Enrich by an HTTP call")
        .case("a customer", order().upstream(asked, 200, customer), |left| {
            left.json(json!({
                "id": 1, "customer_id": 42, "items": [],
                "customer": {"name": "Ada", "tier": "gold"},
            }))
        })
        .fails("no such customer", order().upstream(asked, 404, "{}"), "customers answered 404")
        .fails("nobody there", order(), "nobody at GET https://api.example.com/customers/42")
}

fn token() -> Scenario {
    let given = || post("{}").header("cookie", "a=b").header("authorization", "Basic dTpw");
    scenario("A token from the configuration")
        .case("a token", given().config("TOKEN", "t0ken"), |left| {
            left.header("authorization", "Bearer t0ken")
                .without("cookie")
                .header("x-bucket", "orders")
        })
        .fails("no token", given(), "TOKEN is not set")
}

fn sign() -> Scenario {
    let given = || {
        let key = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
        post(r#"{"order":7}"#).config("SIGNING_SECRET", key)
    };
    // Made by Python's `hmac`.
    let with_id = "v1,kfLgFvpCat1aKL0FwzUabICPZHuLrf6tLH658iQN3wY=";
    let without = "v1,0bcRMt4kaaGzpAB9eSk2goJ7WwGXwJNv7xhXMXti4CM=";
    scenario("Sign the outgoing request")
        .case("with an id", given().header("x-request-id", "req-1"), |left| {
            left.header("webhook-id", "req-1")
                .header("webhook-timestamp", &NOW.to_string())
                .header("webhook-signature", with_id)
        })
        .case("without one", given(), |left| {
            left.header("webhook-id", "8bcbace4a85bfd655264d50663d10000")
                .header("webhook-timestamp", &NOW.to_string())
                .header("webhook-signature", without)
        })
}

fn rewrite() -> Scenario {
    scenario("Rewrite path and query")
        .case("an order", post("{}").url("/shops/42/orders", "debug=1&page=2"), |left| {
            left.url("/v2/orders", "page=2&shop=42")
        })
        .case("what needs encoding", post("{}").url("/shops/7/a%20b", "q=x%20y%26z"), |left| {
            left.url("/v2/a%20b", "q=x+y%26z&shop=7")
        })
        .case("another path", post("{}").url("/health", ""), |left| left.stopped())
}

fn methods() -> Scenario {
    scenario("A deletion as DELETE")
        .case("created", post(r#"{"action":"created","item":{"id":7,"n":"x"}}"#), |left| {
            left.json(json!({"id": 7, "n": "x"}))
        })
        .case("updated", post(r#"{"action":"updated","item":{"id":7}}"#), |left| {
            left.method(Method::PUT).url("/7", "").json(json!({"id": 7}))
        })
        .case("deleted", post(r#"{"action":"deleted","item":{"id":7}}"#), |left| {
            left.method(Method::DELETE).url("/7", "").text("")
        })
        .case("viewed", post(r#"{"action":"viewed","item":{"id":7}}"#), |left| left.stopped())
}

fn judge() -> Scenario {
    let given = |status, body| post("{}").answered(status, body);
    scenario("Judge the answer")
        .case("well", given(200, r#"{"ok":true}"#), |left| left)
        .case("refused", given(200, r#"{"ok":false,"error":"channel_not_found"}"#), |left| {
            left.answers(502, "refused: channel_not_found")
        })
        .case("an error already", given(500, r#"{"ok":false}"#), |left| left)
        .case("no JSON", given(200, "ok"), |left| left)
}
