mod crons;
mod documents;
mod domains;
mod functions;
mod lists;
mod logs;
mod replays;
mod sessions;
mod tokens;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::*;
use crate::{
    ErrorKind, FunctionId, InputId, OutputId, Rules, TokioClock, Webhooks, WebhooksBuilder,
    model::{
        BucketSpec, Function, FunctionSpec, InputSpec, OutputSpec, ResponseFromOutput, Secret,
    },
    store::memory::MemoryStore,
};

/// Keeps every bucket, token, function and domain that it is told of.
#[derive(Debug, Default)]
struct Told(
    Mutex<Vec<Bucket>>,
    Mutex<Vec<(AccountId, Option<TokenId>)>>,
    Mutex<Vec<(AccountId, FunctionId)>>,
    Mutex<Vec<String>>,
    AtomicUsize,
);

impl ChangeListener for Told {
    fn bucket_changed(&self, bucket: &Bucket) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bucket.clone());
    }

    fn function_changed(&self, account: AccountId, function: FunctionId) {
        self.2.lock().unwrap_or_else(PoisonError::into_inner).push((account, function));
    }

    fn credential_changed(&self, account: AccountId, token: Option<TokenId>) {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).push((account, token));
    }

    fn domain_changed(&self, name: &str) {
        self.3.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
    }

    fn crons_changed(&self) {
        self.4.fetch_add(1, Ordering::Relaxed);
    }
}

impl Told {
    fn last(&self) -> Bucket {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.last().expect("it was told").clone()
    }

    fn credentials(&self) -> Vec<(AccountId, Option<TokenId>)> {
        std::mem::take(&mut *self.1.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn functions(&self) -> Vec<(AccountId, FunctionId)> {
        self.2.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

struct House {
    admin: Arc<Admin>,
    stores: Stores,
    told: Arc<Told>,
    caller: Caller,
}

async fn house() -> House {
    house_with(AdminOptions::default()).await
}

async fn house_with(options: AdminOptions) -> House {
    house_of(|builder| builder.admin_options(options)).await
}

async fn house_of(set: impl FnOnce(WebhooksBuilder) -> WebhooksBuilder) -> House {
    house_over(Stores::of(MemoryStore::default()), set).await
}

async fn house_over(stores: Stores, set: impl FnOnce(WebhooksBuilder) -> WebhooksBuilder) -> House {
    let told = Arc::new(Told::default());
    let builder = Webhooks::builder(stores.clone())
        .clock(TokioClock::starting_at(Timestamp::from_secs(1_700_000_000)))
        .listener(told.clone());
    let admin = Arc::clone(set(builder).build().admin());
    let (account, _) = admin.create_account("first", None).await.expect("an account");
    House { admin, stores, told, caller: Caller::for_account(account.id) }
}

fn bucket_named(name: &str) -> BucketSpec {
    BucketSpec { name: name.to_owned(), ..BucketSpec::default() }
}

fn output_named(name: &str) -> OutputSpec {
    OutputSpec {
        name: name.to_owned(),
        destination: "https://example.com/".to_owned(),
        ..OutputSpec::default()
    }
}

fn kind<T: fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.expect_err("it is refused").kind()
}

#[tokio::test(start_paused = true)]
async fn the_watcher_sees_what_was_and_what_is() -> Result<(), Error> {
    let House { admin, told, caller, .. } = house().await;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;
    assert_eq!(told.last(), bucket);

    let input = admin.create_input(&caller, bucket.id, InputSpec::default()).await?;
    assert!(told.last().inputs.contains(&input));
    let output = admin.create_output(&caller, bucket.id, output_named("o")).await?;
    assert!(told.last().outputs.contains(&output));
    let output = admin.put_rules(&caller, bucket.id, output.id, Rules::default()).await?;
    assert_eq!(told.last().outputs, std::slice::from_ref(&output));

    admin.delete_output(&caller, bucket.id, output.id).await?;
    assert_eq!(told.last().outputs, [output], "what was removed is among what changed");
    admin.delete_input(&caller, bucket.id, input.id).await?;
    assert!(told.last().inputs.contains(&input));
    admin.delete_bucket(&caller, bucket.id, true).await?;
    assert_eq!(told.last().id, bucket.id);
    assert_eq!(told.count(), 7, "once for each change");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_address_of_an_input_says_nothing_of_its_bucket_and_cannot_be_guessed()
-> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;
    tokio::time::advance(Duration::from_millis(1)).await;
    let second = admin.create_input(&caller, bucket.id, InputSpec::default()).await?;
    let ids = [bucket.inputs[0].id, second.id].map(|id| id.as_uuid());
    let shared = |a: u128, b: u128| (a ^ b).leading_zeros();
    for (one, other) in [(ids[0], ids[1]), (ids[0], bucket.id.as_uuid())] {
        assert_eq!(one.get_version_num(), 4, "all but version and variant is random");
        // One in four thousand million runs shares more.
        assert!(shared(one.as_u128(), other.as_u128()) < 32, "{one} {other}");
    }
    let listed = admin.bucket(&caller, bucket.id).await?.inputs;
    assert_eq!(listed[0].spec.name, DEFAULT_INPUT_NAME, "the oldest comes first");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_refusal_changes_nothing_and_tells_nobody() -> Result<(), Error> {
    let House { admin, told, caller, .. } = house().await;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;
    let other = admin.create_bucket(&caller, bucket_named("other")).await?;
    let count = told.count();
    let (bucket_id, nobody) = (bucket.id, OutputId::generate());

    let renamed = admin.update_bucket(&caller, bucket_id, bucket_named("other")).await;
    assert_eq!(kind(renamed), ErrorKind::Conflict);
    let spec = InputSpec {
        response_from_output: ResponseFromOutput::Output(nobody),
        ..InputSpec::default()
    };
    assert_eq!(kind(admin.create_input(&caller, bucket_id, spec).await), ErrorKind::Invalid);
    let spec = OutputSpec { function_id: Some(FunctionId::generate()), ..output_named("o") };
    assert_eq!(kind(admin.create_output(&caller, bucket_id, spec).await), ErrorKind::Invalid);
    let rules = admin.put_rules(&caller, bucket_id, nobody, Rules::default()).await;
    assert_eq!(kind(rules), ErrorKind::NotFound);
    let input = admin.delete_input(&caller, other.id, bucket.inputs[0].id).await;
    assert_eq!(kind(input), ErrorKind::NotFound);

    assert_eq!(admin.buckets(&caller).await?, [bucket, other]);
    assert_eq!(told.count(), count);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_update_moves_updated_at_only() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;
    tokio::time::advance(Duration::from_secs(5)).await;
    let updated = admin.update_bucket(&caller, bucket.id, BucketSpec::default()).await?;
    assert_eq!(updated.created_at, bucket.created_at);
    assert_eq!(updated.updated_at, bucket.created_at + Duration::from_secs(5));
    assert_eq!(updated.spec.auth.updated_at, updated.updated_at);
    assert_eq!(updated.spec.name, "b");
    Ok(())
}

#[tokio::test]
async fn bounds_hold_against_callers_at_once() -> Result<(), Error> {
    let options = AdminOptions {
        max_buckets_per_account: 3,
        max_inputs_per_bucket: 4,
        max_outputs_per_bucket: 2,
        ..AdminOptions::default()
    };
    let House { admin, caller, .. } = house_with(options).await;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;

    let creations = (0..20).map(async |n: u32| {
        let name = n.to_string();
        let _ = admin.create_bucket(&caller, bucket_named(&name)).await;
        let _ = admin.create_input(&caller, bucket.id, InputSpec::default()).await;
        let _ = admin.create_output(&caller, bucket.id, output_named(&name)).await;
    });
    futures_util::future::join_all(creations).await;
    assert_eq!(admin.buckets(&caller).await?.len(), 3);
    let bucket = admin.bucket(&caller, bucket.id).await?;
    assert_eq!((bucket.inputs.len(), bucket.outputs.len()), (4, 2));
    Ok(())
}

#[tokio::test]
async fn rules_and_settings_changed_at_once_are_both_kept() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;
    let output = admin.create_output(&caller, bucket.id, output_named("o")).await?;
    let rules: Rules = serde_json::from_str(r#"{"or":[]}"#).expect("rules");
    for _ in 0..20 {
        let reset = OutputSpec { retries: 7, ..output_named("o") };
        let (set, replaced) = tokio::join!(
            admin.put_rules(&caller, bucket.id, output.id, rules.clone()),
            admin.update_output(&caller, bucket.id, output.id, reset),
        );
        // The first went first: its rules are replaced by the other's, as a whole.
        assert_eq!(set?.spec.rules, rules);
        assert_eq!(replaced?.spec.rules, Rules::default());
        let stored = admin.put_rules(&caller, bucket.id, output.id, rules.clone()).await?;
        assert_eq!(stored.spec.retries, 7);
    }
    Ok(())
}

#[tokio::test]
async fn another_accounts_things() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;
    let output = admin.create_output(&caller, bucket.id, output_named("o")).await?;
    let (second, _) = admin.create_account("second", None).await?;
    let second = Caller::for_account(second.id);

    assert_eq!(kind(admin.bucket(&second, bucket.id).await), ErrorKind::Forbidden);
    let deleted = admin.delete_bucket(&second, bucket.id, true).await;
    assert_eq!(kind(deleted), ErrorKind::Forbidden);
    let updated = admin.update_bucket(&second, bucket.id, BucketSpec::default()).await;
    assert_eq!(kind(updated), ErrorKind::NotFound);
    let input = admin.create_input(&second, bucket.id, InputSpec::default()).await;
    assert_eq!(kind(input), ErrorKind::Invalid);
    let made = admin.create_output(&second, bucket.id, output_named("p")).await;
    assert_eq!(kind(made), ErrorKind::NotFound);
    let rules = admin.delete_rules(&second, bucket.id, output.id).await;
    assert_eq!(kind(rules), ErrorKind::NotFound);
    let input = admin.delete_input(&second, bucket.id, InputId::generate()).await;
    assert_eq!(kind(input), ErrorKind::NotFound);
    assert_eq!(admin.buckets(&second).await?, []);
    Ok(())
}

#[tokio::test]
async fn functions_are_the_accounts_own() -> Result<(), Error> {
    let House { admin, stores, caller, .. } = house().await;
    let (second, _) = admin.create_account("second", None).await?;
    let function = |account| {
        let spec = FunctionSpec::default();
        Function::new(FunctionId::generate(), account, Timestamp::default(), spec)
    };
    let (own, foreign) = (function(caller.account_id()), function(second.id));
    stores.documents.create(own.account_id, &own).await?;
    stores.documents.create(foreign.account_id, &foreign).await?;

    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;
    let with = |id| OutputSpec { response_function_id: Some(id), ..output_named("") };
    admin.create_output(&caller, bucket.id, with(own.id)).await?;
    let refused = admin.create_output(&caller, bucket.id, with(foreign.id)).await;
    let text = refused.expect_err("it is refused").to_string();
    assert!(text.starts_with("response_function_id: "), "{text}");
    Ok(())
}

#[tokio::test]
async fn keys() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let first = admin.api_key(&caller).await?;
    assert_eq!(admin.api_key(&caller).await?, first);
    let shown = admin.authenticate_api_key(first.key.expose()).await?;
    assert_eq!(shown.account_id(), caller.account_id());
    assert_eq!(shown.credential(), &Credential::ApiKey);

    let second = admin.regenerate_api_key(&caller).await?;
    assert_ne!(second.key, first.key);
    let old = admin.authenticate_api_key(first.key.expose()).await;
    assert_eq!(kind(old), ErrorKind::Unauthorized);

    admin.set_api_key_enabled(&caller, false).await?;
    let disabled = admin.authenticate_api_key(second.key.expose()).await;
    assert_eq!(kind(disabled), ErrorKind::Unauthorized);
    assert_eq!(admin.api_key(&caller).await?.key, second.key, "kept while disabled");
    admin.set_api_key_enabled(&caller, true).await?;
    admin.authenticate_api_key(second.key.expose()).await?;
    Ok(())
}

#[tokio::test]
async fn a_key_is_made_when_there_is_none() -> Result<(), Error> {
    let House { admin, stores, .. } = house().await;
    let account = crate::model::Account {
        id: crate::AccountId::generate(),
        name: "bare".to_owned(),
        created_at: Timestamp::default(),
    };
    stores.accounts.create_account(&account).await?;
    let caller = Caller::for_account(account.id);
    let enabled = admin.set_api_key_enabled(&caller, true).await;
    assert_eq!(kind(enabled), ErrorKind::Invalid);
    let (one, other) = tokio::join!(admin.api_key(&caller), admin.api_key(&caller));
    assert_eq!(one?, other?, "two that ask at once get the same");
    Ok(())
}

#[tokio::test]
async fn keys_that_operators_choose() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let long = format!("sk-{}", "x".repeat(510));
    for wrong in ["", "secret-without-prefix", "sk-short", "sk-with a blank in it", &long] {
        let made = admin.create_account("second", Some(Secret::new(wrong))).await;
        assert_eq!(kind(made), ErrorKind::Invalid, "{wrong:?}");
    }
    let key = Secret::new("sk-chosen-by-the-operator");
    admin.set_api_key(caller.account_id(), key.clone()).await?;
    admin.authenticate_api_key(key.expose()).await?;
    let taken = admin.create_account("second", Some(key)).await;
    assert_eq!(kind(taken), ErrorKind::Conflict);
    assert_eq!(admin.accounts().await?.len(), 1, "nothing half-made");
    assert_eq!(admin.find_account("first").await?.id, caller.account_id());
    let by_id = caller.account_id().to_string();
    assert_eq!(admin.find_account(&by_id).await?.name, "first");
    assert_eq!(kind(admin.find_account("second").await), ErrorKind::NotFound);
    Ok(())
}
