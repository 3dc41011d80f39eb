//! Cases for documents that others use.

use webhook_core::{
    AccountId,
    model::{Bucket, Domain, Function, Input},
    store::{
        Bounds, BucketStore as _, Change, Configured, DocumentKey, DocumentKind, Refusal, Stores,
    },
};

use super::{all, cron, domain, refusal, settled, stored_bucket};
use crate::sample::{bucket, function, input, output, race, with};

/// How often a use and a removal meet.
const MEETINGS: usize = 6;

fn create<T: Configured>(account: AccountId, made: &T) -> Change {
    Change::create(account, made, Bounds::NONE).expect("a document")
}

/// Removes a document that nothing uses.
fn remove(account_id: AccountId, key: DocumentKey) -> [Change; 2] {
    [Change::Unused(key), Change::Delete { key, account_id, expected_version: None }]
}

/// A new use of a document and its removal run concurrently: one of them is refused, and the
/// document exists when the removal was.
async fn meet(stores: &Stores, account: AccountId, turn: usize, used: DocumentKey, start: Change) {
    let changes = [vec![start], remove(account, used).to_vec()];
    // The task that starts last often runs first, so each of them does in turn.
    let first = usize::from(turn.is_multiple_of(2));
    let mut done = race(2, |number| {
        let (stores, changes) = (stores.clone(), changes[number ^ first].clone());
        async move { settled(&stores, &changes).await }
    })
    .await;
    done.rotate_left(first);
    let is_there = all(stores, account).await.iter().any(|document| document.key == used);
    match (done[0], done[1]) {
        (None, Some(Refusal::Used)) => assert!(is_there, "{used:?} is used"),
        (Some(Refusal::Missing(kind)), None) if kind == used.kind => {
            assert!(!is_there, "{used:?} was removed");
        }
        other => panic!("both or none: {other:?}"),
    }
}

/// A document that another one uses is not removed, also by a removal at the same moment.
pub async fn a_used_document_stays(stores: &Stores) {
    let account = AccountId::generate();
    let made = stored_bucket(stores, account, "b").await;
    let idle = output(made.id, "");
    stores.documents.create(account, &idle).await.expect("the output is new");
    let mut version = 1;
    for number in 0..MEETINGS {
        let of_output = function(account, "of an output");
        let of_input = function(account, "of an input");
        let of_update = function(account, "of an update");
        for function in [&of_output, &of_input, &of_update] {
            stores.documents.create(account, function).await.expect("the function is new");
        }
        let key = |function: &Function| Function::key(function.id.as_uuid());
        let user = with(output(made.id, ""), |it| it.spec.function_id = Some(of_output.id));
        meet(stores, account, number, key(&of_output), create(account, &user)).await;
        let user = with(input(made.id, ""), |it| it.spec.function_id = Some(of_input.id));
        meet(stores, account, number, key(&of_input), create(account, &user)).await;
        let user = with(idle.clone(), |it| it.spec.response_function_id = Some(of_update.id));
        let update = Change::update(account, &user, version).expect("a document");
        meet(stores, account, number, key(&of_update), update).await;
        let read = all(stores, account).await;
        let read = read.iter().find(|document| document.key.id == idle.id.as_uuid());
        version = read.expect("the output is there").version;

        let reserved = domain(account, &format!("{number}.example"));
        stores.documents.create(account, &reserved).await.expect("the domain is new");
        let user = at_domain(&made, &reserved);
        meet(stores, account, number, Domain::key(reserved.id.as_uuid()), create(account, &user))
            .await;

        let bucket = stored_bucket(stores, account, &format!("bucket {number}")).await;
        let user = output(bucket.id, "");
        meet(stores, account, number, Bucket::key(bucket.id.as_uuid()), create(account, &user))
            .await;
    }
}

/// An input that is reached at a domain.
fn at_domain(bucket: &Bucket, domain: &Domain) -> Input {
    with(input(bucket.id, ""), |input| {
        input.spec.custom_domain.clone_from(&domain.spec.domain);
        input.domain_id = Some(domain.id);
    })
}

/// Whatever names a function uses it, until it names it no longer or is removed.
pub async fn each_use_of_a_function_counts(stores: &Stores) {
    let account = AccountId::generate();
    let used = function(account, "f");
    stores.documents.create(account, &used).await.expect("the function is new");
    let key = Function::key(used.id.as_uuid());
    let mut made = bucket(account, "b");
    made.inputs.push(input(made.id, ""));
    made.outputs.push(output(made.id, ""));
    stores.documents.create_bucket(&made).await.expect("the bucket is new");

    let id = Some(used.id);
    let mut user = with(output(made.id, ""), |output| output.spec.function_id = id);
    let users = [
        create(account, &user),
        create(account, &with(output(made.id, ""), |it| it.spec.response_function_id = id)),
        create(account, &with(input(made.id, ""), |it| it.spec.function_id = id)),
        create(account, &with(cron(&made), |it| it.spec.function_id = id)),
    ];
    for user in &users {
        assert_eq!(refusal(stores, &[Change::Unused(key)]).await, None);
        assert_eq!(refusal(stores, std::slice::from_ref(user)).await, None);
        assert_eq!(refusal(stores, &remove(account, key)).await, Some(Refusal::Used));
        let answered = all(stores, account).await;
        assert!(answered.iter().all(|document| document.uses.is_empty()), "none is answered");
        let Change::Create { document, .. } = user else { panic!("{user:?} is a creation") };
        let (key, account_id) = (document.key, account);
        let gone = Change::Delete { key, account_id, expected_version: None };
        assert_eq!(refusal(stores, &[gone]).await, None);
    }

    assert_eq!(refusal(stores, &users[..1]).await, None, "its identifier is free again");
    user.spec.function_id = None;
    let update = Change::update(account, &user, 1).expect("a document");
    assert_eq!(refusal(stores, &[Change::Unused(key)]).await, Some(Refusal::Used));
    assert_eq!(refusal(stores, &[update]).await, None);
    assert_eq!(refusal(stores, &remove(account, key)).await, None);
}

/// Neither a new document nor an update can use a document that is missing or of another account.
pub async fn only_what_the_account_has_is_used(stores: &Stores) {
    let (account, other) = (AccountId::generate(), AccountId::generate());
    let made = stored_bucket(stores, account, "b").await;
    let plain = output(made.id, "plain");
    stores.documents.create(account, &plain).await.expect("the output is new");
    let theirs = function(other, "f");
    stores.documents.create(other, &theirs).await.expect("the function is new");
    let before = all(stores, account).await;
    for missing in [theirs.id, function(account, "never stored").id] {
        let refused = Some(Refusal::Missing(DocumentKind::Function));
        let user = with(output(made.id, "new"), |it| it.spec.function_id = Some(missing));
        assert_eq!(refusal(stores, &[create(account, &user)]).await, refused);
        let user = with(plain.clone(), |it| it.spec.function_id = Some(missing));
        let update = Change::update(account, &user, 1).expect("a document");
        assert_eq!(refusal(stores, &[update]).await, refused);
    }
    let reserved = domain(other, "a.example");
    stores.documents.create(other, &reserved).await.expect("the domain is new");
    let refused = Some(Refusal::Missing(DocumentKind::Domain));
    assert_eq!(refusal(stores, &[create(account, &at_domain(&made, &reserved))]).await, refused);
    assert_eq!(all(stores, account).await, before);
}
