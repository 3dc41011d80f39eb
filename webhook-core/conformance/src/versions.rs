//! Cases for the versions of functions and of rules.

use crate::sample::{Together as _, expect_conflict, update};
use webhook_core::store::{BucketStore as _, OutputStore as _};
use webhook_core::{
    AccountId, Error, FunctionId, OutputId, Timestamp,
    model::{Driver, Function, FunctionSpec, FunctionVersion, Output},
    rule::Rules,
    store::{MAX_VERSIONS, RulesVersion, Stores},
};

use super::{
    function::stored,
    sample::{NOW, ODD_TEXT, bucket, output, race},
};

const fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + millis as i64)
}

async fn try_to_save(
    stores: &Stores,
    function: &mut Function,
    millis: u64,
    driver: Driver,
    source: &str,
) -> Result<(), Error> {
    let name = function.spec.name.clone();
    function.change(FunctionSpec::new(name, driver, source), at(millis));
    update(stores, function.account_id, function, function.version).await?;
    function.version += 1;
    Ok(())
}

async fn save(stores: &Stores, function: &mut Function, millis: u64, driver: Driver, source: &str) {
    let saved = try_to_save(stores, function, millis, driver, source).await;
    saved.expect("the function exists");
}

async fn versions(stores: &Stores, function: &Function) -> Vec<FunctionVersion> {
    let versions = stores.documents.function_versions(function.account_id, function.id).await;
    let mut versions = versions.expect("versions can be listed");
    versions.iter_mut().for_each(|version| version.payload = None);
    versions
}

async fn source(stores: &Stores, function: &Function, version: u32) -> Option<String> {
    let found = stores.documents.function_versions(function.account_id, function.id).await;
    let mut found = found.expect("versions can be read").into_iter();
    found.find(|found| found.version == version).and_then(|found| found.payload)
}

/// What a source was is kept with its language, its length and its moment; what is the same
/// again has the same hash. Other changes are no versions.
pub async fn versions_of_a_function_are_kept(stores: &Stores) {
    let account = AccountId::generate();
    let mut function = stored(stores, account, "f").await;
    let first = function.spec.payload.clone();
    let made = FunctionVersion::current(&function);
    assert_eq!(versions(stores, &function).await, std::slice::from_ref(&made));
    assert_eq!(source(stores, &function, 1).await.as_deref(), Some(&*first));

    function.spec.name = "another".to_owned();
    save(stores, &mut function, 1_000, Driver::Lua, &first).await;
    assert_eq!(
        versions(stores, &function).await,
        std::slice::from_ref(&made),
        "the source is the same"
    );

    save(stores, &mut function, 2_003, Driver::Js, ODD_TEXT).await;
    save(stores, &mut function, 3_000, Driver::Lua, &first).await;
    let listed = versions(stores, &function).await;
    let third = FunctionVersion::current(&function);
    assert_eq!((third.version, third.created), (3, at(3_000)));
    let second = FunctionVersion::new(2, at(2_003), Driver::Js, ODD_TEXT);
    let first_one = FunctionVersion::new(1, function.created, Driver::Lua, &first);
    assert_eq!(listed, [third, second, first_one]);
    assert_eq!(listed[0].hash, made.hash);
    for (version, expected) in [(1, &*first), (2, ODD_TEXT), (3, &*first)] {
        assert_eq!(source(stores, &function, version).await.as_deref(), Some(expected));
    }
    assert_eq!(source(stores, &function, 0).await, None);
    assert_eq!(source(stores, &function, 4).await, None);
}

/// The newest are kept, and numbers go on.
pub async fn versions_of_a_function_are_bounded(stores: &Stores) {
    let mut function = stored(stores, AccountId::generate(), "f").await;
    let extra = 3;
    for number in 2..=MAX_VERSIONS + extra {
        let source = format!("-- {}", number % 7);
        save(stores, &mut function, number as u64, Driver::Lua, &source).await;
    }
    let listed = versions(stores, &function).await;
    assert_eq!(listed.len(), MAX_VERSIONS);
    let numbers = listed.iter().map(|version| version.version as usize);
    assert!(numbers.eq((1 + extra..=MAX_VERSIONS + extra).rev()));
    assert_eq!(source(stores, &function, extra as u32).await, None, "it is no longer kept");
    for version in &listed {
        let source = source(stores, &function, version.version).await;
        assert_eq!(source, Some(format!("-- {}", version.version % 7)));
    }
}

/// Nobody else sees them, and they go with their function.
pub async fn versions_of_others_are_absent(stores: &Stores) {
    let account = AccountId::generate();
    let mut function = stored(stores, account, "f").await;
    save(stores, &mut function, 1, Driver::Lua, "-- another").await;
    let theirs = Function { account_id: AccountId::generate(), ..function.clone() };
    assert_eq!(versions(stores, &theirs).await, []);
    assert_eq!(source(stores, &theirs, 1).await, None);
    let missing = Function { id: FunctionId::generate(), ..function.clone() };
    assert_eq!(versions(stores, &missing).await, []);

    stores
        .documents
        .delete::<Function>(account, function.id.as_uuid())
        .await
        .expect("the function exists");
    assert_eq!(versions(stores, &function).await, []);
    assert_eq!(source(stores, &function, 1).await, None);
}

/// Changes at once are versions one after the other, and no number is given twice.
pub async fn concurrent_changes_of_a_function_are_all_versions(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    race(8, |number| {
        let (stores, function) = (stores.clone(), function.clone());
        async move {
            let source = format!("-- {number}");
            loop {
                let (account, id) = (function.account_id, function.id.as_uuid());
                let read = stores.documents.get::<Function>(account, id).await;
                let mut read = read.expect("it can be read").expect("it is there");
                let at = number as u64;
                match try_to_save(&stores, &mut read, at, Driver::Lua, &source).await {
                    Ok(()) => break,
                    refused => expect_conflict(refused),
                }
            }
        }
    })
    .await;
    let listed = versions(stores, &function).await;
    assert!(listed.iter().map(|version| version.version).eq((1..=9).rev()), "{listed:?}");
}

fn rules(value: &str) -> Rules {
    let rules = serde_json::json!({ "match": {
        "type": "value", "value": value, "parameter": { "source": "header", "name": "X-Event" },
    } });
    serde_json::from_value(rules).expect("the rules are well-formed")
}

/// An output without rules, in a bucket of its own.
async fn plain_output(stores: &Stores) -> (AccountId, Output) {
    let bucket = bucket(AccountId::generate(), "b");
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    let mut output = output(bucket.id, "o");
    output.spec.rules = Rules::default();
    (output.created_at, output.updated_at) = (at(0), at(0));
    stores.documents.create_output(bucket.account_id, &output).await.expect("the output is new");
    (bucket.account_id, output)
}

async fn change(stores: &Stores, account: AccountId, output: &mut Output, at_ms: u64, new: Rules) {
    output.spec.rules = new;
    output.updated_at = at(at_ms);
    stores.documents.update_output(account, output).await.expect("the output exists");
    output.version += 1;
}

async fn rules_at(
    stores: &Stores,
    account: AccountId,
    output: &Output,
    moment: Timestamp,
) -> Option<(u32, Rules)> {
    let found = stores.documents.rules_at(account, output.id, moment).await;
    let found = found.expect("rules can be read");
    found.map(|RulesVersion { version, rules, .. }| (version, rules))
}

/// For each moment the rules of that moment, from the first one on.
pub async fn rules_are_known_as_they_were(stores: &Stores) {
    let (account, mut output) = plain_output(stores).await;
    let before = Timestamp::from_millis(at(0).as_millis() - 1);
    assert_eq!(rules_at(stores, account, &output, before).await, None);
    assert_eq!(rules_at(stores, account, &output, at(0)).await, Some((1, Rules::default())));

    output.spec.description = "another".to_owned();
    change(stores, account, &mut output, 50, Rules::default()).await;
    change(stores, account, &mut output, 100, rules(ODD_TEXT)).await;
    change(stores, account, &mut output, 200, rules("b")).await;
    change(stores, account, &mut output, 300, rules(ODD_TEXT)).await;
    for (moment, version, expected) in [
        (at(0), 1, Rules::default()),
        (at(99), 2, Rules::default()),
        (at(100), 3, rules(ODD_TEXT)),
        (at(199), 3, rules(ODD_TEXT)),
        (at(200), 4, rules("b")),
        (at(300), 5, rules(ODD_TEXT)),
        (at(1_000_000), 5, rules(ODD_TEXT)),
    ] {
        let found = rules_at(stores, account, &output, moment).await;
        assert_eq!(found, Some((version, expected)), "{moment:?}");
    }
    assert_eq!(rules_at(stores, account, &output, before).await, None);
    assert_eq!(rules_at(stores, AccountId::generate(), &output, at(100)).await, None);
    let missing = Output { id: OutputId::generate(), ..output.clone() };
    assert_eq!(rules_at(stores, account, &missing, at(100)).await, None);
}

/// The newest are kept; before them nothing is known, and nothing of an output that is gone.
pub async fn versions_of_rules_are_bounded(stores: &Stores) {
    let (account, mut output) = plain_output(stores).await;
    for number in 1..=MAX_VERSIONS as u64 {
        change(stores, account, &mut output, number * 10, rules(&(number % 3).to_string())).await;
    }
    assert_eq!(rules_at(stores, account, &output, at(9)).await, None);
    assert_eq!(rules_at(stores, account, &output, at(10)).await, Some((2, rules("1"))));
    let newest = MAX_VERSIONS as u64;
    let found = rules_at(stores, account, &output, at(newest * 10)).await;
    assert_eq!(found, Some((MAX_VERSIONS as u32 + 1, rules(&(newest % 3).to_string()))));

    let deleted = stores.documents.delete_output(account, output.id).await;
    deleted.expect("the output exists");
    assert_eq!(rules_at(stores, account, &output, at(20)).await, None);
    stores.documents.create_output(account, &output).await.expect("its ID is free again");
    let found = rules_at(stores, account, &output, at(20)).await;
    assert_eq!(found, Some((1, output.spec.rules.clone())), "nothing of the former one");
    let mut later = Output { version: 1, ..output.clone() };
    change(stores, account, &mut later, newest * 10 + 1, rules("x")).await;
    let buckets = &stores.documents;
    buckets.remove_bucket(account, output.bucket_id, None, true).await.expect("it exists");
    assert_eq!(rules_at(stores, account, &later, at(20)).await, None);
}
