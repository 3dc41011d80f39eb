//! Cases for what functions remember in a [`FunctionStore`](webhook_core::store::FunctionStore).

use bytes::Bytes;
use webhook_core::{
    AccountId, Error, Timestamp,
    model::Function,
    store::{KV_MAX_NUMBER, KvChange, KvEntry, KvKey, KvValue, KvWrite, Stores},
};

use super::{
    function::stored,
    sample::{NOW, ODD_TEXT, after, expect_conflict, expect_not_found, race},
};

fn key(function: &Function, key: &str) -> KvKey {
    KvKey { account_id: function.account_id, function_id: function.id, key: key.to_owned() }
}

fn set(value: impl Into<Bytes>, expires_at: Option<Timestamp>) -> KvChange {
    KvChange::Set(KvEntry { value: KvValue::of(value.into()), expires_at })
}

const fn count(by: i64) -> KvChange {
    KvChange::Increment { by, expires_at: None }
}

async fn try_write(
    stores: &Stores,
    key: &KvKey,
    change: KvChange,
    now: Timestamp,
) -> Result<Option<KvValue>, Error> {
    let write = KvWrite { key: key.clone(), change, now, max_keys: 5 };
    stores.functions.kv_write(write).await
}

async fn write(stores: &Stores, key: &KvKey, change: KvChange) -> Option<KvValue> {
    try_write(stores, key, change, NOW).await.expect("the key can be changed")
}

async fn read(stores: &Stores, key: &KvKey, now: Timestamp) -> Option<Bytes> {
    let value = stores.functions.kv_get(key, now).await.expect("the key can be read");
    value.map(KvValue::into_bytes)
}

/// Any bytes survive, are replaced and removed; keys are told apart by every byte.
pub async fn kv_values_are_read_as_they_were_set(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let (a, b) = (key(&function, ODD_TEXT), key(&function, "A"));
    let lower = key(&function, "a");
    assert_eq!(read(stores, &a, NOW).await, None);
    for value in [&b""[..], b"\0\xff", b"41", b"041", "é".as_bytes(), &[7; 8192]] {
        let value = Bytes::copy_from_slice(value);
        let written = write(stores, &a, set(value.clone(), None)).await;
        assert_eq!(written, Some(KvValue::of(value.clone())));
        assert_eq!(read(stores, &a, NOW).await, Some(value));
    }
    write(stores, &b, set("b", None)).await;
    assert_eq!(read(stores, &lower, NOW).await, None);
    assert_eq!(write(stores, &a, KvChange::Remove).await, None);
    assert_eq!(write(stores, &a, KvChange::Remove).await, None, "again");
    assert_eq!(read(stores, &a, NOW).await, None);
    assert_eq!(read(stores, &b, NOW).await, Some("b".into()));
}

/// A number counts from 0, or from what was set; what is none does not change.
pub async fn kv_numbers_count(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let (a, text) = (key(&function, "a"), key(&function, "text"));
    for (by, number) in [(1, 1), (41, 42), (-50, -8), (0, -8)] {
        assert_eq!(write(stores, &a, count(by)).await, Some(KvValue::Number(number)));
        assert_eq!(read(stores, &a, NOW).await, Some(number.to_string().into()));
    }
    write(stores, &a, set("100", None)).await;
    assert_eq!(write(stores, &a, count(1)).await, Some(KvValue::Number(101)));
    write(stores, &text, set("ten", None)).await;
    expect_conflict(try_write(stores, &text, count(1), NOW).await);
    assert_eq!(read(stores, &text, NOW).await, Some("ten".into()));
    let most = KV_MAX_NUMBER;
    write(stores, &a, set(most.to_string(), None)).await;
    for by in [1, i64::MAX, i64::MIN] {
        expect_conflict(try_write(stores, &a, count(by), NOW).await);
    }
    assert_eq!(write(stores, &a, count(-1)).await, Some(KvValue::Number(most - 1)));
}

/// A key is there until the moment at which it expires. Counting keeps that moment, setting
/// does not.
pub async fn kv_keys_expire(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let (a, n) = (key(&function, "a"), key(&function, "n"));
    write(stores, &a, set("a", Some(after(10)))).await;
    assert_eq!(read(stores, &a, after(9)).await, Some("a".into()));
    assert_eq!(read(stores, &a, after(10)).await, None);

    let in_ten = |by, second: u64| KvChange::Increment { by, expires_at: Some(after(second + 10)) };
    for (second, number) in [(0, 1), (5, 2), (9, 3), (10, 1), (19, 2), (20, 1)] {
        let counted = try_write(stores, &n, in_ten(1, second), after(second)).await;
        assert_eq!(counted.expect("it counts"), Some(KvValue::Number(number)), "at {second}");
    }
    let stays = try_write(stores, &n, set("7", None), after(21)).await;
    assert_eq!(stays.expect("it can be set"), Some(KvValue::Number(7)));
    assert_eq!(read(stores, &n, after(1_000)).await, Some("7".into()));
}

/// A function has so many keys and no more; those that have expired make room.
pub async fn kv_keys_are_bounded(stores: &Stores) {
    let account = AccountId::generate();
    let (function, other) =
        (stored(stores, account, "f").await, stored(stores, account, "g").await);
    for number in 0..5 {
        let expires_at = (number == 3).then(|| after(10));
        write(stores, &key(&function, &number.to_string()), set("x", expires_at)).await;
    }
    let sixth = key(&function, "6");
    expect_conflict(try_write(stores, &sixth, set("x", None), after(9)).await);
    expect_conflict(try_write(stores, &sixth, count(1), after(9)).await);
    assert_eq!(read(stores, &sixth, NOW).await, None);
    write(stores, &key(&function, "0"), set("y", None)).await;
    write(stores, &key(&other, "0"), set("its own", None)).await;
    let made = try_write(stores, &sixth, count(1), after(10)).await;
    assert_eq!(made.expect("there is room"), Some(KvValue::Number(1)));
    assert_eq!(read(stores, &key(&function, "0"), NOW).await, Some("y".into()));
    write(stores, &sixth, KvChange::Remove).await;
    write(stores, &key(&function, "7"), count(1)).await;
}

/// Functions do not see each other's keys, nor accounts each other's functions.
pub async fn kv_keys_of_others_are_absent(stores: &Stores) {
    let account = AccountId::generate();
    let (function, other) =
        (stored(stores, account, "f").await, stored(stores, account, "g").await);
    let mine = key(&function, "a");
    write(stores, &mine, set("mine", None)).await;
    assert_eq!(read(stores, &key(&other, "a"), NOW).await, None);
    let foreign = KvKey { account_id: AccountId::generate(), ..mine.clone() };
    assert_eq!(read(stores, &foreign, NOW).await, None);
    for change in [set("theirs", None), count(1), KvChange::Remove] {
        expect_not_found(try_write(stores, &foreign, change, NOW).await);
    }
    assert_eq!(read(stores, &mine, NOW).await, Some("mine".into()));
}

/// The keys of a function go with it.
pub async fn kv_keys_go_with_their_function(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let a = key(&function, "a");
    write(stores, &a, set("a", None)).await;
    let (account, id) = (function.account_id, function.id.as_uuid());
    stores.documents.delete::<Function>(account, id).await.expect("it is there");
    assert_eq!(read(stores, &a, NOW).await, None);
    expect_not_found(try_write(stores, &a, count(1), NOW).await);
    stores.documents.create(account, &function).await.expect("its identifier is free");
    assert_eq!(read(stores, &a, NOW).await, None);
}

/// Of counts at once none is lost, of a key that is new and of one that is there.
pub async fn concurrent_counts_all_count(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let a = key(&function, "a");
    for round in 1..=2 {
        let counted = race(20, |_| {
            let (stores, a) = (stores.clone(), a.clone());
            async move { write(&stores, &a, count(1)).await }
        });
        let mut numbers: Vec<_> = counted.await.into_iter().flatten().collect();
        numbers.sort_by_key(|number| match number {
            KvValue::Number(number) => *number,
            KvValue::Bytes(_) => i64::MIN,
        });
        let first = (round - 1) * 20 + 1;
        assert_eq!(numbers, (first..first + 20).map(KvValue::Number).collect::<Vec<_>>());
    }
}

/// Purging removes what has expired, so many at most, and nothing else.
pub async fn purge_kv_removes_what_has_expired(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    for (number, expires_at) in
        [Some(after(1)), Some(after(2)), Some(after(9)), None].iter().enumerate()
    {
        write(stores, &key(&function, &number.to_string()), set("x", *expires_at)).await;
    }
    let purge =
        async |limit| stores.functions.purge_kv(after(2), limit).await.expect("keys can be purged");
    assert_eq!(purge(0).await, 0);
    assert_eq!(purge(1).await, 1);
    assert_eq!(purge(9).await, 1);
    assert_eq!(purge(9).await, 0);
    for number in 2..4 {
        assert_eq!(
            read(stores, &key(&function, &number.to_string()), after(2)).await,
            Some("x".into())
        );
    }
}
