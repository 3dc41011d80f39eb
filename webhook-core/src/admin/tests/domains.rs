//! Domains, and the inputs at them.

use super::*;
use crate::{
    admin::Credential,
    model::{ApiAccess, DomainSpec, Input},
};

fn named(domain: &str) -> DomainSpec {
    DomainSpec { domain: domain.to_owned() }
}

fn at(domain: &str, prefix: &str) -> InputSpec {
    InputSpec {
        custom_domain: domain.to_owned(),
        path_prefix: prefix.to_owned(),
        ..InputSpec::default()
    }
}

impl House {
    async fn bucket(&self, name: &str) -> Bucket {
        self.admin.create_bucket(&self.caller, bucket_named(name)).await.expect("a new bucket")
    }

    async fn input(&self, bucket: &Bucket, spec: InputSpec) -> Result<Input, Error> {
        self.admin.create_input(&self.caller, bucket.id, spec).await
    }

    fn domains_told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.3.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[tokio::test]
async fn a_domain_is_reserved_once_and_given_back() -> Result<(), Error> {
    let house = house().await;
    let House { admin, caller, .. } = &house;
    let domain = admin.reserve_domain(caller, named("Bücher.Example.")).await?;
    assert_eq!(domain.spec.domain, "xn--bcher-kva.example");
    assert_eq!(admin.domains(caller).await?, std::slice::from_ref(&domain));

    let (second, _) = admin.create_account("second", None).await?;
    let second = Caller::for_account(second.id);
    for who in [caller, &second] {
        let taken = admin.reserve_domain(who, named("bücher.example")).await;
        let error = taken.expect_err("it is taken");
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert_eq!(error.to_string(), "domain: xn--bcher-kva.example is taken");
    }
    assert_eq!(admin.domains(&second).await?, []);
    assert_eq!(kind(admin.delete_domain(&second, domain.id).await), ErrorKind::NotFound);
    admin.delete_domain(caller, domain.id).await?;
    assert_eq!(kind(admin.delete_domain(caller, domain.id).await), ErrorKind::NotFound);
    admin.reserve_domain(&second, named("bücher.example")).await?;
    assert_eq!(house.domains_told(), ["xn--bcher-kva.example"; 3], "once for each change");
    Ok(())
}

#[tokio::test]
async fn a_server_that_does_not_know_its_name_has_domains_for_one_account() -> Result<(), Error> {
    let options = AdminOptions { domains_beside_other_accounts: false, ..AdminOptions::default() };
    let House { admin, caller, .. } = house_with(options).await;
    admin.reserve_domain(&caller, named("a.example")).await?;
    let (second, _) = admin.create_account("second", None).await?;
    for who in [caller, Caller::for_account(second.id)] {
        let refused = admin.reserve_domain(&who, named("b.example")).await;
        assert_eq!(kind(refused), ErrorKind::Refused);
    }
    Ok(())
}

#[tokio::test]
async fn the_operator_and_the_plan_refuse_and_the_bound_conflicts() -> Result<(), Error> {
    let mut options = AdminOptions { max_domains_per_account: 1, ..AdminOptions::default() };
    options.domain_blocklist = "*.corp.example".parse().expect("a list");
    let House { admin, caller, .. } = house_with(options.clone()).await;
    let blocked = admin.reserve_domain(&caller, named("Hooks.Corp.example")).await;
    assert_eq!(kind(blocked), ErrorKind::Refused);
    admin.reserve_domain(&caller, named("a.example")).await?;
    let beyond = admin.reserve_domain(&caller, named("b.example")).await;
    assert_eq!(kind(beyond), ErrorKind::Conflict);

    options.max_domains_per_account = 0;
    let House { admin, caller, .. } = house_with(options).await;
    let outside = admin.reserve_domain(&caller, named("a.example")).await;
    assert_eq!(kind(outside), ErrorKind::Refused);
    let no_name = admin.reserve_domain(&caller, named("a b.example")).await;
    assert_eq!(kind(no_name), ErrorKind::Invalid, "what is no domain is said first");
    Ok(())
}

#[tokio::test]
async fn the_bound_holds_against_callers_at_once() -> Result<(), Error> {
    let options = AdminOptions { max_domains_per_account: 3, ..AdminOptions::default() };
    let House { admin, caller, .. } = house_with(options).await;
    let names: Vec<_> = (0..20).map(|n| format!("n{n}.example")).collect();
    let reservations = names.iter().map(|name| admin.reserve_domain(&caller, named(name)));
    let made = futures_util::future::join_all(reservations).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 3);
    assert_eq!(admin.domains(&caller).await?.len(), 3);
    Ok(())
}

#[tokio::test]
async fn an_input_needs_a_domain_of_its_account() -> Result<(), Error> {
    let house = house().await;
    let House { admin, caller, .. } = &house;
    let bucket = house.bucket("b").await;
    let (second, _) = admin.create_account("second", None).await?;
    admin.reserve_domain(&Caller::for_account(second.id), named("theirs.example")).await?;
    for name in ["theirs.example", "nobodys.example"] {
        let error = house.input(&bucket, at(name, "")).await.expect_err("it is not reserved");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().starts_with("custom_domain: "), "{error}");
    }
    let domain = admin.reserve_domain(caller, named("a.example")).await?;
    let input = house.input(&bucket, at("A.example.", "/x/")).await?;
    assert_eq!((&*input.spec.custom_domain, &*input.spec.path_prefix), ("a.example", "/x/"));

    assert_eq!(kind(admin.delete_domain(caller, domain.id).await), ErrorKind::Conflict);
    admin.update_input(caller, bucket.id, input.id, InputSpec::default()).await?;
    admin.delete_domain(caller, domain.id).await?;
    Ok(())
}

#[tokio::test]
async fn two_inputs_are_not_at_one_place() -> Result<(), Error> {
    let house = house().await;
    let House { admin, caller, .. } = &house;
    let (one, other) = (house.bucket("one").await, house.bucket("other").await);
    admin.reserve_domain(caller, named("a.example")).await?;
    admin.reserve_domain(caller, named("b.example")).await?;
    let first = house.input(&one, at("a.example", "/x")).await?;
    let error = house.input(&other, at("a.example", "/x/")).await.expect_err("it is taken");
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains(&first.id.to_string()), "{error}");
    house.input(&other, at("b.example", "/x")).await?;
    let second = house.input(&other, at("a.example", "/X")).await?;

    let moved = admin.update_input(caller, other.id, second.id, at("a.example", "/x")).await;
    assert_eq!(kind(moved), ErrorKind::Conflict);
    // It may stay where it is.
    admin.update_input(caller, one.id, first.id, at("a.example", "/x/")).await?;
    Ok(())
}

#[tokio::test]
async fn of_inputs_that_come_to_one_place_at_once_one_does() -> Result<(), Error> {
    let house = house().await;
    house.admin.reserve_domain(&house.caller, named("a.example")).await?;
    let mut buckets = Vec::new();
    for n in 0..8 {
        buckets.push(house.bucket(&n.to_string()).await);
    }
    let inputs = buckets.iter().map(|bucket| house.input(bucket, at("a.example", "/x")));
    let made = futures_util::future::join_all(inputs).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
    Ok(())
}

#[tokio::test]
async fn the_watcher_is_told_where_an_input_was_and_is() -> Result<(), Error> {
    let house = house().await;
    let House { admin, caller, .. } = &house;
    let bucket = house.bucket("b").await;
    for name in ["a.example", "b.example"] {
        admin.reserve_domain(caller, named(name)).await?;
    }
    let input = house.input(&bucket, at("a.example", "")).await?;
    house.domains_told();
    admin.update_input(caller, bucket.id, input.id, at("b.example", "")).await?;
    assert_eq!(house.domains_told(), ["a.example"], "where it was");
    let told = house.told.last();
    let there = told.inputs.iter().any(|input| input.spec.custom_domain == "b.example");
    assert!(there, "where it is");
    Ok(())
}

#[tokio::test]
async fn a_scoped_token_has_no_say_over_domains() -> Result<(), Error> {
    let house = house().await;
    let House { admin, caller, .. } = &house;
    let bucket = house.bucket("b").await;
    let domain = admin.reserve_domain(caller, named("a.example")).await?;
    let placed = house.input(&bucket, at("a.example", "/x")).await?;
    let credential = Credential::AccessToken {
        id: TokenId::generate(),
        api_access: ApiAccess::Enabled,
        buckets: Arc::from(["b".to_owned()]),
    };
    let token = Caller::new(caller.account_id(), credential);
    assert_eq!(kind(admin.domains(&token).await), ErrorKind::Forbidden);
    let reserved = admin.reserve_domain(&token, named("b.example")).await;
    assert_eq!(kind(reserved), ErrorKind::Forbidden);
    assert_eq!(kind(admin.delete_domain(&token, domain.id).await), ErrorKind::Forbidden);
    // Its bucket is the token's, but a longer prefix takes webhooks from others.
    let made = admin.create_input(&token, bucket.id, at("a.example", "/other")).await;
    assert_eq!(kind(made), ErrorKind::Forbidden);
    let moved = admin.update_input(&token, bucket.id, placed.id, at("a.example", "/y")).await;
    assert_eq!(kind(moved), ErrorKind::Forbidden);
    let spec = InputSpec { status_code: 202, ..at("a.example", "/x") };
    admin.update_input(&token, bucket.id, placed.id, spec).await?;
    admin.update_input(&token, bucket.id, placed.id, InputSpec::default()).await?;
    Ok(())
}
