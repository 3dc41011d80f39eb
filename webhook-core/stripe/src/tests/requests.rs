//! What Stripe is asked, how often, and what comes of its answers.

use std::{collections::HashSet, error::Error as _, time::Duration};

use http::{Method, StatusCode};
use tokio::time::Instant;

use webhook_core::{
    AccountId, ErrorKind,
    billing::{BillingError, BillingProvider, Checkout, Customer},
    forward::{Answer, ForwardError, ScriptedForwarder},
    model::{BillingDetailsSpec, PlanItem, SubscriptionStatus},
};

use super::stripe;

const CUSTOMERS: &str = "https://stripe.test/v1/customers";
const SESSIONS: &str = "https://stripe.test/v1/checkout/sessions";

fn json(status: u16, body: &'static str) -> Answer {
    Answer::status(StatusCode::from_u16(status).expect("a status")).body(body)
}

fn details() -> BillingDetailsSpec {
    let mut details = BillingDetailsSpec::default();
    details.name = "Jo & Söhne".to_owned();
    details.email = "jo@example.com".to_owned();
    details.country = "DE".to_owned();
    details.tax_id = "DE123456789".to_owned();
    details.tax_id_type = "eu_vat".to_owned();
    details
}

fn customer<'a>(id: Option<&'a str>, details: Option<&'a BillingDetailsSpec>) -> Customer<'a> {
    Customer { account: AccountId::generate(), account_name: "acme", id, details }
}

/// The form of a request, pair by pair.
fn form(forwarder: &ScriptedForwarder, number: usize) -> Vec<(String, String)> {
    let body = forwarder.requests()[number].body.clone();
    url::form_urlencoded::parse(&body).into_owned().collect()
}

fn value(form: &[(String, String)], key: &str) -> String {
    let pair = form.iter().find(|(name, _)| name == key);
    pair.unwrap_or_else(|| panic!("no {key} in {form:?}")).1.clone()
}

#[tokio::test(start_paused = true)]
async fn a_new_customer_is_one_request_in_stripes_encoding() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script(CUSTOMERS, [json(200, r#"{"id":"cus_1"}"#)]);
    let details = details();
    let customer = customer(None, Some(&details));
    let id = stripe(&forwarder).save_customer(&customer).await;
    assert_eq!(id.expect("it is made"), "cus_1");

    let request = forwarder.requests().remove(0);
    assert_eq!(request.method, Method::POST);
    assert_eq!(request.headers["authorization"], "Bearer sk_test_secret");
    assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
    assert_eq!(request.headers["idempotency-key"].len(), 36);
    assert!(!format!("{request:?}").contains("sk_test"), "the key is marked as sensitive");
    let form = form(&forwarder, 0);
    for (key, expected) in [
        ("name", "Jo & Söhne"),
        ("email", "jo@example.com"),
        ("address[country]", "DE"),
        ("address[city]", ""),
        ("tax_id_data[0][type]", "eu_vat"),
        ("tax_id_data[0][value]", "DE123456789"),
        ("metadata[account_id]", &customer.account.to_string()),
    ] {
        assert_eq!(value(&form, key), expected, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_key_goes_with_every_attempt() {
    let broken =
        || ForwardError::Broken { reason: "reset".to_owned(), source: None, timings: None };
    for first in [json(409, "{}"), json(429, "{}"), json(500, "{}"), Answer::error(broken)] {
        let forwarder = ScriptedForwarder::new();
        let _checked = forwarder.checked_on_drop();
        forwarder.script(CUSTOMERS, [first, json(503, "oops"), json(200, r#"{"id":"cus_1"}"#)]);
        let started = Instant::now();
        let id = stripe(&forwarder).save_customer(&customer(None, None)).await;
        assert_eq!(id.expect("the third attempt"), "cus_1");
        let requests = forwarder.requests();
        let keys: HashSet<_> =
            requests.iter().map(|request| request.headers["idempotency-key"].clone()).collect();
        assert_eq!((requests.len(), keys.len()), (3, 1));
        let took = started.elapsed();
        assert!((Duration::from_millis(2_250)..Duration::from_millis(2_750)).contains(&took));
    }
}

#[tokio::test(start_paused = true)]
async fn three_attempts_are_all() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script(CUSTOMERS, [Answer::connection_refused()]);
    let error = stripe(&forwarder).save_customer(&customer(None, None)).await;
    let error = error.expect_err("nobody is there").into_error();
    assert_eq!(forwarder.requests().len(), 3);
    assert_eq!(error.kind(), ErrorKind::Internal);
    let said = "the payment processor cannot be reached; try again later";
    assert_eq!(error.to_string(), said);
    let cause = error.source().expect("for the log").to_string();
    assert!(cause.contains("connection refused"), "{cause}");
}

#[tokio::test(start_paused = true)]
async fn stripe_says_whether_and_when_to_ask_again() {
    let header = |answer: Answer, name: &'static str, value: &'static str| {
        let name = http::HeaderName::from_static(name);
        answer.header(name, http::HeaderValue::from_static(value))
    };
    for (first, attempts) in [
        (header(json(500, "{}"), "stripe-should-retry", "false"), 1),
        (header(json(400, "{}"), "stripe-should-retry", "true"), 2),
        (header(json(429, "{}"), "retry-after", "20"), 2),
        (header(json(429, "{}"), "retry-after", "3600"), 1),
    ] {
        let forwarder = ScriptedForwarder::new();
        forwarder.script(CUSTOMERS, [first, json(200, r#"{"id":"cus_1"}"#)]);
        let made = stripe(&forwarder).save_customer(&customer(None, None)).await;
        assert_eq!(forwarder.requests().len(), attempts);
        assert_eq!(made.is_ok(), attempts == 2);
    }
}

#[tokio::test(start_paused = true)]
async fn what_stripe_says_is_passed_on_without_keys() {
    let refused = |status, body| async move {
        let forwarder = ScriptedForwarder::new();
        forwarder.script(CUSTOMERS, [json(status, body)]);
        let error = stripe(&forwarder).save_customer(&customer(None, None)).await;
        error.expect_err(body).into_error()
    };
    let tax = r#"{"error":{"type":"invalid_request_error","code":"tax_id_invalid",
        "param":"tax_id_data[0][value]","message":"Invalid value for eu_vat."}}"#;
    let error = refused(400, tax).await;
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.to_string(), "the payment processor refuses this: Invalid value for eu_vat.");
    assert_eq!(refused(402, "no json").await.kind(), ErrorKind::Conflict);

    let key = r#"{"error":{"type":"invalid_request_error","message":"Invalid API Key provided: sk_test_****cret"}}"#;
    let error = refused(401, key).await;
    assert_eq!(error.kind(), ErrorKind::Internal);
    let log = format!("{error} {:?}", error.source());
    assert!(!log.contains("sk_") && !log.contains("cret"), "{log}");
    let error = refused(400, key).await;
    assert!(!error.to_string().contains("sk_"), "{error}");

    let forwarder = ScriptedForwarder::new();
    let shown = format!("{:?}", stripe(&forwarder));
    assert!(!shown.contains("sk_test") && !shown.contains("whsec"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_tax_id_leaves_the_customer_as_it_was() {
    let forwarder = ScriptedForwarder::new();
    let path = format!("{CUSTOMERS}/cus_1");
    let tax_ids = format!("{path}/tax_ids");
    forwarder.script(&path, [json(200, r#"{"id":"cus_1"}"#)]);
    let refusal = r#"{"error":{"code":"tax_id_invalid","message":"no"}}"#;
    forwarder.script(&tax_ids, [json(200, r#"{"data":[]}"#), json(400, refusal)]);
    let details = details();
    let error = stripe(&forwarder).save_customer(&customer(Some("cus_1"), Some(&details))).await;
    assert!(matches!(error, Err(BillingError::Refused(_))), "{error:?}");
    let changes = forwarder.requests().into_iter().filter(|r| r.method != Method::GET);
    assert_eq!(changes.count(), 1, "the refused one");
}

#[tokio::test(start_paused = true)]
async fn a_changed_tax_id_replaces_the_former() {
    let forwarder = ScriptedForwarder::new();
    let path = format!("{CUSTOMERS}/cus_1");
    let tax_ids = format!("{path}/tax_ids");
    forwarder.script(&path, [json(200, r#"{"id":"cus_1"}"#)]);
    let known = r#"{"data":[{"id":"txi_1","type":"eu_vat","value":"DE000000000"}]}"#;
    forwarder.script(&tax_ids, [json(200, known), json(200, r#"{"id":"txi_2"}"#)]);
    forwarder.script(&format!("{tax_ids}/txi_1"), [json(200, r#"{"id":"txi_1"}"#)]);
    let details = details();
    let saved = stripe(&forwarder).save_customer(&customer(Some("cus_1"), Some(&details))).await;
    assert_eq!(saved.expect("saved"), "cus_1");
    let last = forwarder.requests().pop().expect("requests");
    assert_eq!(
        (last.method, last.url.path()),
        (Method::DELETE, "/v1/customers/cus_1/tax_ids/txi_1")
    );
}

#[tokio::test(start_paused = true)]
async fn a_deleted_customer_is_made_again() {
    let missing = r#"{"error":{"code":"resource_missing","param":"id","message":"No such"}}"#;
    for gone in [json(404, missing), json(200, r#"{"id":"cus_1","deleted":true}"#)] {
        let forwarder = ScriptedForwarder::new();
        forwarder.script(&format!("{CUSTOMERS}/cus_1"), [gone]);
        forwarder.script(CUSTOMERS, [json(200, r#"{"id":"cus_2"}"#)]);
        let saved = stripe(&forwarder).save_customer(&customer(Some("cus_1"), None)).await;
        assert_eq!(saved.expect("made"), "cus_2");
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_carry_what_is_needed_to_find_the_account_again() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script(SESSIONS, [json(200, r#"{"id":"cs_1","url":"https://pay.test/1"}"#)]);
    let stripe = stripe(&forwarder);
    let items = [PlanItem {
        price_id: "price_2".to_owned(),
        quantity: 0,
        description: "seats".to_owned(),
        metadata: [("team".to_owned(), "a&b".to_owned())].into(),
    }];
    let account = AccountId::generate();
    let checkout = Checkout {
        account,
        customer_id: "cus_1",
        price: "price_1",
        items: &items,
        replaces: Some("sub_0"),
    };
    let started = stripe.start_subscription(&checkout).await.expect("started");
    assert_eq!((&*started.session_id, &*started.publishable_key), ("cs_1", "pk_test_shown"));
    assert_eq!(started.url.as_deref(), Some("https://pay.test/1"));
    assert_eq!(stripe.start_setup(account, "cus_1").await.expect("started"), started);
    let first = form(&forwarder, 0);
    for (key, expected) in [
        ("mode", "subscription"),
        ("customer", "cus_1"),
        ("client_reference_id", &*account.to_string()),
        ("line_items[0][price]", "price_1"),
        ("line_items[1][price]", "price_2"),
        ("line_items[1][quantity]", "1"),
        ("subscription_data[metadata][account_id]", &*account.to_string()),
        ("subscription_data[metadata][replaces]", "sub_0"),
        ("subscription_data[metadata][item0.description]", "seats"),
        ("subscription_data[metadata][item0.team]", "a&b"),
        ("success_url", "https://shop.test/thanks?a=b"),
    ] {
        assert_eq!(value(&first, key), expected, "{key}");
    }
    assert_eq!(value(&form(&forwarder, 1), "mode"), "setup");
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_told_apart() {
    let start = |param: &'static str| async move {
        let forwarder = ScriptedForwarder::new();
        let error = serde_json::json!({"error": {"code": "resource_missing", "param": param}});
        let answer = Answer::status(StatusCode::BAD_REQUEST).body(error.to_string());
        forwarder.script(SESSIONS, [answer]);
        let checkout = Checkout {
            account: AccountId::generate(),
            customer_id: "cus_1",
            price: "price_1",
            items: &[],
            replaces: None,
        };
        stripe(&forwarder).start_subscription(&checkout).await.expect_err(param)
    };
    assert!(matches!(start("customer").await, BillingError::NoSuchCustomer));
    let plan = start("line_items[0][price]").await;
    assert!(matches!(plan, BillingError::NoSuchPrice { item: None }), "{plan:?}");
    let item = start("line_items[2][price]").await.into_error();
    assert_eq!(item.to_string(), "optional_items[1].price_id: there is no such price");
    assert_eq!(item.kind(), ErrorKind::NotFound);
    assert!(matches!(start("success_url").await, BillingError::Refused(_)));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_read_in_the_shapes_that_there_are() {
    let read = |body: &'static str| async move {
        let forwarder = ScriptedForwarder::new();
        forwarder.script("https://stripe.test/v1/subscriptions/sub_1", [json(200, body)]);
        stripe(&forwarder).subscription("sub_1").await.expect("it is read").expect("it is there")
    };
    let new = read(
        r#"{"id":"sub_1","customer":"cus_1","status":"active","created":5,
        "items":{"data":[{"price":{"id":"price_1"},"plan":{"id":"x"}},{"price":{"id":"price_2"}}]},
        "metadata":{"account_id":"01890a5d-ac96-774b-bcce-b302099a8057","replaces":"sub_0"}}"#,
    )
    .await;
    assert_eq!(new.subscription.prices, ["price_1", "price_2"]);
    assert_eq!(new.replaces.as_deref(), Some("sub_0"));
    assert!(new.account.is_some());
    let old = read(
        r#"{"id":"sub_1","customer":"cus_1","status":"past_due",
        "items":{"data":[{"plan":{"id":"plan_1"}}]},"metadata":{}}"#,
    )
    .await;
    assert_eq!(old.subscription.prices, ["plan_1"]);
    assert_eq!(old.subscription.status, SubscriptionStatus::PastDue);
    assert_eq!((old.account, old.replaces), (None, None));

    let forwarder = ScriptedForwarder::new();
    forwarder.script("https://stripe.test/v1/subscriptions/sub_1", [json(404, "{}")]);
    assert_eq!(stripe(&forwarder).subscription("sub_1").await.expect("it is read"), None);
    stripe(&forwarder).end_subscription("sub_1").await.expect("it has ended already");
}
