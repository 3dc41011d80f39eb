//! Cases for [`OutputStore`](webhook_core::store::OutputStore).

use std::time::Duration;

use crate::sample::Together as _;
use webhook_core::store::{BucketStore as _, OutputStore as _};
use webhook_core::{
    AccountId, BucketId, CronId, ErrorKind, FunctionId, OutputId, Timestamp,
    credentials::{AuthSpec, ClientAuth, OAuth2Auth, SigningFormat, SigningSecret, SigningSpec},
    model::{
        Bucket, Durability, Extension, Health, OnDisabled, Outcomes, Output, OutputSpec, Pause,
        Pauses, RateInterval, ReplayMissing, RetrySchedule, Secret, Throttle, ThrottleMode,
    },
    rule::{AnswerRules, Rule, Rules},
    store::Stores,
};

use super::{
    input::written_headers,
    sample::{
        NOW, ODD_TEXT, bucket, expect_conflict, expect_every_field, expect_not_found,
        expect_one_winner, function, input, output, race, with,
    },
};

async fn stored_bucket(stores: &Stores, account: AccountId, name: &str) -> Bucket {
    let bucket = bucket(account, name);
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    bucket
}

async fn create(stores: &Stores, bucket: &Bucket, output: &Output) {
    stores.documents.create_output(bucket.account_id, output).await.expect("the output is new");
}

async fn stored(stores: &Stores, bucket: &Bucket, name: &str) -> Output {
    let output = output(bucket.id, name);
    create(stores, bucket, &output).await;
    output
}

async fn read(stores: &Stores, bucket: &Bucket, id: OutputId) -> Option<Output> {
    let output = stores.documents.output(bucket.account_id, bucket.id, id).await;
    output.expect("the output can be read")
}

async fn bucket_of(stores: &Stores, id: OutputId) -> Option<Bucket> {
    stores.routes.bucket_of_output(id).await.expect("the bucket can be read")
}

fn rules() -> Rules {
    serde_json::from_value(serde_json::json!({
        "or": [
            { "match": {
                "type": "value",
                "parameter": { "source": "header", "name": "X-Event" },
                "value": " it's 100% \"ä\" 🦀 ",
            } },
            { "not": [{ "match": {
                "type": "regex",
                "parameter": { "source": "payload", "name": "a.b" },
                "regex": "^\\d+\\\\$",
            } }] },
        ],
    }))
    .expect("the rules are well-formed")
}

fn outcomes() -> Outcomes {
    let lists = r#"{"success": ["2xx", "409"], "retry": ["404"], "final": ["500", "3xx"]}"#;
    serde_json::from_str(lists).expect("the lists are well-formed")
}

fn success_when() -> AnswerRules {
    let rule = Rule::status().is_not("202").and(Rule::payload("ok").equals(ODD_TEXT));
    AnswerRules::try_from(rule).expect("the rules are well-formed")
}

/// Pauses to the millisecond: one that is over, and one that goes on.
fn odd_pauses() -> Pauses {
    let pause = |at, until| Pause::new(Timestamp::from_millis(at), until, ODD_TEXT.to_owned());
    let mut pauses = Pauses::default();
    pauses.pause(pause(1_001, None));
    pauses.resume(Timestamp::from_millis(2_002), Some((7, RateInterval::Minute)));
    pauses.pause(pause(3_003, Some(Timestamp::from_millis(4_102_444_800_999))));
    pauses
}

/// The same spec without functions, which would have to exist.
fn without_functions(mut output: Output) -> Output {
    output.spec.function_id = None;
    output.spec.response_function_id = None;
    output
}

/// An output in which every field has something that is easily lost.
fn odd_output(bucket: BucketId, name: &str) -> Output {
    Output {
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(4_102_444_800_999),
        created_by: format!("key{ODD_TEXT}"),
        cron_id: Some(CronId::generate()),
        failing_since: Some(Timestamp::from_millis(1_234_567)),
        pauses: odd_pauses(),
        spec: with(
            OutputSpec::new(
                format!("{name}{ODD_TEXT}"),
                "https://user:pa%20ss@[2001:db8::1]:8443/a%2Fb?x=1&x='\"#f",
            ),
            |spec| {
                spec.description = ODD_TEXT.repeat(20);
                spec.function_id = Some(FunctionId::generate());
                spec.response_function_id = Some(FunctionId::generate());
                spec.health = Extension::Set(Health::default());
                spec.outcomes = Extension::Set(outcomes());
                spec.success_when = Some(success_when());
                spec.headers = written_headers();
                spec.rules = rules();
                spec.internal = true;
                spec.disabled = true;
                spec.on_disabled = Some(OnDisabled::Park);
                spec.lock_path = true;
                spec.retries = 7;
                spec.timeout = Some(Duration::from_secs(180));
                spec.tls_verification = false;
                spec.throttle = with(Throttle::default(), |throttle| {
                    throttle.enabled = true;
                    throttle.mode = ThrottleMode::Concurrency;
                    throttle.rate = 1;
                    throttle.interval = RateInterval::Hour;
                    throttle.max_concurrent = 2;
                    throttle.max_queue_depth = 3;
                    throttle.deadline = Duration::from_nanos(4_000_000_005);
                });
                spec.durability = with(Durability::default(), |durability| {
                    durability.enabled = true;
                    durability.schedule = RetrySchedule::Custom;
                    durability.custom_delays = [5, 1, 5].map(Duration::from_nanos).into();
                    durability.deadline = Duration::from_nanos(86_400_000_000_001);
                    durability.handoff_after = Duration::from_nanos(1);
                });
                spec.replay_missing = with(ReplayMissing::default(), |replay| {
                    replay.enabled = true;
                    replay.lookback = Duration::from_nanos(3_600_000_000_007);
                    replay.limit = u32::MAX;
                });
                spec.signing = Extension::Set(with(SigningSpec::default(), |signing| {
                    signing.enabled = false;
                    signing.format = SigningFormat::HmacTimestampBody;
                    signing.secrets.push(SigningSecret {
                        secret: Secret::new(ODD_TEXT),
                        expires_at: Timestamp::from_secs(4_102_444_800),
                    });
                    signing.prefix = format!("x-{ODD_TEXT}");
                }));
                spec.auth = Extension::Set(AuthSpec::Oauth2ClientCredentials(OAuth2Auth {
                    client_id: ODD_TEXT.to_owned(),
                    client_secret: Secret::new(ODD_TEXT),
                    client_auth: Some(ClientAuth::ClientSecretPost),
                    ..OAuth2Auth::default()
                }));
            },
        ),
        ..output(bucket, "")
    }
}

/// What was created is read back, alone and in its bucket.
pub async fn created_output_is_read_back(stores: &Stores) {
    let mut bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let output = stored(stores, &bucket, "out").await;
    assert_eq!(read(stores, &bucket, output.id).await.as_ref(), Some(&output));
    bucket.outputs.push(output);
    let whole = stores.documents.bucket(bucket.account_id, bucket.id).await;
    assert_eq!(whole.expect("the bucket can be read"), Some(bucket));
}

/// Every field survives, with odd text, repeated headers, rules, nanoseconds and milliseconds.
pub async fn every_field_of_an_output_round_trips(stores: &Stores) {
    let spec = odd_output(BucketId::generate(), "").spec;
    expect_every_field(std::slice::from_ref(&spec));
    expect_every_field(&[spec.throttle]);
    expect_every_field(&[spec.durability]);
    expect_every_field(&[spec.replay_missing]);
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let schedules =
        [RetrySchedule::Seconds, RetrySchedule::Medium, RetrySchedule::Long, RetrySchedule::Custom];
    let intervals =
        [RateInterval::Second, RateInterval::Minute, RateInterval::Hour, RateInterval::Hour];
    let modes = [ThrottleMode::Rate, ThrottleMode::Concurrency].into_iter().cycle();
    for ((schedule, interval), mode) in schedules.into_iter().zip(intervals).zip(modes) {
        let mut output = odd_output(bucket.id, &format!("{schedule:?}"));
        for id in [&mut output.spec.function_id, &mut output.spec.response_function_id] {
            let function = function(bucket.account_id, "f");
            let created = stores.documents.create(bucket.account_id, &function).await;
            created.expect("the function is new");
            *id = Some(function.id);
        }
        output.spec.durability.schedule = schedule;
        output.spec.throttle.interval = interval;
        output.spec.throttle.mode = mode;
        create(stores, &bucket, &output).await;
        assert_eq!(read(stores, &bucket, output.id).await, Some(output));
    }
}

/// The smallest and the greatest numbers survive.
pub async fn numbers_of_an_output_round_trip_at_their_limits(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    // The wire counts nanoseconds in 64 signed bits.
    let longest = Duration::from_nanos(i64::MAX.unsigned_abs());
    let limits = [(i32::MIN, 0, Duration::ZERO), (-1, 1, longest), (i32::MAX, u32::MAX, longest)];
    for (retries, number, duration) in limits {
        let mut output = output(bucket.id, "");
        output.spec.retries = retries;
        output.spec.timeout = (number > 0).then(|| Duration::from_secs(number.into()));
        output.spec.throttle.rate = number;
        output.spec.throttle.max_concurrent = number;
        output.spec.throttle.max_queue_depth = number;
        output.spec.throttle.deadline = duration;
        output.spec.durability.custom_delays = vec![duration; 100];
        output.spec.durability.deadline = duration;
        output.spec.durability.handoff_after = duration;
        create(stores, &bucket, &output).await;
        assert_eq!(read(stores, &bucket, output.id).await, Some(output));
    }
}

/// There is no output without a bucket of the account.
pub async fn output_for_a_bucket_the_account_lacks_is_not_found(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let stray = output(BucketId::generate(), "out");
    expect_not_found(stores.documents.create_output(bucket.account_id, &stray).await);
    assert_eq!(bucket_of(stores, stray.id).await, None);
    let theirs = output(bucket.id, "out");
    expect_not_found(stores.documents.create_output(AccountId::generate(), &theirs).await);
    assert_eq!(bucket_of(stores, theirs.id).await, None);
}

/// A taken ID is refused, in another bucket too, and changes nothing.
pub async fn taken_output_id_is_a_conflict(stores: &Stores) {
    let account = AccountId::generate();
    let first = stored_bucket(stores, account, "a").await;
    let second = stored_bucket(stores, account, "b").await;
    let taken = stored(stores, &first, "out").await;
    for bucket in [&first, &second] {
        let again = Output { id: taken.id, ..output(bucket.id, "again") };
        expect_conflict(stores.documents.create_output(account, &again).await);
    }
    assert_eq!(read(stores, &first, taken.id).await, Some(taken.clone()));
    assert_eq!(read(stores, &second, taken.id).await, None);
}

/// A name that the bucket has is refused; another bucket may have it too.
pub async fn taken_output_name_is_a_conflict(stores: &Stores) {
    let account = AccountId::generate();
    let first = stored_bucket(stores, account, "a").await;
    let second = stored_bucket(stores, account, "b").await;
    let taken = stored(stores, &first, "out").await;
    let again = output(first.id, "out");
    expect_conflict(stores.documents.create_output(account, &again).await);
    assert_eq!(read(stores, &first, again.id).await, None);
    assert_eq!(bucket_of(stores, taken.id).await.expect("it stays").outputs, [taken]);
    for (bucket, name) in [(&second, "out"), (&first, "Out"), (&first, "out ")] {
        stored(stores, bucket, name).await;
    }
}

/// Any number of outputs may have the empty name.
pub async fn unnamed_outputs_do_not_clash(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let first = stored(stores, &bucket, "").await;
    let mut named = stored(stores, &bucket, "named").await;
    let second = stored(stores, &bucket, "").await;
    named.spec.name = String::new();
    stores.documents.update_output(bucket.account_id, &named).await.expect("no name never clashes");
    named.version += 1;
    let whole = bucket_of(stores, first.id).await.expect("the bucket exists");
    assert_eq!(whole.outputs, [first, named, second]);
}

/// An output is found through its own account and bucket only.
pub async fn outputs_of_another_account_or_bucket_are_absent(stores: &Stores) {
    let account = AccountId::generate();
    let first = stored_bucket(stores, account, "a").await;
    let second = stored_bucket(stores, account, "b").await;
    let output = stored(stores, &first, "out").await;
    let stranger = Bucket { account_id: AccountId::generate(), ..first.clone() };
    for elsewhere in [&second, &stranger] {
        assert_eq!(read(stores, elsewhere, output.id).await, None);
        let moved = Output { bucket_id: elsewhere.id, ..output.clone() };
        let account = elsewhere.account_id;
        expect_not_found(stores.documents.update_output(account, &moved).await);
    }
    let theirs = stores.documents.delete_output(stranger.account_id, output.id).await;
    expect_not_found(theirs);
    assert_eq!(read(stores, &first, output.id).await, Some(output));
}

/// A delivery starts with the whole bucket, whoever owns it.
pub async fn bucket_of_output_is_the_whole_bucket(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "a");
    bucket.inputs = ["a", "b"].map(|name| input(bucket.id, name)).into();
    bucket.outputs = ["c", "d", "e"].map(|name| output(bucket.id, name)).into();
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    stored_bucket(stores, account, "other").await;
    for output in &bucket.outputs {
        assert_eq!(bucket_of(stores, output.id).await.as_ref(), Some(&bucket));
    }
    assert_eq!(bucket_of(stores, OutputId::generate()).await, None);
    bucket.outputs.push(stored(stores, &bucket, "f").await);
    assert_eq!(bucket_of(stores, bucket.outputs[0].id).await, Some(bucket));
}

/// An update replaces every field but the state, and a second one leaves nothing of the first.
pub async fn update_replaces_an_output(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let (plain, other) = (stored(stores, &bucket, "a").await, stored(stores, &bucket, "b").await);
    let odd = without_functions(odd_output(bucket.id, "odd"));
    let odd = Output { id: plain.id, created_at: NOW, ..odd };
    let plain = Output { cron_id: None, ..plain };
    for (known, changed) in (1..).zip([odd, plain]) {
        let changed = Output { version: known, ..changed };
        stores.documents.update_output(bucket.account_id, &changed).await.expect("it exists");
        // An update leaves the state as it is.
        let (version, pauses, failing_since) = (known + 1, Pauses::default(), None);
        let expected = Output { version, pauses, failing_since, ..changed };
        assert_eq!(read(stores, &bucket, expected.id).await, Some(expected));
    }
    assert_eq!(read(stores, &bucket, other.id).await, Some(other));
}

/// A name that another output of the bucket has is refused; its own it may keep.
pub async fn update_to_a_taken_output_name_is_a_conflict(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let (first, second) = (stored(stores, &bucket, "a").await, stored(stores, &bucket, "b").await);
    let mut taken = second.clone();
    taken.spec.name = "a".to_owned();
    taken.spec.description = "not stored".to_owned();
    expect_conflict(stores.documents.update_output(bucket.account_id, &taken).await);
    let whole = bucket_of(stores, first.id).await.expect("the bucket exists");
    assert_eq!(whole.outputs, [first, second.clone()]);

    let mut own = second;
    own.spec.description = "stored".to_owned();
    stores.documents.update_output(bucket.account_id, &own).await.expect("its own name is free");
    own.version += 1;
    own.spec.name = "c".to_owned();
    stores.documents.update_output(bucket.account_id, &own).await.expect("the name is free");
    own.version += 1;
    stored(stores, &bucket, "b").await;
    assert_eq!(read(stores, &bucket, own.id).await, Some(own));
}

/// What is not there can be neither changed nor removed.
pub async fn update_or_delete_of_no_output_is_not_found(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let absent = output(bucket.id, "out");
    expect_not_found(stores.documents.update_output(bucket.account_id, &absent).await);
    expect_not_found(stores.documents.delete_output(bucket.account_id, absent.id).await);
    assert_eq!(read(stores, &bucket, absent.id).await, None);
}

/// A removed output is absent in every way; its siblings stay.
pub async fn deleted_output_is_gone_and_its_name_free(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let (gone, stays) = (stored(stores, &bucket, "a").await, stored(stores, &bucket, "b").await);
    stores.documents.delete_output(bucket.account_id, gone.id).await.expect("it exists");
    assert_eq!(read(stores, &bucket, gone.id).await, None);
    assert_eq!(bucket_of(stores, gone.id).await, None);
    expect_not_found(stores.documents.delete_output(bucket.account_id, gone.id).await);
    let again = stored(stores, &bucket, "a").await;
    assert_eq!(bucket_of(stores, stays.id).await.expect("it stays").outputs, [stays, again]);
}

/// Removing a bucket removes its outputs.
pub async fn outputs_go_with_their_bucket(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let output = stored(stores, &bucket, "out").await;
    let forced = stores.documents.remove_bucket(bucket.account_id, bucket.id, None, true).await;
    forced.expect("force is set");
    assert_eq!(bucket_of(stores, output.id).await, None);
    assert_eq!(read(stores, &bucket, output.id).await, None);
    expect_not_found(stores.documents.update_output(bucket.account_id, &output).await);
    expect_not_found(stores.documents.create_output(bucket.account_id, &output).await);

    // The IDs are free again, as those of a backup that is put back.
    let again = Bucket { outputs: vec![output.clone()], ..bucket };
    stores.documents.create_bucket(&again).await.expect("nothing is left of the former one");
    assert_eq!(bucket_of(stores, output.id).await, Some(again));
}

/// Of several outputs with one name that are created at once, one is stored.
pub async fn concurrent_outputs_with_one_name_store_one(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let (account, id) = (bucket.account_id, bucket.id);
    let results = race(8, |_| {
        let store = stores.documents.clone();
        async move { store.create_output(account, &output(id, "out")).await }
    })
    .await;
    expect_one_winner(results, ErrorKind::Conflict);
    let whole = stores.documents.bucket(account, id).await.expect("the bucket can be read");
    assert_eq!(whole.expect("the bucket exists").outputs.len(), 1);
}
