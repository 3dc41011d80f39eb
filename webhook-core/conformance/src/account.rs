//! Cases for [`AccountStore`](webhook_core::store::AccountStore).

use std::time::Duration;

use webhook_core::{
    AccountId, ErrorKind, Timestamp,
    model::{Account, ApiKey, Secret},
    store::Stores,
};

use super::sample::{
    NOW, ODD_TEXT, account, after, expect_conflict, expect_not_found, expect_one_winner, race,
};

fn api_key(account_id: AccountId, text: &str) -> ApiKey {
    ApiKey {
        account_id,
        key: Secret::new(text),
        enabled: true,
        created_at: NOW,
        updated_at: NOW + Duration::from_millis(1),
    }
}

async fn stored_account(stores: &Stores, name: &str) -> Account {
    let account = account(name);
    stores.accounts.create_account(&account).await.expect("the account is new");
    account
}

async fn put(stores: &Stores, key: &ApiKey) {
    let former = key_of(stores, key.account_id).await;
    let put = stores.accounts.put_api_key(key, former.as_ref()).await;
    assert!(put.expect("the key is free"), "nobody else puts one");
}

async fn key_of(stores: &Stores, account: AccountId) -> Option<ApiKey> {
    stores.accounts.api_key(account).await.expect("the key can be read")
}

async fn key_by_text(stores: &Stores, text: &str) -> Option<ApiKey> {
    stores.accounts.api_key_by_text(text).await.expect("the key can be looked up")
}

/// What was created is read back, field by field.
pub async fn created_account_is_read_back(stores: &Stores) {
    for (name, millis) in [("plain", 0), (ODD_TEXT, 4_102_444_800_999)] {
        let created_at = Timestamp::from_millis(millis);
        let account = Account { created_at, ..account(name) };
        stores.accounts.create_account(&account).await.expect("the account is new");
        let read = stores.accounts.account(account.id).await.expect("the account can be read");
        assert_eq!(read, Some(account));
    }
}

/// Nothing has an unknown ID.
pub async fn absent_account_is_none(stores: &Stores) {
    stored_account(stores, "a").await;
    let read = stores.accounts.account(AccountId::generate()).await.expect("reading works");
    assert_eq!(read, None);
}

/// A taken ID is refused and changes nothing.
pub async fn taken_account_id_is_a_conflict(stores: &Stores) {
    let first = stored_account(stores, "first").await;
    let second = Account { name: "second".to_owned(), ..first.clone() };
    expect_conflict(stores.accounts.create_account(&second).await);
    assert_eq!(stores.accounts.accounts().await.expect("listing works"), [first]);
}

/// A taken name is refused and changes nothing.
pub async fn taken_account_name_is_a_conflict(stores: &Stores) {
    let first = stored_account(stores, "one name").await;
    expect_conflict(stores.accounts.create_account(&account("one name")).await);
    assert_eq!(stores.accounts.accounts().await.expect("listing works"), [first]);
}

/// Of several accounts with one name that are created at once, one is stored.
pub async fn concurrent_accounts_with_one_name_store_one(stores: &Stores) {
    let results = race(8, |_| {
        let store = stores.accounts.clone();
        async move { store.create_account(&account("one name")).await }
    })
    .await;
    expect_one_winner(results, ErrorKind::Conflict);
    assert_eq!(stores.accounts.accounts().await.expect("listing works").len(), 1);
}

/// The list is in ID order, whatever the order of creation.
pub async fn accounts_are_listed_in_id_order(stores: &Stores) {
    assert_eq!(stores.accounts.accounts().await.expect("listing works"), []);
    let accounts = ["c", "a", "b", "d"].map(account);
    for index in [2, 0, 3, 1] {
        stores.accounts.create_account(&accounts[index]).await.expect("the account is new");
    }
    assert_eq!(stores.accounts.accounts().await.expect("listing works"), accounts);
}

/// An account starts without a key.
pub async fn new_account_has_no_key(stores: &Stores) {
    let account = stored_account(stores, "a").await;
    assert_eq!(key_of(stores, account.id).await, None);
    assert_eq!(key_of(stores, AccountId::generate()).await, None);
}

/// A key is read back, field by field, by its account and by its text.
pub async fn key_is_found_by_account_and_by_text(stores: &Stores) {
    for (name, text) in [("a", "sk-0123456789_-AZaz"), ("b", ODD_TEXT)] {
        let account = stored_account(stores, name).await;
        let key = api_key(account.id, text);
        put(stores, &key).await;
        assert_eq!(key_of(stores, account.id).await.as_ref(), Some(&key));
        assert_eq!(key_by_text(stores, text).await, Some(key));
    }
}

/// Disabling a key changes its state and its time, and it can still be looked up.
pub async fn disabled_key_is_still_found(stores: &Stores) {
    let account = stored_account(stores, "a").await;
    let enabled = api_key(account.id, "sk-a");
    put(stores, &enabled).await;
    let disabled = ApiKey { enabled: false, updated_at: after(9), ..enabled.clone() };
    put(stores, &disabled).await;
    assert_eq!(key_of(stores, account.id).await.as_ref(), Some(&disabled));
    assert_eq!(key_by_text(stores, "sk-a").await, Some(disabled));
    put(stores, &enabled).await;
    assert_eq!(key_by_text(stores, "sk-a").await, Some(enabled));
}

/// Neither a part of a key, nor another case, nor a pattern finds it.
pub async fn key_is_looked_up_exactly(stores: &Stores) {
    let account = stored_account(stores, "a").await;
    put(stores, &api_key(account.id, "sk-Key")).await;
    for other in ["", "sk-", "sk-Ke", "sk-key", "SK-KEY", "sk-Key ", " sk-Key", "sk-%", "sk-K_y"] {
        assert_eq!(key_by_text(stores, other).await, None, "looked up {other:?}");
    }
}

/// The former key is gone when a new one is put.
pub async fn put_api_key_replaces_the_former(stores: &Stores) {
    let account = stored_account(stores, "a").await;
    put(stores, &api_key(account.id, "sk-old")).await;
    let new =
        ApiKey { created_at: after(5), updated_at: after(6), ..api_key(account.id, "sk-new") };
    put(stores, &new).await;
    assert_eq!(key_of(stores, account.id).await.as_ref(), Some(&new));
    assert_eq!(key_by_text(stores, "sk-new").await, Some(new));
    assert_eq!(key_by_text(stores, "sk-old").await, None);

    let other = stored_account(stores, "b").await;
    put(stores, &api_key(other.id, "sk-old")).await;
    assert_eq!(key_by_text(stores, "sk-old").await.map(|key| key.account_id), Some(other.id));
}

/// A key that another account holds is refused; both keep what they had.
pub async fn key_of_another_account_is_a_conflict(stores: &Stores) {
    let (first, second) = (stored_account(stores, "a").await, stored_account(stores, "b").await);
    let (held, own) = (api_key(first.id, "sk-held"), api_key(second.id, "sk-own"));
    put(stores, &held).await;
    put(stores, &own).await;
    let stolen = ApiKey { account_id: second.id, ..held.clone() };
    expect_conflict(stores.accounts.put_api_key(&stolen, Some(&own)).await);
    assert_eq!(key_by_text(stores, "sk-held").await, Some(held));
    assert_eq!(key_of(stores, second.id).await, Some(own));
}

/// There is no key without its account.
pub async fn key_for_a_missing_account_is_not_found(stores: &Stores) {
    let key = api_key(AccountId::generate(), "sk-a");
    expect_not_found(stores.accounts.put_api_key(&key, None).await);
    assert_eq!(key_by_text(stores, "sk-a").await, None);
}

/// Of several accounts that put one key at once, one gets it.
pub async fn concurrent_puts_of_one_key_store_one(stores: &Stores) {
    let mut accounts = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        accounts.push(stored_account(stores, name).await.id);
    }
    let results = race(accounts.len(), |number| {
        let (store, account) = (stores.accounts.clone(), accounts[number]);
        async move { store.put_api_key(&api_key(account, "sk-one"), None).await }
    })
    .await;
    assert!(!results.iter().any(|result| matches!(result, Ok(false))), "{results:?}");
    expect_one_winner(results, ErrorKind::Conflict);
    let mut holders = 0;
    for account in accounts {
        holders += usize::from(key_of(stores, account).await.is_some());
    }
    assert_eq!(holders, 1);
}

/// A key is put only while the account has the one that the caller read, enabled or not as there.
pub async fn key_is_put_in_place_of_the_one_that_was_read(stores: &Stores) {
    let account = stored_account(stores, "a").await.id;
    let (first, second) = (api_key(account, "sk-1"), api_key(account, "sk-2"));
    let disabled = ApiKey { enabled: false, ..first.clone() };
    let try_to_put = async |key: &ApiKey, former: Option<&ApiKey>| {
        stores.accounts.put_api_key(key, former).await.expect("the key is free")
    };
    assert!(!try_to_put(&second, Some(&first)).await, "it has no key yet");
    assert_eq!(key_of(stores, account).await, None);
    assert!(try_to_put(&first, None).await);
    for former in [None, Some(&second), Some(&disabled)] {
        assert!(!try_to_put(&second, former).await, "in place of {former:?}");
        assert_eq!(key_of(stores, account).await.as_ref(), Some(&first));
        assert_eq!(key_by_text(stores, "sk-2").await, None);
    }
    assert!(try_to_put(&second, Some(&first)).await);
    assert_eq!(key_of(stores, account).await, Some(second));
    assert_eq!(key_by_text(stores, "sk-1").await, None);
}

/// Concurrent replacements of one key store exactly one new key.
pub async fn concurrent_puts_in_place_of_one_key_let_one_through(stores: &Stores) {
    let account = stored_account(stores, "a").await.id;
    let first = api_key(account, "sk-first");
    put(stores, &first).await;
    let keys: Vec<_> = (0..6).map(|number| api_key(account, &format!("sk-{number}"))).collect();
    let results = race(keys.len(), |number| {
        let (store, key, first) = (stores.accounts.clone(), keys[number].clone(), first.clone());
        async move { store.put_api_key(&key, Some(&first)).await.expect("the key is free") }
    })
    .await;
    let won: Vec<_> = keys.into_iter().zip(results).filter(|(_, won)| *won).collect();
    assert_eq!(won.len(), 1, "{won:?}");
    assert_eq!(key_of(stores, account).await.as_ref(), Some(&won[0].0));
}
