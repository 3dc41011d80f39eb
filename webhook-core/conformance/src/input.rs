//! Cases for [`InputStore`](webhook_core::store::InputStore).

use std::time::Duration;

use crate::sample::Together as _;
use webhook_core::store::{BucketStore as _, InputStore as _};
use webhook_core::{
    AccountId, BucketId, FunctionId, InputId, OutputId, Timestamp,
    model::{
        AuthType, Bucket, Deduplication, DuplicateAnswer, Extension, Headers, Input, InputSpec,
        MinTls, ResponseFromOutput, Secret, SecretSpec, SignatureSpec,
    },
    store::Stores,
};

use super::sample::{
    NOW, ODD_TEXT, after, bucket, expect_conflict, expect_every_field, expect_not_found, function,
    input, odd_headers, output, race, with,
};

async fn stored_bucket(stores: &Stores, account: AccountId, name: &str) -> Bucket {
    let bucket = bucket(account, name);
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    bucket
}

async fn stored(stores: &Stores, bucket: &Bucket, name: &str) -> Input {
    let input = input(bucket.id, name);
    stores.documents.create_input(bucket.account_id, &input).await.expect("the input is new");
    input
}

async fn read(stores: &Stores, bucket: &Bucket, id: InputId) -> Option<Input> {
    let input = stores.documents.input(bucket.account_id, bucket.id, id).await;
    input.expect("the input can be read")
}

async fn bucket_of(stores: &Stores, id: InputId) -> Option<Bucket> {
    stores.routes.bucket_of_input(id).await.expect("the bucket can be read")
}

/// Headers as a caller can write them: what is not UTF-8 has no place in JSON.
pub(super) fn written_headers() -> Headers {
    let mut headers = odd_headers();
    headers.remove("x-opaque");
    Headers(headers)
}

/// An input in which every field has something that is easily lost.
fn odd_input(bucket: BucketId, response_from_output: ResponseFromOutput) -> Input {
    Input {
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(4_102_444_800_999),
        created_by: format!("key{ODD_TEXT}"),
        spec: with(InputSpec::new(format!("name{ODD_TEXT}")), |spec| {
            spec.description = ODD_TEXT.repeat(20);
            spec.status_code = 599;
            spec.headers = written_headers();
            spec.body = ODD_TEXT.repeat(2_000);
            spec.response_from_output = response_from_output;
            spec.custom_domain = "xn--bcher-kva.example".to_owned();
            spec.path_prefix = "/a/ä".to_owned();
            spec.strip_path_prefix = true;
            spec.tls_version = Some(MinTls::Tls13);
            spec.legacy_tls = true;
            spec.signature = Extension::Set(with(SignatureSpec::default(), |signature| {
                signature.provider = format!("custom{ODD_TEXT}");
                signature.secrets.push(SecretSpec {
                    secret: Secret::new(ODD_TEXT),
                    expires_at: Timestamp::from_secs(4_102_444_800),
                });
            }));
            spec.deduplication = Extension::Set(with(Deduplication::default(), |it| {
                it.window = Duration::from_secs(30 * 86_400);
                it.exclude.push(format!("payload.{ODD_TEXT}"));
                it.answer = DuplicateAnswer::Status(599);
            }));
        }),
        ..input(bucket, "")
    }
}

/// What was created is read back, alone and in its bucket.
pub async fn created_input_is_read_back(stores: &Stores) {
    let mut bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let input = stored(stores, &bucket, "in").await;
    assert_eq!(read(stores, &bucket, input.id).await.as_ref(), Some(&input));
    bucket.inputs.push(input);
    let whole = stores.documents.bucket(bucket.account_id, bucket.id).await;
    assert_eq!(whole.expect("the bucket can be read"), Some(bucket));
}

/// Every field survives, with odd text, repeated headers and milliseconds.
pub async fn every_field_of_an_input_round_trips(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let output = ResponseFromOutput::Output(OutputId::generate());
    let every = with(odd_input(bucket.id, output).spec, |spec| {
        spec.function_id = Some(FunctionId::generate());
    });
    expect_every_field(&[every]);
    let function = function(bucket.account_id, "f");
    stores.documents.create(bucket.account_id, &function).await.expect("the function is new");
    for response in [ResponseFromOutput::Static, ResponseFromOutput::Any, output] {
        let mut input = odd_input(bucket.id, response);
        input.spec.function_id = Some(function.id);
        stores.documents.create_input(bucket.account_id, &input).await.expect("the input is new");
        assert_eq!(read(stores, &bucket, input.id).await, Some(input));
    }
}

/// There is no input without a bucket of the account.
pub async fn input_for_a_bucket_the_account_lacks_is_not_found(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let stray = input(BucketId::generate(), "in");
    expect_not_found(stores.documents.create_input(bucket.account_id, &stray).await);
    assert_eq!(bucket_of(stores, stray.id).await, None);
    let theirs = input(bucket.id, "in");
    expect_not_found(stores.documents.create_input(AccountId::generate(), &theirs).await);
    assert_eq!(bucket_of(stores, theirs.id).await, None);
}

/// A taken ID is refused, in another bucket too, and changes nothing.
pub async fn taken_input_id_is_a_conflict(stores: &Stores) {
    let account = AccountId::generate();
    let first = stored_bucket(stores, account, "a").await;
    let second = stored_bucket(stores, account, "b").await;
    let taken = stored(stores, &first, "in").await;
    for bucket in [&first, &second] {
        let again = Input { id: taken.id, ..input(bucket.id, "again") };
        expect_conflict(stores.documents.create_input(account, &again).await);
    }
    assert_eq!(read(stores, &first, taken.id).await, Some(taken.clone()));
    assert_eq!(read(stores, &second, taken.id).await, None);
}

/// An input is found through its own account and bucket only.
pub async fn inputs_of_another_account_or_bucket_are_absent(stores: &Stores) {
    let account = AccountId::generate();
    let first = stored_bucket(stores, account, "a").await;
    let second = stored_bucket(stores, account, "b").await;
    let input = stored(stores, &first, "in").await;
    let stranger = Bucket { account_id: AccountId::generate(), ..first.clone() };
    for elsewhere in [&second, &stranger] {
        assert_eq!(read(stores, elsewhere, input.id).await, None);
        let moved = Input { bucket_id: elsewhere.id, ..input.clone() };
        let account = elsewhere.account_id;
        expect_not_found(stores.documents.update_input(account, &moved).await);
    }
    let theirs = stores.documents.delete_input(stranger.account_id, input.id).await;
    expect_not_found(theirs);
    assert_eq!(read(stores, &first, input.id).await, Some(input));
}

/// A webhook's way starts with the whole bucket, whoever owns it.
pub async fn bucket_of_input_is_the_whole_bucket(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "a");
    bucket.inputs = ["a", "b", "c"].map(|name| input(bucket.id, name)).into();
    bucket.outputs = ["d", "e"].map(|name| output(bucket.id, name)).into();
    bucket.spec.auth.kind = AuthType::Token;
    bucket.spec.auth.token = Secret::new(ODD_TEXT);
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    stored_bucket(stores, account, "other").await;
    for input in &bucket.inputs {
        assert_eq!(bucket_of(stores, input.id).await.as_ref(), Some(&bucket));
    }
    assert_eq!(bucket_of(stores, InputId::generate()).await, None);
}

/// A change of the bucket or of anything in it shows at once.
pub async fn bucket_of_input_follows_changes(stores: &Stores) {
    let mut bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let account = bucket.account_id;
    let mut input = stored(stores, &bucket, "in").await;
    let id = input.id;

    bucket.suspended = true;
    bucket.updated_at = after(1);
    bucket.stamp_auth();
    stores.documents.update_bucket(&bucket).await.expect("the bucket exists");
    bucket.version += 1;
    input.spec.status_code = 202;
    stores.documents.update_input(account, &input).await.expect("the input exists");
    input.version += 1;
    bucket.inputs.push(input);
    bucket.inputs.push(stored(stores, &bucket, "second").await);
    assert_eq!(bucket_of(stores, id).await.as_ref(), Some(&bucket));

    let gone = bucket.inputs.pop().expect("there are two inputs");
    stores.documents.delete_input(account, gone.id).await.expect("the input exists");
    assert_eq!(bucket_of(stores, id).await, Some(bucket));
    assert_eq!(bucket_of(stores, gone.id).await, None);
}

/// An update replaces every field, and a second one leaves nothing of the first.
pub async fn update_replaces_an_input(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let (plain, other) = (stored(stores, &bucket, "in").await, stored(stores, &bucket, "in").await);
    let odd = Input {
        id: plain.id,
        created_at: NOW,
        ..odd_input(bucket.id, ResponseFromOutput::Output(OutputId::generate()))
    };
    for (known, changed) in (1..).zip([odd, plain]) {
        let mut changed = Input { version: known, ..changed };
        stores.documents.update_input(bucket.account_id, &changed).await.expect("it exists");
        changed.version += 1;
        assert_eq!(read(stores, &bucket, changed.id).await, Some(changed));
    }
    assert_eq!(read(stores, &bucket, other.id).await, Some(other));
}

/// What is not there can be neither changed nor removed.
pub async fn update_or_delete_of_no_input_is_not_found(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let absent = input(bucket.id, "in");
    expect_not_found(stores.documents.update_input(bucket.account_id, &absent).await);
    expect_not_found(stores.documents.delete_input(bucket.account_id, absent.id).await);
    assert_eq!(read(stores, &bucket, absent.id).await, None);
}

/// A removed input is absent in every way; its siblings stay.
pub async fn deleted_input_is_gone(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let (gone, stays) = (stored(stores, &bucket, "a").await, stored(stores, &bucket, "b").await);
    stores.documents.delete_input(bucket.account_id, gone.id).await.expect("it exists");
    assert_eq!(read(stores, &bucket, gone.id).await, None);
    assert_eq!(bucket_of(stores, gone.id).await, None);
    expect_not_found(stores.documents.delete_input(bucket.account_id, gone.id).await);
    assert_eq!(bucket_of(stores, stays.id).await.expect("it stays").inputs, [stays]);
}

/// Removing a bucket removes its inputs.
pub async fn inputs_go_with_their_bucket(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let input = stored(stores, &bucket, "in").await;
    stores
        .documents
        .remove_bucket(bucket.account_id, bucket.id, Some(input.id), false)
        .await
        .expect("its only input is spared");
    assert_eq!(bucket_of(stores, input.id).await, None);
    assert_eq!(read(stores, &bucket, input.id).await, None);
    expect_not_found(stores.documents.update_input(bucket.account_id, &input).await);
    expect_not_found(stores.documents.create_input(bucket.account_id, &input).await);

    // The IDs are free again, as those of a backup that is put back.
    let again = Bucket { inputs: vec![input.clone()], ..bucket };
    stores.documents.create_bucket(&again).await.expect("nothing is left of the former one");
    assert_eq!(bucket_of(stores, input.id).await, Some(again));
}

/// Inputs that are created at once are all stored.
pub async fn concurrent_inputs_are_all_kept(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate(), "a").await;
    let (account, id) = (bucket.account_id, bucket.id);
    let results = race(12, |_| {
        let store = stores.documents.clone();
        async move {
            let input = input(id, "same name");
            store.create_input(account, &input).await.map(|()| input)
        }
    })
    .await;
    let mut created: Vec<_> = results.into_iter().map(|r| r.expect("each is new")).collect();
    created.sort_by_key(|input| input.id);
    let whole = stores.documents.bucket(account, id).await.expect("the bucket can be read");
    assert_eq!(whole.expect("the bucket exists").inputs, created);
}
