//! Things to store, and the assertions that all suites share.

use std::{fmt::Debug, future::Future, net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::Serialize;
use serde_json::Value;
use tokio::{sync::Barrier, task::JoinSet};

use webhook_core::{
    AccountId, BucketId, DeliveryId, Error, ErrorKind, ExecutionId, FunctionId, Id, InputId,
    NotificationId, OutputId, Timestamp, WebhookId,
    model::{
        Account, Bucket, BucketSpec, Checks, Cron, Driver, Function, FunctionSpec, Input,
        InputSpec, Notification, NotificationEvent, NotificationSpec, Output, OutputSpec, Request,
        Webhook,
    },
    store::{
        ApplyError, Bounds, Change, Configured, DocumentStore, Find, Refusal, StateChange, Stores,
    },
};

/// Text that a careless encoding, collation or escape would change.
pub(super) const ODD_TEXT: &str = " 'q\"uote\\ %_*?;--\t\r\n\u{1}\u{7f} Größe e\u{301} ß İ 日本語 🦀👩‍👩‍👧 \u{200f}\u{feff}\u{10ffff}\u{fffd} ";

/// The moment at which most cases begin; milliseconds count.
pub(super) const NOW: Timestamp = Timestamp::from_millis(1_760_000_000_123);

/// `secs` seconds after [`NOW`].
pub(super) fn after(secs: u64) -> Timestamp {
    NOW + Duration::from_secs(secs)
}

/// `count` new identifiers in order.
pub(super) fn ids<K>(count: usize) -> Vec<Id<K>> {
    (0..count).map(|_| Id::generate()).collect()
}

/// The same, changed. What the library may add fields to is made this way.
pub(super) fn with<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

/// Each field has another value than the default one in one of `specs`: what the
/// library adds to them is missed here before a store can leave it out.
pub(super) fn expect_every_field<S: Serialize + Default>(specs: &[S]) {
    let fields = |spec: &S| match serde_json::to_value(spec) {
        Ok(Value::Object(fields)) => fields,
        other => panic!("a spec is an object: {other:?}"),
    };
    let (default, specs) = (fields(&S::default()), specs.iter().map(fields).collect::<Vec<_>>());
    for name in specs.iter().flat_map(|spec| spec.keys()) {
        let is_set = specs.iter().any(|spec| spec.get(name) != default.get(name));
        assert!(is_set, "no sample sets {name}");
    }
}

pub(super) fn account(name: &str) -> Account {
    Account { id: AccountId::generate(), name: name.to_owned(), created_at: NOW }
}

pub(super) fn bucket(account: AccountId, name: &str) -> Bucket {
    let spec = BucketSpec::new(name);
    Bucket::new(BucketId::generate(), account, NOW, spec)
}

pub(super) fn input(bucket: BucketId, name: &str) -> Input {
    Input::new(InputId::generate(), bucket, NOW, InputSpec::new(name))
}

pub(super) fn output(bucket: BucketId, name: &str) -> Output {
    let spec = OutputSpec::new(name, "https://example.com/hook");
    Output::new(OutputId::generate(), bucket, NOW, spec)
}

/// A notification of failed deliveries that leads to a bucket.
pub(super) fn notification(bucket: &Bucket) -> Notification {
    let to_bucket = bucket.id.to_string();
    Notification {
        id: NotificationId::generate(),
        account_id: bucket.account_id,
        version: 1,
        created_at: NOW,
        updated_at: NOW,
        last_sent_at: None,
        spec: NotificationSpec::new(&[NotificationEvent::DeliveryFailed], to_bucket),
    }
}

pub(super) fn function(account: AccountId, name: &str) -> Function {
    let payload = "return r".to_owned();
    let spec = FunctionSpec::new(name, Driver::default(), payload);
    Function::new(FunctionId::generate(), account, NOW, spec)
}

/// A request in which every field has something that is easily lost.
pub(super) fn odd_request() -> Request {
    Request {
        method: Method::from_bytes(b"M-SEARCH").expect("the method is a token"),
        extra_path: "/a//b/%2F%00/..;x=ä/🦀".to_owned(),
        raw_query: "a=1&a=2&&%zz=+%20&ä='\"\\".to_owned(),
        headers: odd_headers(),
        body: Bytes::from_iter(0..=u8::MAX),
    }
}

/// Several values of one name in an order that sorting would change, and values of opaque bytes.
pub(super) fn odd_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    let entries: [(&str, &[u8]); 8] = [
        ("x-many", b"second-of-the-alphabet"),
        ("content-type", b"application/json; charset=\"utf-8\""),
        ("x-many", b""),
        ("x-opaque", b"\x80\x81\xfe\xff"),
        ("x-many", b"a first"),
        ("x-many", b"a first"),
        ("x-utf8", "grün 🦀".as_bytes()),
        ("x-tab", b"a\tb"),
    ];
    for (name, value) in entries {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("the name is a token");
        headers.append(name, HeaderValue::from_bytes(value).expect("the value is visible bytes"));
    }
    headers
}

/// A plain webhook with some content.
pub(super) fn webhook(account: AccountId) -> Webhook {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    let request = Request {
        extra_path: "/orders".to_owned(),
        raw_query: "a=b".to_owned(),
        ..Request::new(Method::POST, headers, Bytes::from_static(b"{\"n\":1}"))
    };
    let place = (account, BucketId::generate(), InputId::generate());
    Webhook {
        remote_addr: Some(IpAddr::from([203, 0, 113, 7])),
        ..Webhook::new(WebhookId::generate(), place, request, NOW)
    }
}

/// A webhook in which every field has something that is easily lost.
pub(super) fn odd_webhook(account: AccountId) -> Webhook {
    Webhook {
        request: odd_request(),
        remote_addr: Some("2001:db8::ff00:42:8329".parse().expect("the address is well-formed")),
        secure: true,
        ephemeral: true,
        input_execution_id: Some(ExecutionId::generate()),
        input_failed: true,
        checks: with(Checks::default(), |checks| {
            checks.verified = Some(false);
            checks.event = Some(format!("push{ODD_TEXT}"));
            checks.duplicate_of = Some(DeliveryId::generate());
            checks.hops = 7;
        }),
        received_at: Timestamp::from_millis(4_102_444_800_999),
        ..webhook(account)
    }
}

/// Replaces the version of a configured thing that was read.
pub(super) async fn update<T: Configured>(
    stores: &Stores,
    account: AccountId,
    changed: &T,
    version: u64,
) -> Result<(), Error> {
    Ok(stores.documents.apply(&[Change::update(account, changed, version)?]).await?)
}

/// Changes of several documents in one call, as management operations make them.
#[async_trait::async_trait]
pub(super) trait Together: DocumentStore {
    async fn bucket_owner(&self, id: BucketId) -> Result<Option<AccountId>, Error> {
        let found = self.find(Find::Any(Bucket::key(id.as_uuid()))).await?;
        Ok(found.first().map(|document| document.account_id))
    }

    /// Removes a bucket. Unless `force`, one with an output, or with an input other than
    /// `spare`, is a conflict.
    async fn remove_bucket(
        &self,
        account: AccountId,
        id: BucketId,
        spare: Option<InputId>,
        force: bool,
    ) -> Result<(), Error> {
        let spare = spare.filter(|_| !force);
        let mut changes: Vec<_> =
            spare.map(|id| Change::delete::<Input>(account, id.as_uuid())).into_iter().collect();
        if !force {
            changes.push(Change::Unused(Bucket::key(id.as_uuid())));
        }
        changes.push(Change::delete::<Bucket>(account, id.as_uuid()));
        Ok(self.apply(&changes).await?)
    }

    async fn create_cron(&self, cron: &Cron, bucket: &Bucket) -> Result<(), Error> {
        let mut changes = Change::create_bucket(bucket, Bounds::NONE, Bounds::NONE)?;
        changes.push(Change::create(cron.account_id, cron, Bounds::NONE)?);
        Ok(self.apply(&changes).await?)
    }

    /// Replaces a cron whose next run is `known`; otherwise this answers `false`.
    async fn update_cron(&self, cron: &Cron, known: Option<Timestamp>) -> Result<bool, Error> {
        let (id, next_run) = (cron.id, cron.next_run);
        let schedule = StateChange::Schedule { cron: id, known, next_run };
        let update = Change::update(cron.account_id, cron, cron.version)?;
        match self.apply(&[update, Change::State(schedule)]).await {
            Err(ApplyError::Refused(Refusal::Stale)) => Ok(false),
            done => Ok(done.map(|()| true)?),
        }
    }

    async fn remove_cron(&self, cron: &Cron) -> Result<(), Error> {
        let (account, bucket) = (cron.account_id, cron.bucket_id.as_uuid());
        let delete = Change::delete::<Cron>(account, cron.id.as_uuid());
        Ok(self.apply(&[delete, Change::delete::<Bucket>(account, bucket)]).await?)
    }
}

impl<D: DocumentStore + ?Sized> Together for D {}

/// Changes a state.
pub(super) async fn change_state(stores: &Stores, change: StateChange) -> Result<(), Error> {
    Ok(stores.documents.apply(&[Change::State(change)]).await?)
}

/// Headers whose values are text, as those of configured things.
pub(super) fn text_headers() -> HeaderMap {
    let mut headers = odd_headers();
    headers.remove("x-opaque");
    headers
}

/// Fails unless `result` is an error of kind `kind`.
#[track_caller]
pub(super) fn expect_kind<T: Debug>(result: Result<T, Error>, kind: ErrorKind) {
    match result {
        Ok(value) => panic!("expected an error of kind {kind:?}, got {value:?}"),
        Err(error) => assert_eq!(error.kind(), kind, "the error was {error:?}"),
    }
}

/// Fails unless `result` is a conflict.
#[track_caller]
pub(super) fn expect_conflict<T: Debug>(result: Result<T, Error>) {
    expect_kind(result, ErrorKind::Conflict);
}

/// Fails unless `result` is "not found".
#[track_caller]
pub(super) fn expect_not_found<T: Debug>(result: Result<T, Error>) {
    expect_kind(result, ErrorKind::NotFound);
}

/// Fails unless exactly one of `results` is a success and all others are errors of kind `loss`.
#[track_caller]
pub(super) fn expect_one_winner<T: Debug>(results: Vec<Result<T, Error>>, loss: ErrorKind) {
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1, "exactly one succeeds; won: {won:?}, lost: {lost:?}");
    for result in lost {
        expect_kind(result, loss);
    }
}

/// Starts `count` tasks at one moment; their results, in the order of their numbers.
pub(super) async fn race<T, F>(count: usize, task: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(count));
    let mut tasks = JoinSet::new();
    for number in 0..count {
        let (barrier, work) = (barrier.clone(), task(number));
        tasks.spawn(async move {
            barrier.wait().await;
            (number, work.await)
        });
    }
    let mut results = tasks.join_all().await;
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
