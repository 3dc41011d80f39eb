//! Cases for [`FunctionStore`](webhook_core::store::FunctionStore).

use std::{collections::BTreeMap, time::Duration};

use crate::sample::update;
use webhook_core::{
    AccountId, FunctionId, Timestamp,
    model::{Driver, Function, FunctionSpec, Secret, Variable},
    store::Stores,
};

use super::{
    execution::{kept, recorded},
    sample::{
        NOW, ODD_TEXT, after, expect_conflict, expect_every_field, expect_not_found, function,
        race, with,
    },
};

pub(super) async fn stored(stores: &Stores, account: AccountId, name: &str) -> Function {
    let function = function(account, name);
    stores.documents.create(function.account_id, &function).await.expect("the function is new");
    function
}

async fn read(stores: &Stores, account: AccountId, id: FunctionId) -> Option<Function> {
    stores.documents.get::<Function>(account, id.as_uuid()).await.expect("the function can be read")
}

async fn list(stores: &Stores, account: AccountId) -> Vec<Function> {
    stores.documents.list::<Function>(account).await.expect("functions can be listed")
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
    let put = stores.functions.put_variable(function.account_id, variable, 100).await;
    put.expect("the function exists");
}

async fn variables(stores: &Stores, account: AccountId, id: FunctionId) -> Vec<Variable> {
    stores.functions.variables(account, id).await.expect("variables can be listed")
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
    let mut specs = Vec::new();
    for driver in [Driver::Lua, Driver::Js, Driver::Wasm] {
        let payload = ODD_TEXT.repeat(2_000);
        let metadata =
            ["b", "a", "", ODD_TEXT].map(|key| (key.to_owned(), format!("{key}{ODD_TEXT}")));
        let function = Function {
            payload_size: payload.len(),
            created: Timestamp::from_millis(1),
            updated: Timestamp::from_millis(4_102_444_800_999),
            spec: with(FunctionSpec::new(ODD_TEXT, driver, payload), |spec| {
                spec.metadata = BTreeMap::from(metadata)
            }),
            ..function(account, "")
        };
        specs.push(function.spec.clone());
        stores
            .documents
            .create(function.account_id, &function)
            .await
            .expect("names need not be unique");
        assert_eq!(read(stores, account, function.id).await, Some(function));
    }
    expect_every_field(&specs);
}

/// A taken ID is refused, even to its owner, and changes nothing.
pub async fn taken_function_id_is_a_conflict(stores: &Stores) {
    let (owner, other) = (AccountId::generate(), AccountId::generate());
    let first = stored(stores, owner, "a").await;
    for account in [owner, other] {
        let second = Function { id: first.id, ..function(account, "b") };
        expect_conflict(stores.documents.create(second.account_id, &second).await);
    }
    assert_eq!(list(stores, owner).await, [first]);
    assert_eq!(list(stores, other).await, []);
}

/// The list is in ID order, whatever the order of creation.
pub async fn functions_are_listed_in_id_order(stores: &Stores) {
    let account = AccountId::generate();
    let functions = ["c", "a", "b", "d"].map(|name| function(account, name));
    for index in [2, 0, 3, 1] {
        stores.documents.create(account, &functions[index]).await.expect("the function is new");
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
    expect_not_found(update(stores, theirs.account_id, &theirs, theirs.version).await);
    expect_not_found(stores.documents.delete::<Function>(other, function.id.as_uuid()).await);
    let changed = variable(&function, "KEY", "changed");
    expect_not_found(stores.functions.put_variable(other, &changed, 100).await);
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
        spec: with(FunctionSpec::new(ODD_TEXT, Driver::Js, ODD_TEXT), |spec| {
            spec.metadata = BTreeMap::from([("k".to_owned(), "v".to_owned())])
        }),
        ..plain.clone()
    };
    for (number, changed) in [odd, plain].into_iter().enumerate() {
        let known = 1 + number as u64;
        update(stores, account, &changed, known).await.expect("the function exists");
        let expected = Function { version: known + 1, ..changed };
        assert_eq!(read(stores, account, expected.id).await.as_ref(), Some(&expected));
        assert_eq!(variables(stores, account, expected.id).await, std::slice::from_ref(&secret));
    }
}

/// What is not there can be neither changed nor removed.
pub async fn update_or_delete_of_no_function_is_not_found(stores: &Stores) {
    let absent = function(AccountId::generate(), "f");
    expect_not_found(update(stores, absent.account_id, &absent, absent.version).await);
    expect_not_found(
        stores.documents.delete::<Function>(absent.account_id, absent.id.as_uuid()).await,
    );
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

    stores
        .documents
        .delete::<Function>(account, gone.id.as_uuid())
        .await
        .expect("the function exists");
    assert_eq!(read(stores, account, gone.id).await, None);
    assert_eq!(variables(stores, account, gone.id).await, []);
    assert_eq!(kept(stores, &gone).await, []);
    for id in lost_runs {
        assert_eq!(stores.functions.execution(account, id).await.expect("reading works"), None);
    }
    expect_not_found(stores.documents.delete::<Function>(account, gone.id.as_uuid()).await);

    assert_eq!(kept(stores, &stays).await, kept_runs);
    assert_eq!(variables(stores, account, stays.id).await.len(), 1);
    assert_eq!(list(stores, account).await, [stays]);

    // The same ID again starts without the variables of its former life.
    stores.documents.create(gone.account_id, &gone).await.expect("the ID is free again");
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
    expect_not_found(stores.functions.put_variable(absent.account_id, &stray, 100).await);
    stores.documents.create(absent.account_id, &absent).await.expect("the function is new");
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
        async move { store.put_variable(account, &variable, 100).await }
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

/// Concurrent creations of variables fill the bound exactly. A variable that exists can still be
/// set, and a removal makes room.
pub async fn concurrent_variables_hold_their_bound(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let (account, id) = (function.account_id, function.id);
    let set = async |prefix: &str| {
        let results = race(8, |number| {
            let variable = variable(&function, &format!("{prefix}{number}"), "value");
            let store = stores.functions.clone();
            async move { store.put_variable(account, &variable, 3).await }
        });
        let (set, refused): (Vec<_>, Vec<_>) = results.await.into_iter().partition(Result::is_ok);
        refused.into_iter().for_each(expect_conflict);
        set.len()
    };
    assert_eq!(set("a").await, 3);
    let there = variables(stores, account, id).await;
    assert_eq!(there.len(), 3);
    assert_eq!(set("b").await, 0, "there is no room");
    let again = Variable { value: Secret::new("another"), ..there[0].clone() };
    stores.functions.put_variable(account, &again, 3).await.expect("it is there already");
    let expected = [vec![again], there[1..].to_vec()].concat();
    assert_eq!(variables(stores, account, id).await, expected);
    stores.functions.delete_variable(account, id, &there[0].key).await.expect("it is there");
    assert_eq!(set("c").await, 1, "a removal makes room");
}
