//! `/v1/checkout` and `/v1/checkout-setup`

use serde_json::{Value, json};

use super::{
    harness::Server,
    sink::Reply,
    stripe::{Shop, refusal, reply, subscription},
    token,
};

const CHECKOUT: &str = "/v1/checkout";
const SETUP: &str = "/v1/checkout-setup";
const SESSIONS: &str = "POST /v1/checkout/sessions";

/// A shop that sells.
async fn shop() -> Shop {
    let shop = Shop::open().await;
    for price in ["price_pro", "price_team"] {
        let found = json!({"id": price, "active": true, "recurring": {"interval": "month"}});
        shop.plays(&format!("GET /v1/prices/{price}"), [reply(200, found)]);
    }
    shop.plays(SESSIONS, [reply(200, json!({"id": "cs_1"}))]);
    shop
}

fn session() -> Value {
    json!({"checkout_required": true, "publishable_key": "pk_test_shown", "session_id": "cs_1"})
}

#[tokio::test]
async fn a_session_is_started_for_the_accounts_customer() {
    let shop = shop().await;
    let items = json!([{"price_id": "price_seat", "quantity": 3, "metadata": {"team": "a"}}]);
    let change = json!({"plan_id": "price_pro", "optional_items": items});
    assert_eq!(shop.send("POST", CHECKOUT, change.clone()).await.expect(200).json(), session());
    shop.send("POST", CHECKOUT, change).await.expect(200);
    assert_eq!(shop.asked("POST /v1/customers").len(), 1, "one customer for both");
    let form = String::from_utf8_lossy(&shop.asked(SESSIONS)[0].body).into_owned();
    for part in [
        "mode=subscription",
        "customer=cus_1",
        "line_items%5B0%5D%5Bprice%5D=price_pro",
        "line_items%5B1%5D%5Bprice%5D=price_seat",
        "line_items%5B1%5D%5Bquantity%5D=3",
        "subscription_data%5Bmetadata%5D%5Baccount_id%5D=",
        "success_url=http",
    ] {
        assert!(form.contains(part), "{part} is not in {form}");
    }
    shop.expect_no_key_in_the_log();
}

#[tokio::test]
async fn bad_input_is_a_400_that_names_the_field() {
    let shop = shop().await;
    let one_time = json!({"id": "price_team", "active": true, "recurring": null});
    shop.plays("GET /v1/prices/price_team", [reply(200, one_time)]);
    for (body, said) in [
        (json!({}), "plan_id: must not be empty"),
        (json!({"plan_id": "../customers"}), "plan_id: must be the ID of a price"),
        (json!({"plan_id": 7}), "plan_id: invalid type"),
        (json!({"plan_id": "price_team"}), "plan_id: is not the price of a subscription"),
        (
            json!({"plan_id": "price_pro", "optional_items": [{}]}),
            "optional_items[0].price_id: must not be empty",
        ),
        (
            json!({"plan_id": "price_pro", "optional_items": [{"price_id": "a", "quantity": -1}]}),
            "optional_items[0].quantity: ",
        ),
        (json!({"plan_id": "price_pro", "optional_items": "a"}), "optional_items: "),
    ] {
        shop.send("POST", CHECKOUT, body).await.expect_error(400, said);
    }
    assert!(shop.asked(SESSIONS).is_empty());
}

#[tokio::test]
async fn an_unknown_price_is_a_404() {
    let shop = shop().await;
    let pro = json!({"plan_id": "price_pro"});
    let unknown = json!({"plan_id": "price_of_no_plan"});
    shop.send("POST", CHECKOUT, unknown).await.expect_error(404, "plan_id: ");
    let missing = json!({"error": {"code": "resource_missing", "param": "price", "message": "No"}});
    shop.plays("GET /v1/prices/price_pro", [reply(404, missing)]);
    shop.send("POST", CHECKOUT, pro.clone()).await.expect_error(404, "plan_id: there is no such");
    shop.plays("GET /v1/prices/price_pro", [reply(200, json!({"active": false}))]);
    shop.send("POST", CHECKOUT, pro).await.expect_error(404, "plan_id: it is not sold any more");

    let item = refusal("resource_missing", "line_items[1][price]", "No such price");
    shop.plays(SESSIONS, [item]);
    let change = json!({"plan_id": "price_team", "optional_items": [{"price_id": "price_x"}]});
    let answer = shop.send("POST", CHECKOUT, change).await;
    answer.expect_error(404, "optional_items[0].price_id: there is no such price");
}

#[tokio::test]
async fn what_cannot_be_is_a_412() {
    let server = Server::start().await;
    let pro = json!({"plan_id": "price_pro"});
    let answer = server.request("POST", CHECKOUT).json(&pro).send().await;
    answer.expect_error(412, "no payment processor is configured");

    let shop = shop().await;
    shop.send("POST", CHECKOUT, pro.clone()).await.expect(200);
    shop.subscribed(subscription("sub_1", "active", "price_pro", 1), "evt_1").await.expect(200);
    shop.send("POST", CHECKOUT, pro).await.expect_error(412, "plan_id: the account is subscribed");
    shop.plays(SESSIONS, [refusal("parameter_invalid", "customer_email", "Stripe says no.")]);
    let team = json!({"plan_id": "price_team"});
    shop.send("POST", CHECKOUT, team).await.expect_error(412, "Stripe says no.");
}

#[tokio::test]
async fn a_processor_in_trouble_is_a_500() {
    let shop = shop().await;
    shop.plays(SESSIONS, [Reply::Status(500)]);
    let pro = json!({"plan_id": "price_pro"});
    shop.send("POST", CHECKOUT, pro.clone()).await.expect_error(500, "cannot be reached");
    assert_eq!(shop.asked(SESSIONS).len(), 3);
    shop.plays(SESSIONS, [Reply::Hang(std::time::Duration::from_secs(5))]);
    shop.send("POST", CHECKOUT, pro.clone()).await.expect_error(500, "cannot be reached");
    shop.plays(SESSIONS, [Reply::Status(429), reply(200, json!({"id": "cs_1"}))]);
    shop.send("POST", CHECKOUT, pro).await.expect(200);
    shop.expect_no_key_in_the_log();
}

#[tokio::test]
async fn a_customer_that_the_processor_lost_is_made_again() {
    let shop = shop().await;
    let pro = json!({"plan_id": "price_pro"});
    shop.send("POST", CHECKOUT, pro.clone()).await.expect(200);
    let lost = refusal("resource_missing", "customer", "No such customer: 'cus_1'");
    shop.plays(SESSIONS, [lost, reply(200, json!({"id": "cs_2"}))]);
    shop.plays("POST /v1/customers", [reply(200, json!({"id": "cus_2"}))]);
    let answer = shop.send("POST", CHECKOUT, pro).await.expect(200).json();
    assert_eq!(answer["session_id"], "cs_2");
    let form = String::from_utf8_lossy(&shop.asked(SESSIONS)[2].body).into_owned();
    assert!(form.contains("customer=cus_2"), "{form}");
}

#[tokio::test]
async fn a_setup_session_puts_a_card_on_file() {
    let shop = shop().await;
    let answer = shop.server.request("POST", SETUP).send().await;
    assert_eq!(answer.expect(200).json(), session());
    let form = String::from_utf8_lossy(&shop.asked(SESSIONS)[0].body).into_owned();
    assert!(form.contains("mode=setup") && form.contains("customer=cus_1"), "{form}");
    shop.plays(SESSIONS, [refusal("parameter_invalid", "success_url", "Not a valid URL")]);
    shop.server.request("POST", SETUP).send().await.expect_error(500, "Not a valid URL");
    shop.plays(SESSIONS, [Reply::Status(503)]);
    shop.server.request("POST", SETUP).send().await.expect_error(500, "cannot be reached");

    let server = Server::start().await;
    let answer = server.request("POST", SETUP).send().await;
    answer.expect_error(500, "no payment processor is configured");
}

#[tokio::test]
async fn the_account_as_a_whole_is_wanted() {
    let server = Server::start().await;
    server.bucket("b").await;
    let scoped = token(&server, json!({"scopes": {"buckets": ["b"]}})).await;
    for path in [CHECKOUT, SETUP] {
        let change = json!({"plan_id": "price_pro"});
        server.anonymous("POST", path).json(&change).send().await.expect_error(401, "");
        let request = server.anonymous("POST", path).header("authorization", &scoped);
        request.json(&change).send().await.expect_error(403, "not the account");
    }
}
