//! Billing against PyPI's `localstripe`, a stand-in for Stripe that is not
//! ours: when `TEST_LOCALSTRIPE` names a Python that has it (`.ci/localstripe`
//! installs one).
//!
//! It has customers, tax IDs, subscriptions and signed events. It has neither
//! prices nor checkout sessions, which the scripted tests show.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use super::{
    harness::{Client, PATIENCE, Server},
    stripe::{PLANS, WEBHOOK_SECRET},
};

struct LocalStripe {
    base: String,
    client: Client,
    _child: Child,
}

impl LocalStripe {
    #[allow(
        clippy::disallowed_methods,
        reason = "what a test needs from outside comes in variables"
    )]
    async fn start() -> Option<Self> {
        let Ok(python) = std::env::var("TEST_LOCALSTRIPE") else {
            println!("skipped: TEST_LOCALSTRIPE is not set");
            return None;
        };
        let free = std::net::TcpListener::bind("[::]:0").expect("a free port");
        let port = free.local_addr().expect("bound").port().to_string();
        drop(free);
        let mut child = Command::new(python)
            .args(["-m", "localstripe", "--from-scratch", "--port", &port])
            .env("PYTHONUNBUFFERED", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("localstripe starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let listening = async {
            while let Ok(Some(line)) = lines.next_line().await {
                if line.contains("Running on") {
                    return true;
                }
            }
            false
        };
        assert!(timeout(PATIENCE, listening).await.expect("in time"), "localstripe ended");
        // It would end with its standard output.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let base = format!("http://127.0.0.1:{port}");
        Some(Self { base, client: Client::default(), _child: child })
    }

    async fn ask(&self, method: &str, path: &str, body: Value) -> Value {
        let url = format!("{}{path}", self.base);
        let request = self.client.request(method, &url).header("authorization", "Bearer sk_test_x");
        let answer = match body {
            Value::Null => request.send().await,
            body => request.header("content-type", "application/json").json(&body).send().await,
        };
        let answer = answer.expect(200);
        serde_json::from_slice(&answer.body).unwrap_or_default()
    }
}

const PATH: &str = "/v1/billing-details";

fn details(tax_id: &str) -> Value {
    json!({
        "name": "Jo & Söhne", "email": "jo@example.com", "line1": "Weg 1", "city": "Berlin",
        "postal_code": "10115", "country": "DE", "tax_id": tax_id, "tax_id_type": "eu_vat",
    })
}

#[tokio::test]
async fn customers_subscriptions_and_events() {
    let Some(stripe) = LocalStripe::start().await else { return };
    let server = Server::start_with(&[
        ("WEBHOOK_STRIPE_SECRET_KEY", "sk_test_localstripe"),
        ("WEBHOOK_STRIPE_PUBLISHABLE_KEY", "pk_test_localstripe"),
        ("WEBHOOK_STRIPE_WEBHOOK_SECRET", WEBHOOK_SECRET),
        ("WEBHOOK_STRIPE_API_BASE", &stripe.base),
        ("WEBHOOK_PLANS", PLANS),
    ])
    .await;
    let put = async |details: Value| server.request("PUT", PATH).json(&details).send().await;

    // A customer, with its address and tax ID.
    put(details("DE1")).await.expect_error(412, "the payment processor refuses this");
    server.get(PATH).await.expect(404);
    let customer = put(details("DE123456789")).await.expect(200).json();
    let id = customer["customer_id"].as_str().expect("an id").to_owned();
    let at_stripe = stripe.ask("GET", &format!("/v1/customers/{id}"), Value::Null).await;
    assert_eq!(at_stripe["email"], "jo@example.com");
    assert_eq!(at_stripe["name"], "Jo & Söhne");
    assert_eq!(at_stripe["address"]["city"], "Berlin");
    let account = server.get("/v1/usage").await.json()["usage"]["account_id"].clone();
    assert_eq!(at_stripe["metadata"]["account_id"], account);

    // Changed, with another tax ID in place of the former.
    put(details("DE1")).await.expect_error(412, "refuses");
    let changed = put(details("DE987654321")).await.expect(200).json();
    assert_eq!(changed["customer_id"], customer["customer_id"]);
    let path = format!("/v1/customers/{id}/tax_ids");
    let tax_ids = stripe.ask("GET", &path, Value::Null).await;
    assert_eq!(tax_ids["data"].as_array().map(Vec::len), Some(1));
    assert_eq!(tax_ids["data"][0]["value"], "DE987654321");

    // A subscription, of which an event tells.
    let hook = format!("{}/v1/stripe/webhook", server.base);
    let config = json!({"url": hook, "secret": WEBHOOK_SECRET});
    stripe.ask("POST", "/_config/webhooks/ours", config).await;
    let plan = json!({
        "id": "price_pro", "amount": 0, "currency": "eur", "interval": "month",
        "product": {"name": "Pro"},
    });
    stripe.ask("POST", "/v1/plans", plan).await;
    let new = json!({"customer": id, "items": [{"plan": "price_pro"}]});
    let subscription = stripe.ask("POST", "/v1/subscriptions", new).await;
    assert_eq!(subscription["status"], "active");
    becomes(&server, "pro").await;
    let change = json!({"plan_id": "price_pro"});
    let again = server.request("POST", "/v1/checkout").json(&change).send().await;
    again.expect_error(412, "plan_id: the account is subscribed to it already");

    // Its end.
    let path = format!("/v1/subscriptions/{}", subscription["id"].as_str().expect("an id"));
    stripe.ask("DELETE", &path, Value::Null).await;
    becomes(&server, "free").await;
    assert!(!server.log().contains("sk_test_localstripe"), "the key is in the log");
}

/// Waits for the plan: localstripe reports a second late.
async fn becomes(server: &Server, plan: &str) {
    let changed = async {
        while server.get("/v1/usage").await.expect(200).json()["plan_meta"]["name"] != plan {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    assert!(timeout(PATIENCE, changed).await.is_ok(), "the plan never becomes {plan}");
}
