//! Cases for [`FunctionStore`](crate::store::FunctionStore).

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;

use super::sample::{NOW, ODD_TEXT, after, expect_conflict, expect_not_found, function, ids, race};
use crate::{
    clock::Timestamp,
    id::{AccountId, ExecutionId, FunctionId},
    model::{Driver, Execution, ExecutionStatus, Function, FunctionSpec, Secret, Variable},
    store::{ExecutionPage, Stores},
};

async fn stored(stores: &Stores, account: AccountId, name: &str) -> Function {
    let function = function(account, name);
    stores.functions.create_function(&function).await.expect("the function is new");
    function
}

async fn read(stores: &Stores, account: AccountId, id: FunctionId) -> Option<Function> {
    stores.functions.function(account, id).await.expect("the function can be read")
}

async fn list(stores: &Stores, account: AccountId) -> Vec<Function> {
    stores.functions.functions(account).await.expect("functions can be listed")
}

fn variable(function: &Function, key: &str, value: &str) -> Variable {
    Variable {
        key: key.to_owned(),
        value: Secret::new(value),
        function_id: function.id,
        created_at: NOW,
        updated_at: NOW,
    }
}

async fn put(stores: &Stores, function: &Function, variable: &Variable) {
    let put = stores.functions.put_variable(function.account_id, variable).await;
    put.expect("the function exists");
}

async fn variables(stores: &Stores, account: AccountId, id: FunctionId) -> Vec<Variable> {
    stores.functions.variables(account, id).await.expect("variables can be listed")
}

fn execution(function: &Function, id: ExecutionId) -> Execution {
    Execution {
        id,
        function_id: function.id,
        account_id: function.account_id,
        created: NOW,
        updated: NOW,
        duration: Duration::from_micros(17),
        status: ExecutionStatus::Success,
        execute_request: json!({ "method": "POST" }),
        execute_response: json!({ "error": "" }),
    }
}

async fn record(stores: &Stores, execution: &Execution, keep: usize) {
    let recorded = stores.functions.record_execution(execution, keep).await;
    recorded.expect("the run can be recorded");
}

async fn page(stores: &Stores, function: &Function, limit: usize, offset: usize) -> ExecutionPage {
    let page = stores.functions.executions(function.account_id, function.id, limit, offset).await;
    page.expect("runs can be listed")
}

async fn kept(stores: &Stores, function: &Function) -> Vec<ExecutionId> {
    let page = page(stores, function, 1_000, 0).await;
    assert_eq!(page.total, page.executions.len(), "the page holds all runs");
    page.executions.iter().map(|execution| execution.id).collect()
}

/// Runs of `function` one after another, a second apart; their identifiers, newest first.
async fn recorded(
    stores: &Stores,
    function: &Function,
    count: usize,
    keep: usize,
) -> Vec<ExecutionId> {
    let mut ids = ids(count);
    for (&id, second) in ids.iter().zip(0..) {
        let created = after(second);
        let run = Execution { created, updated: created, ..execution(function, id) };
        record(stores, &run, keep).await;
    }
    ids.reverse();
    ids
}

/// What was created is read back and listed.
pub async fn created_function_is_read_back(stores: &Stores) {
    let account = AccountId::generate();
    let function = stored(stores, account, "f").await;
    assert_eq!(read(stores, account, function.id).await.as_ref(), Some(&function));
    assert_eq!(list(stores, account).await, [function]);
    assert_eq!(read(stores, account, FunctionId::generate()).await, None);
}

/// Every field survives, with odd text, long source and milliseconds.
pub async fn every_field_of_a_function_round_trips(stores: &Stores) {
    let account = AccountId::generate();
    for driver in [Driver::Lua, Driver::Js, Driver::Wasm] {
        let payload = ODD_TEXT.repeat(2_000);
        let metadata =
            ["b", "a", "", ODD_TEXT].map(|key| (key.to_owned(), format!("{key}{ODD_TEXT}")));
        let function = Function {
            payload_size: payload.len(),
            created: Timestamp::from_millis(1),
            updated: Timestamp::from_millis(4_102_444_800_999),
            spec: FunctionSpec {
                name: ODD_TEXT.to_owned(),
                driver,
                payload,
                metadata: BTreeMap::from(metadata),
            },
            ..function(account, "")
        };
        stores.functions.create_function(&function).await.expect("names need not be unique");
        assert_eq!(read(stores, account, function.id).await, Some(function));
    }
}

/// A taken ID is refused, even to its owner, and changes nothing.
pub async fn taken_function_id_is_a_conflict(stores: &Stores) {
    let (owner, other) = (AccountId::generate(), AccountId::generate());
    let first = stored(stores, owner, "a").await;
    for account in [owner, other] {
        let second = Function { id: first.id, ..function(account, "b") };
        expect_conflict(stores.functions.create_function(&second).await);
    }
    assert_eq!(list(stores, owner).await, [first]);
    assert_eq!(list(stores, other).await, []);
}

/// The list is in ID order, whatever the order of creation.
pub async fn functions_are_listed_in_id_order(stores: &Stores) {
    let account = AccountId::generate();
    let functions = ["c", "a", "b", "d"].map(|name| function(account, name));
    for index in [2, 0, 3, 1] {
        stores.functions.create_function(&functions[index]).await.expect("the function is new");
    }
    assert_eq!(list(stores, account).await, functions);
}

/// An account sees, changes and removes its own functions and variables only.
pub async fn functions_of_another_account_are_absent(stores: &Stores) {
    let (owner, other) = (AccountId::generate(), AccountId::generate());
    let function = stored(stores, owner, "f").await;
    let secret = variable(&function, "KEY", "value");
    put(stores, &function, &secret).await;

    assert_eq!(read(stores, other, function.id).await, None);
    assert_eq!(list(stores, other).await, []);
    assert_eq!(variables(stores, other, function.id).await, []);
    let theirs = Function { account_id: other, ..function.clone() };
    expect_not_found(stores.functions.update_function(&theirs).await);
    expect_not_found(stores.functions.delete_function(other, function.id).await);
    let changed = variable(&function, "KEY", "changed");
    expect_not_found(stores.functions.put_variable(other, &changed).await);
    expect_not_found(stores.functions.delete_variable(other, function.id, "KEY").await);

    assert_eq!(variables(stores, owner, function.id).await, [secret]);
    assert_eq!(list(stores, owner).await, [function]);
}

/// An update replaces every field, leaves variables, and a second one leaves nothing of the first.
pub async fn update_replaces_a_function(stores: &Stores) {
    let account = AccountId::generate();
    let plain = stored(stores, account, "f").await;
    let secret = variable(&plain, "KEY", "value");
    put(stores, &plain, &secret).await;
    let odd = Function {
        payload_size: ODD_TEXT.len(),
        updated: NOW + Duration::from_millis(1),
        spec: FunctionSpec {
            name: ODD_TEXT.to_owned(),
            driver: Driver::Js,
            payload: ODD_TEXT.to_owned(),
            metadata: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        },
        ..plain.clone()
    };
    for update in [odd, plain] {
        stores.functions.update_function(&update).await.expect("the function exists");
        assert_eq!(read(stores, account, update.id).await.as_ref(), Some(&update));
        assert_eq!(variables(stores, account, update.id).await, [secret.clone()]);
    }
}

/// What is not there can be neither changed nor removed.
pub async fn update_or_delete_of_no_function_is_not_found(stores: &Stores) {
    let absent = function(AccountId::generate(), "f");
    expect_not_found(stores.functions.update_function(&absent).await);
    expect_not_found(stores.functions.delete_function(absent.account_id, absent.id).await);
    assert_eq!(list(stores, absent.account_id).await, []);
    assert_eq!(variables(stores, absent.account_id, absent.id).await, []);
}

/// Removing a function removes its variables and its runs, and nothing of other functions.
pub async fn delete_function_removes_variables_and_runs(stores: &Stores) {
    let account = AccountId::generate();
    let (gone, stays) = (stored(stores, account, "a").await, stored(stores, account, "b").await);
    for function in [&gone, &stays] {
        put(stores, function, &variable(function, "KEY", "value")).await;
    }
    let lost_runs = recorded(stores, &gone, 2, 9).await;
    let kept_runs = recorded(stores, &stays, 2, 9).await;

    stores.functions.delete_function(account, gone.id).await.expect("the function exists");
    assert_eq!(read(stores, account, gone.id).await, None);
    assert_eq!(variables(stores, account, gone.id).await, []);
    assert_eq!(kept(stores, &gone).await, []);
    for id in lost_runs {
        assert_eq!(stores.functions.execution(account, id).await.expect("reading works"), None);
    }
    expect_not_found(stores.functions.delete_function(account, gone.id).await);

    assert_eq!(kept(stores, &stays).await, kept_runs);
    assert_eq!(variables(stores, account, stays.id).await.len(), 1);
    assert_eq!(list(stores, account).await, [stays]);

    // The same ID again starts without the variables of its former life.
    stores.functions.create_function(&gone).await.expect("the ID is free again");
    assert_eq!(variables(stores, account, gone.id).await, []);
}

/// Variables are listed in the byte order of their keys, whatever the order of creation.
pub async fn variables_are_listed_in_key_order(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let other = stored(stores, function.account_id, "g").await;
    assert_eq!(variables(stores, function.account_id, function.id).await, []);
    let mut sorted = ["A", "B", "_", "a", "a_b", "ab", "z", "ä", "🦀", ODD_TEXT];
    for key in sorted {
        put(stores, &function, &variable(&function, key, &format!("{key}{ODD_TEXT}"))).await;
        put(stores, &other, &variable(&other, key, "of another function")).await;
    }
    sorted.sort_unstable();
    let expected = sorted.map(|key| variable(&function, key, &format!("{key}{ODD_TEXT}")));
    assert_eq!(variables(stores, function.account_id, function.id).await, expected);
}

/// Setting a variable again replaces value and `updated_at`, and keeps `created_at`.
pub async fn put_variable_replaces_and_keeps_its_creation(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let first = Variable { updated_at: after(1), ..variable(&function, "KEY", "old") };
    put(stores, &function, &first).await;
    assert_eq!(variables(stores, function.account_id, function.id).await, [first]);
    let again =
        Variable { created_at: after(50), updated_at: after(60), ..variable(&function, "KEY", "") };
    put(stores, &function, &again).await;
    let expected = Variable { created_at: NOW, ..again };
    assert_eq!(variables(stores, function.account_id, function.id).await, [expected]);
}

/// There is no variable without a function of the account.
pub async fn variable_for_a_missing_function_is_not_found(stores: &Stores) {
    let absent = function(AccountId::generate(), "f");
    let stray = variable(&absent, "KEY", "value");
    expect_not_found(stores.functions.put_variable(absent.account_id, &stray).await);
    stores.functions.create_function(&absent).await.expect("the function is new");
    assert_eq!(variables(stores, absent.account_id, absent.id).await, []);
}

/// A variable is removed once, and others stay.
pub async fn delete_of_no_variable_is_not_found(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let (account, id) = (function.account_id, function.id);
    expect_not_found(stores.functions.delete_variable(account, id, "KEY").await);
    let stays = variable(&function, "key", "stays");
    put(stores, &function, &stays).await;
    put(stores, &function, &variable(&function, "KEY", "goes")).await;
    stores.functions.delete_variable(account, id, "KEY").await.expect("the variable exists");
    expect_not_found(stores.functions.delete_variable(account, id, "KEY").await);
    expect_not_found(
        stores.functions.delete_variable(account, FunctionId::generate(), "key").await,
    );
    assert_eq!(variables(stores, account, id).await, [stays]);
}

/// A variable that is set many times at once is stored once, with one of the values.
pub async fn concurrent_puts_of_a_variable_store_one(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let results = race(8, |number| {
        let (store, account) = (stores.functions.clone(), function.account_id);
        let variable = variable(&function, "KEY", &number.to_string());
        async move { store.put_variable(account, &variable).await }
    })
    .await;
    for result in results {
        result.expect("the function exists");
    }
    let stored = variables(stores, function.account_id, function.id).await;
    assert_eq!(stored.len(), 1);
    let value: usize = stored[0].value.expose().parse().expect("one of the values is stored");
    assert!(value < 8);
}

/// Every field survives, with odd text, nested values, nanoseconds and milliseconds.
pub async fn every_field_of_an_execution_round_trips(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let outcomes = [
        (ExecutionStatus::None, Duration::ZERO),
        (ExecutionStatus::Success, Duration::from_nanos(1_234_567_891)),
        (ExecutionStatus::Error, Duration::from_nanos(i64::MAX.unsigned_abs())),
    ];
    for (status, duration) in outcomes {
        let run = Execution {
            created: Timestamp::from_millis(1),
            updated: Timestamp::from_millis(4_102_444_800_999),
            duration,
            status,
            execute_request: json!({ ODD_TEXT: [ODD_TEXT, null, true, -1, u64::MAX, 0.1, [], {}] }),
            execute_response: json!(ODD_TEXT.repeat(2_000)),
            ..execution(&function, ExecutionId::generate())
        };
        record(stores, &run, 9).await;
        let read = stores.functions.execution(function.account_id, run.id).await;
        assert_eq!(read.expect("the run can be read").as_ref(), Some(&run));
        let listed = page(stores, &function, 1, 0).await.executions;
        assert_eq!(listed, [run]);
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
    let run = Execution { created: after(100), ..execution(&function, ExecutionId::generate()) };
    record(stores, &run, 2).await;
    assert_eq!(kept(stores, &function).await, [run.id, ids[0]]);
    let run_later =
        Execution { created: after(101), ..execution(&function, ExecutionId::generate()) };
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
    let empty = ExecutionPage { executions: Vec::new(), total: 0 };
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
    let last = Execution { created: after(1), ..execution(&function, ExecutionId::generate()) };
    record(stores, &last, 4).await;
    let kept = kept(stores, &function).await;
    assert_eq!((kept.len(), kept[0]), (4, last.id));
}
