//! Cases for the versions of documents.

use webhook_core::{
    AccountId, Timestamp,
    credentials::{SigningSecret, SigningSpec},
    model::{Extension, Function, Output, Pause, PauseChange, Secret},
    store::{
        BucketStore as _, Change, Configured, Document, DocumentKey, DocumentState, MAX_VERSIONS,
        OutputStore as _, Refusal, StateChange, Stores,
    },
};

use super::refusal;
use crate::sample::{NOW, after, bucket, change_state, function, output, update, with};

async fn history(stores: &Stores, account: AccountId, key: DocumentKey) -> Vec<Document> {
    stores.documents.history(account, key).await.expect("versions can be read")
}

/// An output as it is in this version, with secrets of its own.
fn in_version(output: &Output, version: u64) -> Output {
    with(output.clone(), |output| {
        output.updated_at = after(version);
        output.spec.description = format!("version {version}");
        output.spec.headers.0.insert("x-secret", http::HeaderValue::from(version));
        output.spec.signing = Extension::Set(with(SigningSpec::default(), |signing| {
            let secret = Secret::new(format!("secret {version}"));
            signing.secrets.push(SigningSecret { secret, expires_at: Timestamp::default() });
        }));
        output.version = version;
    })
}

/// The last versions of a document are kept, with what is secret in them and without a state.
pub async fn the_last_versions_are_kept(stores: &Stores) {
    let account = AccountId::generate();
    let mut made = bucket(account, "b");
    let output = output(made.id, "o");
    made.outputs.push(in_version(&output, 1));
    stores.documents.create_bucket(&made).await.expect("the bucket is new");
    let pause = PauseChange::Pause(Pause::new(NOW, None, String::new()));
    change_state(stores, StateChange::Pauses(output.id, pause)).await.expect("it is there");

    let key = Output::key(output.id.as_uuid());
    let most = MAX_VERSIONS as u64;
    for present in 1..=most + 3 {
        if present > 1 {
            let changed = in_version(&output, present);
            update(stores, account, &changed, present - 1).await.expect("nobody else changes it");
        }
        let kept = history(stores, account, key).await;
        let versions: Vec<_> = kept.iter().map(|document| document.version).collect();
        let oldest = present.saturating_sub(most) + 1;
        assert_eq!(versions, (oldest..=present).rev().collect::<Vec<_>>());
        for document in kept {
            let version = document.version;
            assert_eq!(document.state, DocumentState::default(), "a version has no state");
            let read = Output::read(document).expect("it can be read");
            assert_eq!(read, in_version(&output, version));
        }
    }

    let theirs = history(stores, AccountId::generate(), key).await;
    assert_eq!(theirs, []);
    stores.documents.delete_output(account, output.id).await.expect("it is there");
    assert_eq!(history(stores, account, key).await, []);
    stores.documents.create_output(account, &output).await.expect("its identifier is free");
    let versions = history(stores, account, key).await;
    assert_eq!(versions.iter().map(|it| it.version).collect::<Vec<_>>(), [1]);
}

/// A removal of another version than the present one removes nothing.
pub async fn removal_of_another_version_is_refused(stores: &Stores) {
    let account = AccountId::generate();
    let function = function(account, "f");
    stores.documents.create(account, &function).await.expect("the function is new");
    let update = Change::update(account, &function, 1).expect("a document");
    assert_eq!(refusal(stores, &[update]).await, None);
    let key = Function::key(function.id.as_uuid());
    let remove = |version| [Change::delete::<Function>(account, key.id).pinned(Some(version))];
    for version in [1, 3] {
        assert_eq!(refusal(stores, &remove(version)).await, Some(Refusal::Stale));
        let found = stores.documents.get::<Function>(account, key.id).await.expect("readable");
        assert_eq!(found.map(|function| function.version), Some(2));
    }
    assert_eq!(refusal(stores, &remove(2)).await, None);
    let missing = Some(Refusal::Missing(Function::KIND));
    assert_eq!(refusal(stores, &remove(2)).await, missing);
}
