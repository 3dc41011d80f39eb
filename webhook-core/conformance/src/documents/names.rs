//! Cases for the names of documents.

use webhook_core::{
    AccountId,
    model::{Bucket, Domain, Function, Output},
    store::{
        Bounds, BucketStore as _, Change, Configured as _, DocumentKind, Find, InputStore as _,
        OutputStore as _, Refusal, Stores,
    },
};

use super::{cron, domain, settled, stored_bucket};
use crate::sample::{bucket, expect_conflict, function, input, output, race, with};

/// A bucket's name is unique in its account, an output's in its bucket, a domain's everywhere.
/// Other names may repeat, and a bucket may have several outputs without a name.
pub async fn names_are_unique_where_they_have_to_be(stores: &Stores) {
    let (account, other) = (AccountId::generate(), AccountId::generate());
    let mut made = bucket(account, "b");
    made.inputs.push(input(made.id, ""));
    made.outputs.push(output(made.id, ""));
    let documents = &stores.documents;
    documents.create_bucket(&made).await.expect("the bucket is new");
    for name in ["same", "same", "", ""] {
        documents.create(account, &function(account, name)).await.expect("the name is free");
        documents.create_input(account, &input(made.id, name)).await.expect("the name is free");
        let cron = with(cron(&made), |cron| cron.spec.name = name.to_owned());
        documents.create(account, &cron).await.expect("the name is free");
    }
    for _ in 0..2 {
        documents.create_output(account, &output(made.id, "")).await.expect("it has no name");
    }

    expect_conflict(documents.create_bucket(&bucket(account, "b")).await);
    documents.create_bucket(&bucket(other, "b")).await.expect("that is another account");
    documents.create_output(account, &output(made.id, "o")).await.expect("the name is free");
    expect_conflict(documents.create_output(account, &output(made.id, "o")).await);
    let second = stored_bucket(stores, account, "second").await;
    let elsewhere = documents.create_output(account, &output(second.id, "o")).await;
    elsewhere.expect("that is another bucket");

    for number in 0..5 {
        let name = format!("{number}.example");
        let reserved = race(2, |writer| {
            let (stores, account) = (stores.clone(), [account, other][writer]);
            let create = Change::create(account, &domain(account, &name), Bounds::NONE);
            async move { settled(&stores, &[create.expect("a document")]).await }
        })
        .await;
        let taken = Some(Refusal::NameTaken(DocumentKind::Domain));
        let one_wins = [[None, taken], [taken, None]].iter().any(|it| reserved == it);
        assert!(one_wins, "{reserved:?}");
        let winner = [account, other][usize::from(reserved[0].is_some())];
        let found = documents.domain_named(&name).await.expect("it can be looked up");
        assert_eq!(found.map(|domain| domain.account_id), Some(winner));
    }
}

/// A name finds all documents of a kind that have it, of one account or of any, also where names
/// are not unique.
pub async fn documents_are_found_by_name(stores: &Stores) {
    let (account, other) = (AccountId::generate(), AccountId::generate());
    let documents = &stores.documents;
    let (mut ours, mut functions) = (Vec::new(), Vec::new());
    for (owner, name) in [(account, "n"), (account, "n"), (other, "n"), (account, "N")] {
        let function = function(owner, name);
        documents.create(owner, &function).await.expect("the function is new");
        functions.push(Function::key(function.id.as_uuid()));
    }
    for owner in [account, other] {
        let mut made = bucket(owner, "n");
        made.outputs.push(output(made.id, "n"));
        documents.create_bucket(&made).await.expect("the bucket is new");
        let domain = domain(owner, &format!("{}.example", ours.len()));
        documents.create(owner, &domain).await.expect("the domain is new");
        let (bucket, output) = (made.id.as_uuid(), made.outputs[0].id.as_uuid());
        let keys = (Bucket::key(bucket), Output::key(output), Domain::key(domain.id.as_uuid()));
        ours.push(keys);
    }
    let find = async |kind, owner, name: &str| {
        let found = documents.find(Find::Named(kind, owner, name.to_owned())).await;
        let found = found.expect("documents can be looked up").into_iter();
        let mut keys: Vec<_> = found.map(|document| document.key).collect();
        keys.sort_unstable();
        keys
    };
    let (mine, any) = (Some(account), None);
    functions[..3].sort_unstable();
    assert_eq!(find(DocumentKind::Function, any, "n").await, functions[..3]);
    assert_eq!(find(DocumentKind::Function, mine, "n").await.len(), 2);
    assert_eq!(find(DocumentKind::Function, mine, "N").await, functions[3..]);
    assert_eq!(find(DocumentKind::Function, Some(other), "N").await, []);
    let (bucket, output, domain) = ours[0];
    assert_eq!(find(DocumentKind::Bucket, mine, "n").await, [bucket]);
    assert_eq!(find(DocumentKind::Output, mine, "n").await, [output]);
    assert_eq!(find(DocumentKind::Domain, mine, "0.example").await, [domain]);
    assert_eq!(find(DocumentKind::Domain, any, "0.example").await, [domain]);
    assert_eq!(find(DocumentKind::Domain, mine, "1.example").await, []);
    for kind in [DocumentKind::Bucket, DocumentKind::Output] {
        assert_eq!(find(kind, any, "n").await.len(), 2, "{kind:?}");
        assert_eq!(find(kind, any, "another").await, [], "{kind:?}");
    }
}
