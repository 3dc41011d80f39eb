//! Handshakes that ask for something before they are answered.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::*;
use crate::{
    model::{Extension, Secret, SecretSpec},
    store::{ApplyError, Document, DocumentKey, DocumentKind, DocumentStore, Find},
};

/// What Amazon SNS signs: two notifications, and the message that confirms a subscription.
const SNS: &str = include_str!("../../../signatures/tests/vectors/aws_sns.json");

async fn world(signature: Value) -> World {
    let input = serde_json::from_value(json!({"signature": signature})).expect("a spec");
    World::with(BucketSpec::default(), input, RelayOptions::default()).await
}

/// An input that takes this webhook of Amazon SNS, with its topic.
async fn sns(webhook: &Value) -> World {
    world(json!({"provider": "aws_sns", "parameters": webhook["parameters"]})).await
}

/// The webhooks of this type, whose certificates `World::serve_key` serves.
fn sns_of(kind: &str) -> Vec<Value> {
    let mut all: Vec<Value> = serde_json::from_str(SNS).expect("JSON");
    all.retain(|webhook| payload(webhook)["Type"] == kind);
    assert!(!all.is_empty(), "{kind}");
    all
}

fn payload(webhook: &Value) -> Value {
    serde_json::from_str(text(&webhook["body"])).expect("JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

impl World {
    fn serve_key(&self, webhook: &Value) -> String {
        let key = &webhook["keys"][0];
        let document = text(&key["document"]).to_owned();
        self.forwarder.script(text(&key["url"]), [Answer::ok().body(document)]);
        text(&key["url"]).to_owned()
    }

    async fn hook_secret(&self, secret: &str) -> Response<Bytes> {
        let request = http::Request::post(self.address()).header("x-hook-secret", secret);
        self.send(request, "").await
    }

    async fn post_asana(&self, secret: &str) -> u16 {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        let signature = ring::hmac::sign(&key, b"{}");
        let signature: String = signature.as_ref().iter().map(|b| format!("{b:02x}")).collect();
        let request = http::Request::post(self.address()).header("x-hook-signature", signature);
        self.send(request, "{}").await.status().as_u16()
    }

    async fn secrets(&self) -> Vec<String> {
        let (account, bucket) = (self.bucket.account_id, self.bucket.id);
        let input = self.stores.documents.input(account, bucket, self.input).await;
        let input = input.expect("readable").expect("an input");
        let spec = input.spec.signature.set().expect("a signature").clone();
        spec.secrets.iter().map(|secret| secret.secret.expose().to_owned()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn webhooks_of_one_key_fetch_it_once() {
    let notifications = sns_of("Notification");
    let world = sns(&notifications[0]).await;
    let key = world.serve_key(&notifications[0]);
    for _ in 0..2 {
        for notification in &notifications {
            assert_eq!(world.post(text(&notification["body"])).await.status(), 200);
        }
    }
    assert_eq!(world.forwarder.requests_to(&key).len(), 1);
    assert_eq!(world.forwarder.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_cannot_be_fetched_verifies_nothing() {
    let notification = sns_of("Notification").swap_remove(0);
    let world = sns(&notification).await;
    let key = world.serve_key(&notification);
    world.forwarder.script(&key, [Answer::connection_refused()]);
    for _ in 0..2 {
        let answer = world.post(text(&notification["body"])).await;
        let said = (answer.status().as_u16(), &answer.body()[..]);
        assert_eq!(said, (401, &b"signature: key unavailable"[..]));
    }
    assert_eq!(world.forwarder.requests_to(&key).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_confirmed_when_its_message_is_verified() {
    let confirmation = sns_of("SubscriptionConfirmation").swap_remove(0);
    let world = sns(&confirmation).await;
    world.serve_key(&confirmation);
    let body = text(&confirmation["body"]);
    let url = text(&payload(&confirmation)["SubscribeURL"]).to_owned();

    let forged = world.post(&body.replace("Token=", "Token=1")).await;
    assert_eq!(forged.status(), 401);
    assert!(world.forwarder.requests_to(&url).is_empty());

    world.forwarder.script(&url, [Answer::status(StatusCode::FORBIDDEN), Answer::ok()]);
    let refused = world.post(body).await;
    assert_eq!(refused.status(), 503, "SNS comes again");
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(world.post(body).await.status(), 200);
    let asked = world.forwarder.requests_to(&url);
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|request| request.method == Method::GET && request.body.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn the_first_secret_that_is_handed_over_is_kept() {
    let world = world(json!({"provider": "asana"})).await;
    assert_eq!(world.post_asana("first").await, 401, "there is no secret yet");
    let answer = world.hook_secret("first").await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["x-hook-secret"]),
        (200, &"first".parse().expect("a value"))
    );
    assert_eq!(world.secrets().await, ["first"]);
    assert_eq!(world.post_asana("first").await, 200);

    let second = world.hook_secret("second").await;
    assert_eq!(second.status(), 401);
    assert!(!second.headers().contains_key("x-hook-secret"));
    assert_eq!(world.secrets().await, ["first"]);
    assert_eq!(world.post_asana("second").await, 401);
    assert_eq!(world.post_asana("first").await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_handshake_is_answered_while_every_output_is_disabled() {
    let mut world = world(json!({"provider": "asana"})).await;
    for name in ["one", "two"] {
        let destination = HOOK.to_owned();
        world
            .output(OutputSpec {
                name: name.to_owned(),
                destination,
                disabled: true,
                ..OutputSpec::default()
            })
            .await;
    }
    world.deliver().await;
    let answer = world.hook_secret("first").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["x-hook-secret"], "first");
    world.stop().await;
    assert!(world.forwarder.requests().is_empty());
    let query = crate::store::LogQuery::new(1);
    let page = world.stores.logs.logs(world.bucket.account_id, &query).await.expect("a page");
    assert_eq!(page.total, 0, "a handshake leaves no log");
}

/// A store that changes an input itself, just before it applies an update of that input.
#[derive(Debug)]
struct Raced {
    inner: Arc<dyn DocumentStore>,
    change: fn(&mut Input),
    /// How often it still does that.
    left: AtomicUsize,
}

#[async_trait]
impl DocumentStore for Raced {
    async fn find(&self, find: Find) -> Result<Vec<Document>, Error> {
        self.inner.find(find).await
    }

    async fn apply(&self, changes: &[Change]) -> Result<(), ApplyError> {
        let left =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if let ([Change::Update { document, .. }], Ok(_)) = (changes, left) {
            let account = document.account_id;
            let input = self.inner.get::<Input>(account, document.key.id).await?;
            let mut input = input.expect("it is there");
            (self.change)(&mut input);
            self.inner.update_input(account, &input).await?;
        }
        self.inner.apply(changes).await
    }

    async fn counts(&self, account: AccountId) -> Result<Vec<(DocumentKind, u64)>, Error> {
        self.inner.counts(account).await
    }

    async fn history(&self, account: AccountId, key: DocumentKey) -> Result<Vec<Document>, Error> {
        self.inner.history(account, key).await
    }
}

/// A world with an input that takes a secret. Each of the first `times` updates finds another
/// version.
async fn raced(times: usize, change: fn(&mut Input)) -> World {
    let mut world = world(json!({"provider": "asana"})).await;
    let inner = world.stores.documents.clone();
    let raced = Raced { inner, change, left: AtomicUsize::new(times) };
    world.relay = Webhooks::builder(world.stores.clone().with_documents(Arc::new(raced)))
        .forwarder(world.forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .build()
        .relay()
        .clone();
    world
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_kept_beside_what_somebody_changes_at_the_same_time() {
    let rename = |input: &mut Input| input.spec.name.push('x');
    let world = raced(2, rename).await;
    let answer = world.hook_secret("first").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["x-hook-secret"], "first");
    assert_eq!(world.secrets().await, ["first"]);
    let (account, bucket) = (world.bucket.account_id, world.bucket.id);
    let input = world.stores.documents.input(account, bucket, world.input).await;
    let input = input.expect("readable").expect("an input");
    assert_eq!((input.spec.name.as_str(), input.version), ("xx", 4));

    // The input changes again and again: the sender has to repeat its request.
    let world = raced(usize::MAX, rename).await;
    let answer = world.hook_secret("first").await;
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.headers()["retry-after"], "1");
    assert!(world.secrets().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn of_two_secrets_that_are_handed_over_at_once_the_first_one_is_kept() {
    let world = raced(1, |input| {
        let Extension::Set(spec) = &mut input.spec.signature else { panic!("a signature") };
        let secret = Secret::new("other");
        spec.secrets.push(SecretSpec { secret, expires_at: Timestamp::default() });
    })
    .await;
    let answer = world.hook_secret("first").await;
    assert_eq!(answer.status(), 503);
    assert!(!answer.headers().contains_key("x-hook-secret"));
    assert_eq!(world.secrets().await, ["other"]);
}
