//! `/v1/stripe/webhook`: what the processor reports becomes the plan.

use serde_json::json;

use super::{
    harness::Server,
    sink::Reply,
    stripe::{Shop, WEBHOOK_SECRET, reply, signature, signed, subscription},
};

const PATH: &str = "/v1/stripe/webhook";

/// A shop whose account has a customer.
async fn shop() -> Shop {
    let shop = Shop::open().await;
    let details = json!({"email": "jo@example.com"});
    shop.send("PUT", "/v1/billing-details", details).await.expect(200);
    assert_eq!(shop.plan().await, "free");
    shop
}

#[tokio::test]
async fn a_subscription_becomes_the_plan_and_ends_with_it() {
    let shop = shop().await;
    let active = |price: &str| subscription("sub_1", "active", price, 1);
    let answer = shop.subscribed(active("price_pro"), "evt_1").await;
    assert_eq!(answer.expect(200).json(), json!({"received": true}));
    assert_eq!(shop.plan().await, "pro");
    shop.subscribed(active("price_team"), "evt_2").await.expect(200);
    assert_eq!(shop.plan().await, "team");
    shop.subscribed(subscription("sub_1", "past_due", "price_team", 1), "evt_3").await.expect(200);
    assert_eq!(shop.plan().await, "team", "a failed payment is tried again");
    shop.subscribed(subscription("sub_1", "canceled", "price_team", 1), "evt_4").await.expect(200);
    assert_eq!(shop.plan().await, "free");
    shop.expect_no_key_in_the_log();
}

#[tokio::test]
async fn every_kind_of_event_leads_to_the_subscription() {
    let shop = shop().await;
    let mut expected = "free";
    for (number, (kind, object)) in [
        ("customer.subscription.created", json!({"id": "sub_1"})),
        ("checkout.session.completed", json!({"id": "cs_1", "subscription": "sub_1"})),
        ("invoice.payment_failed", json!({"id": "in_1", "subscription": "sub_1"})),
        ("customer.subscription.deleted", json!({"id": "sub_1"})),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(shop.plan().await, expected);
        let (status, next) = match expected {
            "free" => ("active", "pro"),
            _ => ("unpaid", "free"),
        };
        let current = reply(200, subscription("sub_1", status, "price_pro", 1));
        shop.plays("GET /v1/subscriptions/sub_1", [current]);
        shop.event(&format!("evt_{number}"), kind, object).await.expect(200);
        expected = next;
    }
    assert_eq!(shop.plan().await, expected);
    shop.event("evt_9", "customer.updated", json!({"id": "cus_1"})).await.expect(200);
}

#[tokio::test]
async fn events_may_come_twice_and_in_any_order() {
    let shop = shop().await;
    let path = "GET /v1/subscriptions/sub_1";
    shop.plays(path, [reply(200, subscription("sub_1", "canceled", "price_pro", 1))]);
    // That it was made comes after it has ended: what counts is what it is now.
    let object = json!({"id": "sub_1"});
    shop.event("evt_2", "customer.subscription.deleted", object.clone()).await.expect(200);
    shop.event("evt_1", "customer.subscription.created", object.clone()).await.expect(200);
    assert_eq!(shop.plan().await, "free");
    assert_eq!(shop.asked(path).len(), 2);
    shop.event("evt_1", "customer.subscription.created", object).await.expect(200);
    assert_eq!(shop.asked(path).len(), 2, "the same event is not looked at twice");

    // The end of one subscription is not that of another.
    shop.subscribed(subscription("sub_3", "active", "price_pro", 3), "evt_3").await.expect(200);
    shop.subscribed(subscription("sub_2", "canceled", "price_pro", 2), "evt_4").await.expect(200);
    assert_eq!(shop.plan().await, "pro");
}

#[tokio::test]
async fn a_new_subscription_ends_the_one_it_replaces() {
    let shop = shop().await;
    shop.subscribed(subscription("sub_1", "active", "price_pro", 1), "evt_1").await.expect(200);
    let mut new = subscription("sub_2", "active", "price_team", 2);
    new["metadata"]["replaces"] = "sub_1".into();
    let ended = "DELETE /v1/subscriptions/sub_1";
    shop.plays(ended, [Reply::Status(400), reply(200, json!({"id": "sub_1"}))]);
    shop.subscribed(new.clone(), "evt_2").await.expect(500);
    shop.subscribed(new, "evt_2").await.expect(200);
    assert_eq!(shop.asked(ended).len(), 2, "it is tried again with the event");
    assert_eq!(shop.plan().await, "team");
    shop.subscribed(subscription("sub_1", "canceled", "price_pro", 1), "evt_3").await.expect(200);
    assert_eq!(shop.plan().await, "team");
}

#[tokio::test]
async fn an_event_that_cannot_be_followed_comes_again() {
    let shop = shop().await;
    let path = "GET /v1/subscriptions/sub_1";
    shop.plays(path, [Reply::Status(500)]);
    let object = json!({"id": "sub_1"});
    let event = shop.event("evt_1", "customer.subscription.updated", object.clone()).await;
    event.expect_error(500, "cannot be reached");
    assert_eq!(shop.asked(path).len(), 3);
    shop.plays(path, [reply(200, subscription("sub_1", "active", "price_pro", 1))]);
    shop.event("evt_1", "customer.subscription.updated", object).await.expect(200);
    assert_eq!(shop.plan().await, "pro");
}

#[tokio::test]
async fn somebody_elses_subscription_is_nobodys_plan() {
    let shop = shop().await;
    let mut other = subscription("sub_1", "active", "price_pro", 1);
    other["customer"] = "cus_other".into();
    other["metadata"]["account_id"] = super::NOBODY.into();
    shop.subscribed(other.clone(), "evt_1").await.expect(200);
    assert_eq!(shop.plan().await, "free");
    // Started for this account, before its customer was known here.
    let usage = shop.server.get("/v1/usage").await.json();
    other["metadata"]["account_id"] = usage["usage"]["account_id"].clone();
    shop.subscribed(other, "evt_2").await.expect(200);
    assert_eq!(shop.plan().await, "pro");
    let gone = json!({"id": "sub_9"});
    shop.event("evt_3", "customer.subscription.updated", gone).await.expect(200);
}

#[tokio::test]
#[allow(
    clippy::disallowed_methods,
    reason = "the payment processor signs with the time of its machine"
)]
async fn only_the_processor_is_believed() {
    let shop = shop().await;
    let active = reply(200, subscription("sub_1", "active", "price_pro", 1));
    shop.plays("GET /v1/subscriptions/sub_1", [active]);
    let object = json!({"object": {"id": "sub_1"}});
    let event = json!({"id": "evt_1", "type": "customer.subscription.updated", "data": object});
    let body = event.to_string();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.expect("after 1970").as_secs();
    let post = || shop.server.anonymous("POST", PATH).body(body.clone());
    post().send().await.expect_error(401, "Stripe-Signature: must be there once");
    for (header, said) in [
        (signature("whsec_other", now, &body), "no signature is right"),
        (signature(WEBHOOK_SECRET, now, "other"), "no signature is right"),
        (signature(WEBHOOK_SECRET, now - 400, &body), "older than five minutes"),
        ("v1=00".to_owned(), "has no time"),
    ] {
        post().header("stripe-signature", &header).send().await.expect_error(401, said);
    }
    // The API key is no signature.
    shop.server.request("POST", PATH).body(body.clone()).send().await.expect(401);
    assert_eq!(shop.plan().await, "free");
    signed(&shop.server, &body).await.expect(200);
    assert_eq!(shop.plan().await, "pro");
}

#[tokio::test]
async fn what_cannot_be_read_is_a_400_or_413() {
    let shop = shop().await;
    for body in ["", "{}", "[]", r#"{"id":"evt_1","type":"customer.subscription.updated"}"#] {
        signed(&shop.server, body).await.expect_error(400, "body: ");
    }
    let answer = signed(&shop.server, &"x".repeat((1 << 20) + 1)).await;
    answer.expect_error(413, "body: must be at most 1048576 bytes");
    shop.server.anonymous("GET", PATH).send().await.expect_error(405, "not allowed");
}

#[tokio::test]
async fn without_a_processor_nothing_is_expected() {
    let server = Server::start().await;
    signed(&server, "{}").await.expect_error(404, "no payment processor is configured");
    let shop = Shop::open_with(&[("WEBHOOK_STRIPE_WEBHOOK_SECRET", "whsec_later")]).await;
    signed(&shop.server, "{}").await.expect_error(401, "no signature is right");
}
