//! Things to store, and the assertions that all suites share.

use std::{fmt::Debug, future::Future, net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::Serialize;
use serde_json::Value;
use tokio::{sync::Barrier, task::JoinSet};

use webhook_core::{
    AccountId, BucketId, DeliveryId, Error, ErrorKind, ExecutionId, FunctionId, Id, InputId,
    OutputId, Timestamp, WebhookId,
    model::{
        Account, Bucket, BucketSpec, Checks, Driver, Function, FunctionSpec, Input, InputSpec,
        Output, OutputSpec, Request, Webhook,
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
    Input {
        id: InputId::generate(),
        bucket_id: bucket,
        created_at: NOW,
        updated_at: NOW,
        created_by: String::new(),
        spec: InputSpec::new(name),
    }
}

pub(super) fn output(bucket: BucketId, name: &str) -> Output {
    let spec = OutputSpec::new(name, "https://example.com/hook");
    Output::new(OutputId::generate(), bucket, NOW, spec)
}

pub(super) fn function(account: AccountId, name: &str) -> Function {
    let payload = "return r".to_owned();
    Function {
        id: FunctionId::generate(),
        account_id: account,
        payload_size: payload.len(),
        created: NOW,
        updated: NOW,
        spec: FunctionSpec::new(name, Driver::default(), payload),
    }
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
    Webhook {
        id: WebhookId::generate(),
        account_id: account,
        bucket_id: BucketId::generate(),
        input_id: InputId::generate(),
        request: Request {
            method: Method::POST,
            extra_path: "/orders".to_owned(),
            raw_query: "a=b".to_owned(),
            headers,
            body: Bytes::from_static(b"{\"n\":1}"),
        },
        remote_addr: Some(IpAddr::from([203, 0, 113, 7])),
        secure: false,
        ephemeral: false,
        input_execution_id: None,
        input_failed: false,
        checks: Default::default(),
        received_at: NOW,
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
