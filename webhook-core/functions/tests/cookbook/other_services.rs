use http::Method;
use serde_json::json;

use crate::scenario::{Given, Scenario, post, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let hookdeck = |given: Given| given.config("TOKEN", "t-1").header("x-internal", "1");
    vec![
        scenario("Convoy: transform(payload)")
            .case("an order", post(r#"{"id":7,"cents":1250,"email":"a@b.c"}"#), |left| {
                left.json(json!({"event_type": "order.paid", "data": {"id": 7, "total": 12.5}}))
            })
            .fails("no JSON", post("id=7"), "the body is not JSON")
            .fails("null", post("null"), "cannot read property 'id' of null"),
        scenario("Svix: handler(webhook)")
            .case("an order", post(r#"{"type":"paid","email":"a@b.c"}"#), |left| {
                left.json(json!({"type": "paid"})).method(Method::PUT).header("x-kind", "paid")
            })
            .case("a test", post(r#"{"type":"paid","test":true}"#), |left| left.stopped())
            .fails("no JSON", post(""), "the body is not JSON"),
        scenario("Hookdeck: addHandler(\"transform\", …)")
            .case("an order", hookdeck(post(r#"{"id":7}"#)).url("/in", "source=shop&a=1"), |left| {
                left.json(json!({"id": 7, "source": "shop"}))
                    .header("authorization", "Bearer t-1")
                    .without("x-internal")
                    .url("/orders", "")
            })
            .fails("a text", hookdeck(post("text")), "a text has no field \"id\""),
    ]
}
