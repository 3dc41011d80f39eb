//! Cases for domains of a [`DocumentStore`](webhook_core::store::DocumentStore).

use crate::sample::Together as _;
use webhook_core::store::{BucketStore as _, InputStore as _};
use webhook_core::{
    AccountId, DomainId, Error, ErrorKind, InputId,
    model::{Bucket, Domain, DomainSpec, Input},
    store::{Change, Configured as _, Stores},
};

use super::sample::{
    NOW, after, bucket, expect_conflict, expect_not_found, expect_one_winner, ids, input, race,
    with,
};

fn domain(account: AccountId, name: &str) -> Domain {
    Domain {
        id: DomainId::generate(),
        account_id: account,
        version: 1,
        created_at: NOW,
        updated_at: NOW,
        spec: DomainSpec::new(name),
    }
}

async fn stored(stores: &Stores, account: AccountId, name: &str) -> Domain {
    let domain = domain(account, name);
    stores.documents.create(domain.account_id, &domain).await.expect("the domain is new");
    domain
}

async fn find(stores: &Stores, name: &str) -> Option<Domain> {
    stores.documents.domain_named(name).await.expect("the domain can be looked up")
}

async fn list(stores: &Stores, account: AccountId) -> Vec<Domain> {
    stores.documents.list::<Domain>(account).await.expect("domains can be listed")
}

async fn stored_bucket(stores: &Stores, account: AccountId, name: &str) -> Bucket {
    let bucket = bucket(account, name);
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    bucket
}

/// An input at a domain, if one is named, with its own prefix.
async fn stored_input(stores: &Stores, bucket: &Bucket, domain: Option<&Domain>) -> Input {
    let mut input = input(bucket.id, "in");
    if let Some(domain) = domain {
        input.spec.custom_domain.clone_from(&domain.spec.domain);
        input.spec.path_prefix = format!("/{}", input.id);
        input.domain_id = Some(domain.id);
    }
    stores.documents.create_input(bucket.account_id, &input).await.expect("the input is new");
    input
}

async fn inputs(stores: &Stores, domain: &Domain) -> Vec<Input> {
    stores.documents.inputs_of_domain(domain).await.expect("inputs can be found")
}

/// Removes a domain that nothing uses.
async fn give_back(stores: &Stores, account: AccountId, id: DomainId) -> Result<(), Error> {
    let unused = Change::Unused(Domain::key(id.as_uuid()));
    let delete = Change::delete::<Domain>(account, id.as_uuid());
    Ok(stores.documents.apply(&[unused, delete]).await?)
}

/// What was stored is found in every way, milliseconds included.
pub async fn created_domain_is_read_back(stores: &Stores) {
    let account = AccountId::generate();
    assert_eq!(list(stores, account).await, []);
    let longest = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61)].join(".");
    for name in ["xn--bcher-kva.example", &longest] {
        let made = Domain { updated_at: after(7), ..domain(account, name) };
        stores.documents.create(made.account_id, &made).await.expect("the domain is new");
        let read = stores
            .documents
            .get::<Domain>(account, made.id.as_uuid())
            .await
            .expect("the domain can be read");
        assert_eq!(read.as_ref(), Some(&made));
        assert_eq!(find(stores, name).await, Some(made));
    }
}

/// Nothing is found where nothing is.
pub async fn absent_domain_is_none(stores: &Stores) {
    let account = AccountId::generate();
    let there = stored(stores, account, "a.example").await;
    for name in ["", "b.example", "a.exampl", "a.example.", "A.example", "a_example", "%"] {
        assert_eq!(find(stores, name).await, None, "{name:?}");
    }
    for (account, id) in [(account, DomainId::generate()), (AccountId::generate(), there.id)] {
        let read = stores.documents.get::<Domain>(account, id.as_uuid()).await;
        assert_eq!(read.expect("the domain can be read"), None);
    }
}

/// The list is in ID order, whatever the order of creation, and the account's own.
pub async fn domains_are_listed_in_id_order(stores: &Stores) {
    let account = AccountId::generate();
    let made: Vec<_> = ids(4)
        .into_iter()
        .zip(["d.example", "c.example", "b.example", "a.example"])
        .map(|(id, name)| Domain { id, ..domain(account, name) })
        .collect();
    for index in [2, 0, 3, 1] {
        stores.documents.create(account, &made[index]).await.expect("the domain is new");
    }
    stored(stores, AccountId::generate(), "e.example").await;
    assert_eq!(list(stores, account).await, made);
}

/// A name belongs to one account only, a taken ID is refused, and neither changes anything.
pub async fn taken_domain_is_a_conflict(stores: &Stores) {
    let first = stored(stores, AccountId::generate(), "a.example").await;
    for account in [first.account_id, AccountId::generate()] {
        let same_name = domain(account, "a.example");
        expect_conflict(stores.documents.create(account, &same_name).await);
        let same_id = Domain { id: first.id, ..domain(account, "b.example") };
        expect_conflict(stores.documents.create(same_id.account_id, &same_id).await);
    }
    assert_eq!(find(stores, "b.example").await, None);
    assert_eq!(find(stores, "a.example").await, Some(first));
}

/// Of the accounts that reserve one name at once, one has it.
pub async fn concurrent_reservations_of_one_name_store_one(stores: &Stores) {
    let results = race(8, |_| {
        let store = stores.documents.clone();
        let domain = domain(AccountId::generate(), "a.example");
        async move { store.create(domain.account_id, &domain).await.map(|()| domain) }
    })
    .await;
    let winner = results.iter().find_map(|result| result.as_ref().ok()).cloned();
    expect_one_winner(results, ErrorKind::Conflict);
    assert_eq!(find(stores, "a.example").await, winner);
}

/// A deleted domain is gone, once, and its name free for anybody.
pub async fn deleted_domain_is_gone_and_its_name_free(stores: &Stores) {
    let account = AccountId::generate();
    let (stays, goes) =
        (stored(stores, account, "a.example").await, stored(stores, account, "b.example").await);
    stores
        .documents
        .delete::<Domain>(account, goes.id.as_uuid())
        .await
        .expect("the domain is there");
    assert_eq!(find(stores, "b.example").await, None);
    assert_eq!(list(stores, account).await, [stays]);
    expect_not_found(stores.documents.delete::<Domain>(account, goes.id.as_uuid()).await);
    let next = stored(stores, AccountId::generate(), "b.example").await;
    assert_eq!(find(stores, "b.example").await, Some(next));
}

/// A domain that is not there, or is another account's, is not removed.
pub async fn delete_of_no_domain_is_not_found(stores: &Stores) {
    let there = stored(stores, AccountId::generate(), "a.example").await;
    expect_not_found(give_back(stores, AccountId::generate(), there.id).await);
    expect_not_found(give_back(stores, there.account_id, DomainId::generate()).await);
    assert_eq!(find(stores, "a.example").await, Some(there));
}

/// While an input uses it, a domain stays; another account cannot use it.
pub async fn domain_in_use_is_not_deleted(stores: &Stores) {
    let account = AccountId::generate();
    let used = stored(stores, account, "a.example").await;
    let bucket = stored_bucket(stores, account, "b").await;
    let input = stored_input(stores, &bucket, Some(&used)).await;
    let stranger = stored_bucket(stores, AccountId::generate(), "b").await;
    let theirs = Input { bucket_id: stranger.id, id: InputId::generate(), ..input.clone() };
    let theirs = with(theirs, |input| input.spec.path_prefix = "/x".to_owned());
    expect_not_found(stores.documents.create_input(stranger.account_id, &theirs).await);

    expect_conflict(give_back(stores, account, used.id).await);
    assert_eq!(find(stores, "a.example").await.as_ref(), Some(&used));
    stores.documents.delete_input(account, input.id).await.expect("the input is there");
    give_back(stores, account, used.id).await.expect("nothing uses it");
    assert_eq!(find(stores, "a.example").await, None);
}

/// The inputs at a domain are those of the account, from all its buckets, the
/// oldest first, and follow changes.
pub async fn inputs_of_a_domain_are_found(stores: &Stores) {
    let account = AccountId::generate();
    let (first, second) =
        (stored_bucket(stores, account, "a").await, stored_bucket(stores, account, "b").await);
    let a = stored(stores, account, "a.example").await;
    let b = stored(stores, account, "b.example").await;
    let mut one = stored_input(stores, &second, Some(&a)).await;
    let two = stored_input(stores, &first, Some(&a)).await;
    stored_input(stores, &first, None).await;
    stored_input(stores, &first, Some(&b)).await;
    assert_eq!(inputs(stores, &a).await, [one.clone(), two.clone()], "the oldest first");
    let unused = stored(stores, account, "c.example").await;
    for none in [&unused, &domain(account, "A.example")] {
        assert_eq!(inputs(stores, none).await, [], "{none:?}");
    }
    // A place belongs to one input.
    let same = Input { id: InputId::generate(), ..one.clone() };
    expect_conflict(stores.documents.create_input(account, &same).await);

    one.spec.custom_domain = "b.example".to_owned();
    one.domain_id = Some(b.id);
    stores.documents.update_input(account, &one).await.expect("the input is there");
    one.version += 1;
    assert_eq!(inputs(stores, &a).await, [two]);
    stores.documents.remove_bucket(account, first.id, None, true).await.expect("by force");
    assert_eq!(inputs(stores, &a).await, []);
    assert_eq!(inputs(stores, &b).await, [one]);
}
