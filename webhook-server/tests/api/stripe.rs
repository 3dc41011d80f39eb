//! A server on a free port that answers as Stripe does, or as it does not.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::Response;
use serde_json::{Value, json};

use super::{
    harness::{Answer, Server},
    sink::{Arrived, Reply, Sink},
};

pub(crate) const SECRET_KEY: &str = "sk_test_4eC39HqLyjWDarjtT1zdp7dc";
pub(crate) const WEBHOOK_SECRET: &str = "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH";

/// Replies by method and path, in order; the last one is repeated.
type Script = Arc<Mutex<HashMap<String, Vec<Reply>>>>;

/// A scripted Stripe, and a server that bills through it.
pub(crate) struct Shop {
    pub(crate) server: Server,
    pub(crate) stripe: Sink,
    script: Script,
}

/// An answer with this status and this JSON.
pub(crate) fn reply(status: u16, body: Value) -> Reply {
    let response = Response::builder().status(status).body(Bytes::from(body.to_string()));
    Reply::With(response.expect("a response"))
}

/// A refusal in Stripe's words.
pub(crate) fn refusal(code: &str, param: &str, message: &str) -> Reply {
    let kind = "invalid_request_error";
    let error = json!({"type": kind, "code": code, "param": param, "message": message});
    reply(400, json!({ "error": error }))
}

pub(crate) const PLANS: &str = r#"{"default": "free", "plans": [
    {"name": "free", "limits": {"outputs": 1, "inputs": 2, "buckets": 2, "tokens": 1,
        "agents": 1, "webhooks": 3, "reserved_domains": "none"}},
    {"name": "pro", "price": "price_pro", "limits": {"outputs": 3}},
    {"name": "team", "price": "price_team"}
]}"#;

impl Shop {
    pub(crate) async fn open() -> Self {
        Self::open_with(&[]).await
    }

    pub(crate) async fn open_with(options: &[(&str, &str)]) -> Self {
        let script = Script::default();
        let played = Arc::clone(&script);
        let stripe = Sink::answering(move |arrived: &Arrived| {
            let key = format!("{} {}", arrived.head.method, arrived.head.uri.path());
            let mut script = played.lock().unwrap_or_else(PoisonError::into_inner);
            match script.get_mut(&key) {
                Some(replies) if replies.len() > 1 => replies.remove(0),
                Some(replies) => replies.first().cloned().expect("a reply"),
                None => reply(404, json!({"error": {"message": format!("no {key}")}})),
            }
        })
        .await;
        let mut all = vec![
            ("WEBHOOK_STRIPE_SECRET_KEY", SECRET_KEY),
            ("WEBHOOK_STRIPE_PUBLISHABLE_KEY", "pk_test_shown"),
            ("WEBHOOK_STRIPE_WEBHOOK_SECRET", WEBHOOK_SECRET),
            ("WEBHOOK_STRIPE_API_BASE", &stripe.base),
            ("WEBHOOK_STRIPE_TIMEOUT", "500ms"),
            ("WEBHOOK_PLANS", PLANS),
        ];
        all.extend(options);
        let server = Server::start_with(&all).await;
        let shop = Self { server, stripe, script };
        shop.plays("POST /v1/customers", [reply(200, json!({"id": "cus_1"}))]);
        shop
    }

    /// Says what this method and path answer from now on.
    pub(crate) fn plays(&self, key: &str, replies: impl IntoIterator<Item = Reply>) {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.insert(key.to_owned(), replies.into_iter().collect());
    }

    /// The requests so far with this method and path.
    pub(crate) fn asked(&self, key: &str) -> Vec<Arrived> {
        let of = |arrived: &Arrived| {
            format!("{} {}", arrived.head.method, arrived.head.uri.path()) == key
        };
        self.stripe.so_far().into_iter().filter(of).collect()
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> Answer {
        self.server.request(method, path).json(&body).send().await
    }

    /// A subscription at Stripe, and the event that tells of it.
    pub(crate) async fn subscribed(&self, subscription: Value, event: &str) -> Answer {
        let id = subscription["id"].as_str().expect("an id").to_owned();
        self.plays(&format!("GET /v1/subscriptions/{id}"), [reply(200, subscription)]);
        self.event(event, "customer.subscription.updated", json!({ "id": id })).await
    }

    /// Sends a signed event.
    pub(crate) async fn event(&self, id: &str, kind: &str, object: Value) -> Answer {
        let event = json!({"id": id, "type": kind, "data": {"object": object}});
        signed(&self.server, &event.to_string()).await
    }

    pub(crate) async fn plan(&self) -> String {
        let usage = self.server.get("/v1/usage").await.expect(200).json();
        usage["plan_meta"]["name"].as_str().expect("a plan has a name").to_owned()
    }

    /// Fails when the secret key is in the log.
    pub(crate) fn expect_no_key_in_the_log(&self) {
        let log = self.server.log();
        for secret in [SECRET_KEY, WEBHOOK_SECRET, &SECRET_KEY[8..], &WEBHOOK_SECRET[6..]] {
            assert!(!log.contains(secret), "the log has {secret}");
        }
    }
}

/// A subscription in Stripe's shape.
pub(crate) fn subscription(id: &str, status: &str, price: &str, created: u64) -> Value {
    json!({"id": id, "customer": "cus_1", "status": status, "created": created,
        "items": {"data": [{"price": {"id": price}}]}, "metadata": {}})
}

/// Sends a body signed with the webhook secret, just now.
#[allow(
    clippy::disallowed_methods,
    reason = "the payment processor signs with the time of its machine"
)]
pub(crate) async fn signed(server: &Server, body: &str) -> Answer {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let time = now.unwrap_or(Duration::ZERO).as_secs();
    let request = server.anonymous("POST", "/v1/stripe/webhook").body(body.to_owned());
    request.header("stripe-signature", &signature(WEBHOOK_SECRET, time, body)).send().await
}

pub(crate) fn signature(secret: &str, time: u64, body: &str) -> String {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
    let tag = ring::hmac::sign(&key, format!("{time}.{body}").as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={time},v1={hex}")
}
