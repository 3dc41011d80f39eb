//! `/v1/billing-details`

use serde_json::{Value, json};

use super::{
    harness::Server,
    sink::Reply,
    stripe::{Shop, refusal, reply},
    token,
};

const PATH: &str = "/v1/billing-details";

fn details() -> Value {
    json!({
        "name": "Jo & Söhne", "email": "jo@example.com", "line1": "Weg 1", "line2": "",
        "city": "Berlin", "state": "", "postal_code": "10115", "country": "DE",
        "tax_id": "DE123456789", "tax_id_type": "eu_vat",
    })
}

fn with(field: &str, value: &str) -> Value {
    let mut details = details();
    details[field] = value.into();
    details
}

#[tokio::test]
async fn details_are_kept_also_without_a_processor() {
    let mut server = Server::start().await;
    server.get(PATH).await.expect_error(404, "billing details not found");
    let put =
        server.request("PUT", PATH).json(&with("customer_id", "cus_of_somebody")).send().await;
    let mut expected = details();
    expected["customer_id"] = "".into();
    assert_eq!(put.expect(200).json(), expected);
    assert_eq!(server.get(PATH).await.expect(200).json(), expected);
    let only = json!({"email": "jo@example.com", "country": "de", "name": null});
    server.request("PUT", PATH).json(&only).send().await.expect(200);
    let read = server.get(PATH).await.expect(200).json();
    assert_eq!((&read["country"], &read["name"]), (&json!("DE"), &json!("")), "PUT replaces");

    assert!(server.terminate().await.success());
    let second = server.account("second").await;
    let server = server.restart().await;
    assert_eq!(server.get(PATH).await.expect(200).json(), read, "over a restart");
    let theirs = server.anonymous("GET", PATH).header("authorization", &format!("Bearer {second}"));
    theirs.send().await.expect_error(404, "billing details not found");
    assert!(!server.log().contains("jo@example.com"), "personal data in the log");
}

#[tokio::test]
async fn every_refusal_names_the_field() {
    let server = Server::start().await;
    let long = "x".repeat(256);
    for (body, said) in [
        (with("email", "jo.example.com"), "email: "),
        (with("email", ""), "email: must not be empty"),
        (with("country", "Germany"), "country: "),
        (with("country", "XX"), "country: "),
        (with("tax_id_type", "vat"), "tax_id_type: "),
        (with("tax_id_type", ""), "tax_id_type: must go with tax_id"),
        (with("tax_id", ""), "tax_id: must go with tax_id_type"),
        (with("name", &long), "name: must be at most 255"),
        (with("city", "a\nb"), "city: "),
        (with("line1", "a\u{0}"), "line1: "),
        (json!({"email": 7}), "email: invalid type"),
        (json!([]), "body: "),
    ] {
        let put = server.request("PUT", PATH).json(&body).send().await;
        put.expect_error(400, said);
    }
    server.get(PATH).await.expect(404);
}

#[tokio::test]
async fn the_account_as_a_whole_is_wanted() {
    let server = Server::start().await;
    for method in ["GET", "PUT"] {
        server.anonymous(method, PATH).json(&details()).send().await.expect_error(401, "");
    }
    server.bucket("b").await;
    let scoped = token(&server, json!({"scopes": {"buckets": ["b"]}})).await;
    for method in ["GET", "PUT"] {
        let request = server.anonymous(method, PATH).header("authorization", &scoped);
        request.json(&details()).send().await.expect_error(403, "not the account");
    }
}

#[tokio::test]
async fn the_processor_gets_what_is_kept() {
    let shop = Shop::open().await;
    let put = shop.send("PUT", PATH, details()).await.expect(200).json();
    assert_eq!(put["customer_id"], "cus_1");
    assert_eq!(shop.server.get(PATH).await.expect(200).json(), put);
    let asked = shop.asked("POST /v1/customers");
    assert_eq!(asked.len(), 1);
    let form = String::from_utf8_lossy(&asked[0].body).into_owned();
    for part in ["email=jo%40example.com", "address%5Bcity%5D=Berlin", "tax_id_data%5B0%5D%5Bvalue"]
    {
        assert!(form.contains(part), "{part} is not in {form}");
    }

    // The second time it is changed, not made again.
    let customer = reply(200, json!({"id": "cus_1"}));
    shop.plays("GET /v1/customers/cus_1", [customer.clone()]);
    shop.plays("POST /v1/customers/cus_1", [customer]);
    let tax_id = json!({"data": [{"id": "txi_1", "type": "eu_vat", "value": "DE123456789"}]});
    shop.plays("GET /v1/customers/cus_1/tax_ids", [reply(200, tax_id)]);
    shop.send("PUT", PATH, with("city", "Bonn")).await.expect(200);
    assert_eq!(shop.asked("POST /v1/customers").len(), 1);
    assert_eq!(shop.asked("POST /v1/customers/cus_1").len(), 1);
    shop.expect_no_key_in_the_log();
}

#[tokio::test]
async fn a_refused_tax_id_is_said_and_nothing_is_kept() {
    let shop = Shop::open().await;
    let said = "Invalid value for eu_vat.";
    let refused = refusal("tax_id_invalid", "tax_id_data[0][value]", said);
    shop.plays("POST /v1/customers", [refused]);
    shop.send("PUT", PATH, details()).await.expect_error(412, said);
    shop.server.get(PATH).await.expect(404);
    assert_eq!(shop.asked("POST /v1/customers").len(), 1, "a refusal is final");
}

#[tokio::test]
async fn a_processor_in_trouble_is_asked_again_with_the_same_key() {
    let shop = Shop::open().await;
    let made = reply(200, json!({"id": "cus_1"}));
    let slow = Reply::Hang(std::time::Duration::from_secs(5));
    shop.plays("POST /v1/customers", [slow, Reply::Status(409), made]);
    shop.send("PUT", PATH, details()).await.expect(200);
    let asked = shop.asked("POST /v1/customers");
    assert_eq!(asked.len(), 3);
    let key = |number: usize| asked[number].head.headers["idempotency-key"].clone();
    assert!(key(0) == key(1) && key(1) == key(2));
    assert!(asked.iter().all(|request| request.body == asked[0].body));
}

#[tokio::test]
async fn a_processor_that_stays_in_trouble_is_a_500_that_says_so() {
    for (status, said) in [(429, "too much to do"), (500, "cannot be reached")] {
        let shop = Shop::open().await;
        shop.plays("POST /v1/customers", [Reply::Status(status)]);
        shop.send("PUT", PATH, details()).await.expect_error(500, said);
        assert_eq!(shop.asked("POST /v1/customers").len(), 3);
        shop.server.get(PATH).await.expect(404);
        shop.expect_no_key_in_the_log();
    }
    let shop = Shop::open().await;
    let message = format!("Invalid API Key provided: {}", super::stripe::SECRET_KEY);
    let error = json!({"error": {"type": "invalid_request_error", "message": message}});
    shop.plays("POST /v1/customers", [reply(401, error)]);
    let answer = shop.send("PUT", PATH, details()).await;
    let text = answer.expect_error(500, "does not accept this server's credentials").text();
    assert!(!text.contains("sk_"), "{text}");
    shop.expect_no_key_in_the_log();
}

#[tokio::test]
async fn options_that_would_show_the_key_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = async |options: &[(&str, &str)]| {
        let mut command = super::harness::command(folder.path());
        let output = command.envs(options.iter().copied()).output().await;
        let output = output.expect("the program starts");
        assert!(!output.status.success(), "{options:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let secret = ("WEBHOOK_STRIPE_SECRET_KEY", "sk_test_secret");
    let text = run(&[secret]).await;
    assert!(text.contains("WEBHOOK_STRIPE_PUBLISHABLE_KEY"), "{text}");
    let text = run(&[secret, ("WEBHOOK_STRIPE_PUBLISHABLE_KEY", "sk_test_secret")]).await;
    assert!(text.contains("must start with pk_") && !text.contains("sk_test"), "{text}");
    let text = run(&[("WEBHOOK_STRIPE_SECRET_KEY", "pk_test_shown")]).await;
    assert!(text.contains("WEBHOOK_STRIPE_SECRET_KEY: must start with sk_"), "{text}");
    for plans in ["/no/such/file", r#"{"plans":[]}"#, r#"{"plans":[{"name":"a","limit":{}}]}"#] {
        let text = run(&[("WEBHOOK_PLANS", plans)]).await;
        assert!(text.contains("--plans"), "{text}");
    }
}
