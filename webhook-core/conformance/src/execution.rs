//! Cases for the runs of functions in a [`FunctionStore`](webhook_core::store::FunctionStore).

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use http::HeaderValue;
use webhook_core::{
    AccountId, ExecutionId, Timestamp,
    function::record::{Given, KeptBody, KeptResponse, Left, RunRecord},
    model::{Checks, ExecutionStatus, Function, Request, Webhook},
    store::{ExecutionPage, Stores},
};

use super::{
    function::stored,
    sample::{NOW, ODD_TEXT, after, ids, odd_webhook, race, webhook},
};

/// A run that was given this webhook, and left what is in none of its fields.
pub(super) fn execution(function: &Function, id: ExecutionId) -> RunRecord {
    let given = given(&webhook(function.account_id));
    RunRecord {
        id,
        function_id: function.id,
        account_id: function.account_id,
        created: NOW,
        updated: NOW,
        duration: Duration::from_micros(17),
        status: ExecutionStatus::Success,
        stands_for: 1,
        given,
        left: Left::default(),
    }
}

fn given(webhook: &Webhook) -> Given {
    let Request { method, extra_path, raw_query, headers, body } = webhook.request.clone();
    Given {
        method,
        extra_path,
        raw_query,
        headers,
        body: KeptBody { bytes: body, truncated: false },
        metadata: BTreeMap::new(),
        checks: Checks::default(),
        response: None,
    }
}

/// A run in which every part has something that is easily lost.
fn odd(run: RunRecord) -> RunRecord {
    let of_webhook = odd_webhook(run.account_id);
    let body = KeptBody { bytes: Bytes::from_static(b"\0\xff\r\n"), truncated: true };
    let mut headers = of_webhook.request.headers.clone();
    let response = KeptResponse { status: 599, headers: headers.clone(), body: body.clone() };
    let given = Given {
        body: body.clone(),
        metadata: [ODD_TEXT, "a"].map(|text| (text.to_owned(), ODD_TEXT.to_owned())).into(),
        checks: of_webhook.checks.clone(),
        response: Some(response.clone()),
        ..given(&of_webhook)
    };
    let first = headers.keys().next().cloned().expect("it has headers");
    headers.remove(first);
    for value in [&b"a"[..], b"", b"\xe4 b\t"] {
        headers.append("x-left", HeaderValue::from_bytes(value).expect("a value"));
    }
    let left = Left {
        method: Some("PURGE".parse().expect("a token")),
        extra_path: Some(ODD_TEXT.to_owned()),
        raw_query: Some(String::new()),
        headers: Some(headers),
        body: Some(KeptBody { truncated: false, ..body }),
        response: Some(response),
        response_modified: true,
        stop_forwarding: true,
        error: ODD_TEXT.repeat(2_000),
        logs: vec![String::new(), ODD_TEXT.to_owned()],
    };
    RunRecord { stands_for: 100, given, left, ..run }
}

async fn record(stores: &Stores, execution: &RunRecord, keep: usize) {
    let recorded = stores.functions.record_execution(execution, keep).await;
    recorded.expect("the run can be recorded");
}

async fn page(stores: &Stores, function: &Function, limit: usize, offset: usize) -> ExecutionPage {
    let page = stores.functions.executions(function.account_id, function.id, limit, offset).await;
    page.expect("runs can be listed")
}

pub(super) async fn kept(stores: &Stores, function: &Function) -> Vec<ExecutionId> {
    let page = page(stores, function, 1_000, 0).await;
    assert_eq!(page.total, page.executions.len(), "the page holds all runs");
    page.executions.iter().map(|execution| execution.id).collect()
}

/// Runs of `function` one after another, a second apart; their identifiers, newest first.
pub(super) async fn recorded(
    stores: &Stores,
    function: &Function,
    count: usize,
    keep: usize,
) -> Vec<ExecutionId> {
    let mut ids = ids(count);
    for (&id, second) in ids.iter().zip(0..) {
        let created = after(second);
        let run = RunRecord { created, updated: created, ..execution(function, id) };
        record(stores, &run, keep).await;
    }
    ids.reverse();
    ids
}

/// Every field survives, with odd text and bytes, nanoseconds and milliseconds, as it is shown.
pub async fn every_field_of_an_execution_round_trips(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let outcomes = [
        (ExecutionStatus::None, Duration::ZERO),
        (ExecutionStatus::Success, Duration::from_nanos(1_234_567_891)),
        (ExecutionStatus::Error, Duration::from_nanos(i64::MAX.unsigned_abs())),
    ];
    for (status, duration) in outcomes {
        let plain = execution(&function, ExecutionId::generate());
        for run in [odd(RunRecord { id: ExecutionId::generate(), ..plain.clone() }), plain] {
            let run = RunRecord {
                created: Timestamp::from_millis(1),
                updated: Timestamp::from_millis(4_102_444_800_999),
                duration,
                status,
                ..run
            };
            record(stores, &run, 9).await;
            let read = stores.functions.execution(function.account_id, run.id).await;
            assert_eq!(read.expect("the run can be read"), Some(run.execution()));
            let listed = page(stores, &function, 9, 0).await.executions;
            assert!(listed.contains(&run.execution()), "{listed:?}");
        }
    }
}

/// Of a function's runs the newest `keep` stay, by the limit of the last call.
pub async fn record_execution_keeps_the_newest(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let ids = recorded(stores, &function, 7, 3).await;
    assert_eq!(kept(stores, &function).await, ids[..3]);
    for id in &ids[3..] {
        let gone = stores.functions.execution(function.account_id, *id).await;
        assert_eq!(gone.expect("reading works"), None);
    }
    // What went is forgotten: its ID can be recorded again, as the oldest it goes at once.
    record(stores, &execution(&function, ids[6]), 3).await;
    assert_eq!(kept(stores, &function).await, ids[..3]);
    let run = RunRecord { created: after(100), ..execution(&function, ExecutionId::generate()) };
    record(stores, &run, 2).await;
    assert_eq!(kept(stores, &function).await, [run.id, ids[0]]);
    let run_later =
        RunRecord { created: after(101), ..execution(&function, ExecutionId::generate()) };
    record(stores, &run_later, usize::MAX).await;
    assert_eq!(kept(stores, &function).await, [run_later.id, run.id, ids[0]]);
}

/// A limit of zero keeps nothing.
pub async fn record_execution_can_keep_none(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    recorded(stores, &function, 2, 9).await;
    recorded(stores, &function, 1, 0).await;
    assert_eq!(kept(stores, &function).await, []);
}

/// The runs of one function push out none of another.
pub async fn executions_of_functions_are_kept_apart(stores: &Stores) {
    let account = AccountId::generate();
    let (first, second) = (stored(stores, account, "a").await, stored(stores, account, "b").await);
    let of_first = recorded(stores, &first, 3, 3).await;
    let of_second = recorded(stores, &second, 5, 3).await;
    assert_eq!(kept(stores, &first).await, of_first);
    assert_eq!(kept(stores, &second).await, of_second[..3]);
}

/// Pages do not overlap, leave out nothing, and tell how many runs there are in all.
pub async fn executions_are_paged_newest_first(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let ids = recorded(stores, &function, 7, 9).await;
    let mut seen = Vec::new();
    for (offset, length) in [(0, 3), (3, 3), (6, 1), (9, 0)] {
        let page = page(stores, &function, 3, offset).await;
        assert_eq!((page.executions.len(), page.total), (length, 7), "at offset {offset}");
        seen.extend(page.executions.iter().map(|execution| execution.id));
    }
    assert_eq!(seen, ids);
}

/// No limit or offset is too small or too great.
pub async fn execution_pages_take_any_limit_and_offset(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    recorded(stores, &function, 3, 9).await;
    for (limit, offset, length) in [
        (0, 0, 0),
        (usize::MAX, 0, 3),
        (usize::MAX, 2, 1),
        (1, usize::MAX, 0),
        (usize::MAX, usize::MAX, 0),
    ] {
        let page = page(stores, &function, limit, offset).await;
        let found = (page.executions.len(), page.total);
        assert_eq!(found, (length, 3), "with limit {limit} at offset {offset}");
    }
}

/// An account sees runs of its own functions only.
pub async fn executions_of_another_account_are_absent(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let other = AccountId::generate();
    let ids = recorded(stores, &function, 2, 9).await;
    let theirs = stores.functions.execution(other, ids[0]).await.expect("reading works");
    assert_eq!(theirs, None);
    let page = stores.functions.executions(other, function.id, 10, 0).await;
    let empty = ExecutionPage::new(Vec::new(), 0);
    assert_eq!(page.expect("listing works"), empty);
}

/// However many runs end at once, the next one brings their number within the limit.
pub async fn concurrent_executions_end_within_the_limit(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let results = race(16, |_| {
        let store = stores.functions.clone();
        let run = execution(&function, ExecutionId::generate());
        async move { store.record_execution(&run, 4).await }
    })
    .await;
    for result in results {
        result.expect("the run can be recorded");
    }
    let last = RunRecord { created: after(1), ..execution(&function, ExecutionId::generate()) };
    record(stores, &last, 4).await;
    let kept = kept(stores, &function).await;
    assert_eq!((kept.len(), kept[0]), (4, last.id));
}

/// Old runs go, the oldest first, of whatever account, and no more than asked for.
pub async fn purge_executions_removes_the_oldest_first(stores: &Stores) {
    let (one, other) = (AccountId::generate(), AccountId::generate());
    let (one, other) = (stored(stores, one, "f").await, stored(stores, other, "f").await);
    let all = ids(6);
    for (number, &id) in all.iter().enumerate() {
        let function = if number % 2 == 0 { &one } else { &other };
        let created = after(10 * number as u64);
        let run = RunRecord { created, updated: created, ..execution(function, id) };
        record(stores, &run, 9).await;
    }
    let purge = async |before, limit| {
        stores.functions.purge_executions(before, limit).await.expect("old runs can be removed")
    };
    assert_eq!(purge(after(0), 9).await, 0, "the moment itself is not before it");
    assert_eq!(purge(after(25), 2).await, 2);
    assert_eq!(kept(stores, &one).await, [all[4], all[2]]);
    assert_eq!(kept(stores, &other).await, [all[5], all[3]]);
    assert_eq!(purge(after(25), 9).await, 1);
    assert_eq!(purge(after(25), 9).await, 0);
    assert_eq!(kept(stores, &one).await, [all[4]]);
    for (function, id) in [(&one, all[0]), (&other, all[1]), (&one, all[2])] {
        let gone = stores.functions.execution(function.account_id, id).await;
        assert_eq!(gone.expect("reading works"), None);
    }
}
