//! Access tokens: who is let in, and how far.

use super::*;
use crate::model::{ApiAccess, TokenScopes, TokenSpec};

fn scoped(buckets: &[&str]) -> TokenSpec {
    let buckets = buckets.iter().map(|name| (*name).to_owned()).collect();
    TokenSpec { scopes: TokenScopes { buckets, tunnels: Vec::new() }, ..TokenSpec::default() }
}

async fn caller_with(house: &House, spec: TokenSpec) -> Result<Caller, Error> {
    let new = house.admin.create_token(&house.caller, spec).await?;
    house.admin.authenticate(&new.token.id.to_string(), new.secret.expose()).await
}

#[tokio::test(start_paused = true)]
async fn only_the_right_secret_lets_in() -> Result<(), Error> {
    let house = house().await;
    let new = house.admin.create_token(&house.caller, TokenSpec::default()).await?;
    let other = house.admin.create_token(&house.caller, TokenSpec::default()).await?;
    let (key, secret) = (new.token.id.to_string(), new.secret.expose().to_owned());
    assert_eq!(secret.len(), 43, "32 bytes in base64url");
    assert_ne!(new.secret, other.secret);

    let caller = house.admin.authenticate(&key, &secret).await?;
    assert_eq!(caller.account_id(), house.caller.account_id());
    assert_eq!(caller.token_id(), Some(new.token.id));
    assert!(!caller.is_scoped());
    let nobody = TokenId::generate().to_string();
    for (key, secret) in [
        (&*key, other.secret.expose()),
        (&*key, ""),
        (&*key, &*"s".repeat(100_000)),
        (&*nobody, &*secret),
        ("", &*secret),
        ("whr", &*secret),
    ] {
        let refused = house.admin.authenticate(key, secret).await;
        assert_eq!(kind(refused), ErrorKind::Unauthorized, "{key} {secret}");
    }

    house.admin.delete_token(&house.caller, new.token.id).await?;
    let refused = house.admin.authenticate(&key, &secret).await;
    assert_eq!(kind(refused), ErrorKind::Unauthorized);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_scope_ends_at_its_buckets() -> Result<(), Error> {
    let house = house().await;
    let House { admin, caller, .. } = &house;
    let first = admin.create_bucket(caller, bucket_named("first")).await?;
    let second = admin.create_bucket(caller, bucket_named("second")).await?;
    // Called after the ID of another one: that is no way into the scope.
    let alias = admin.create_bucket(caller, bucket_named(&second.id.to_string())).await?;
    let hidden = admin.create_bucket(caller, bucket_named("hidden")).await?;
    let token = caller_with(&house, scoped(&["first", &second.id.to_string(), "later"])).await?;

    let seen = admin.buckets(&token).await?;
    assert_eq!(seen, [first.clone(), second.clone()]);
    admin.update_bucket(&token, first.id, bucket_named("first")).await?;
    admin.create_output(&token, second.id, output_named("o")).await?;
    for outside in [&alias, &hidden] {
        let id = outside.id;
        let output = output_named("o");
        let rename = bucket_named("first-too");
        assert_eq!(kind(admin.bucket(&token, id).await), ErrorKind::Forbidden);
        assert_eq!(kind(admin.update_bucket(&token, id, rename).await), ErrorKind::Forbidden);
        assert_eq!(kind(admin.delete_bucket(&token, id, true).await), ErrorKind::Forbidden);
        assert_eq!(kind(admin.create_output(&token, id, output).await), ErrorKind::Forbidden);
        let input = admin.create_input(&token, id, InputSpec::default()).await;
        assert_eq!(kind(input), ErrorKind::Forbidden);
    }
    admin.create_bucket(&token, bucket_named("later")).await?;
    let elsewhere = admin.create_bucket(&token, bucket_named("elsewhere")).await;
    assert_eq!(kind(elsewhere), ErrorKind::Forbidden);

    // With the key or another token it would reach everything.
    assert_eq!(kind(admin.api_key(&token).await), ErrorKind::Forbidden);
    assert_eq!(kind(admin.regenerate_api_key(&token).await), ErrorKind::Forbidden);
    assert_eq!(kind(admin.set_api_key_enabled(&token, true).await), ErrorKind::Forbidden);
    assert_eq!(kind(admin.tokens(&token).await), ErrorKind::Forbidden);
    let wider = admin.create_token(&token, TokenSpec::default()).await;
    assert_eq!(kind(wider), ErrorKind::Forbidden);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_api_access_nothing_is_managed() -> Result<(), Error> {
    let house = house().await;
    let bucket = house.admin.create_bucket(&house.caller, bucket_named("b")).await?;
    let spec = TokenSpec { api_access: ApiAccess::Disabled, ..TokenSpec::default() };
    let token = caller_with(&house, spec).await?;
    let admin = &house.admin;
    assert!(token.reaches(&bucket), "it may subscribe");
    assert_eq!(kind(admin.buckets(&token).await), ErrorKind::Forbidden);
    assert_eq!(kind(admin.bucket(&token, bucket.id).await), ErrorKind::Forbidden);
    assert_eq!(kind(admin.create_bucket(&token, bucket_named("c")).await), ErrorKind::Forbidden);
    assert_eq!(kind(admin.delete_bucket(&token, bucket.id, true).await), ErrorKind::Forbidden);
    let output = admin.create_output(&token, bucket.id, output_named("o")).await;
    assert_eq!(kind(output), ErrorKind::Forbidden);
    assert_eq!(kind(admin.tokens(&token).await), ErrorKind::Forbidden);
    assert_eq!(kind(admin.api_key(&token).await), ErrorKind::Forbidden);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_token_enables_a_disabled_key() -> Result<(), Error> {
    let house = house().await;
    let key = house.admin.set_api_key_enabled(&house.caller, false).await?.key;
    let refused = house.admin.authenticate(API_KEY_USER, key.expose()).await;
    assert_eq!(kind(refused), ErrorKind::Unauthorized);
    let token = caller_with(&house, TokenSpec::default()).await?;
    house.admin.set_api_key_enabled(&token, true).await?;
    let caller = house.admin.authenticate(API_KEY_USER, key.expose()).await?;
    assert_eq!(caller.credential(), &Credential::ApiKey);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_open_ends_with_the_reach() -> Result<(), Error> {
    let House { admin, told, caller, .. } = house().await;
    let id = admin.create_token(&caller, scoped(&["a", "b"])).await?.token.id;
    let (account, told_of) = (caller.account_id(), (caller.account_id(), Some(id)));
    told.credentials();
    let described = TokenSpec {
        description: "for CI".into(),
        api_access: ApiAccess::Enabled,
        ..scoped(&["a", "b"])
    };
    let changed = admin.update_token(&caller, id, described.clone()).await?;
    assert_eq!(changed.spec, described);
    assert_eq!(told.credentials(), [], "the reach is the same");
    admin.update_token(&caller, id, scoped(&["a"])).await?;
    assert_eq!(told.credentials(), [told_of]);
    admin.delete_token(&caller, id).await?;
    assert_eq!(told.credentials(), [told_of]);
    assert_eq!(kind(admin.delete_token(&caller, id).await), ErrorKind::NotFound);

    admin.set_api_key_enabled(&caller, false).await?;
    assert_eq!(told.credentials(), [(account, None)]);
    admin.set_api_key_enabled(&caller, true).await?;
    assert_eq!(told.credentials(), [], "nothing is open with a disabled key");
    admin.regenerate_api_key(&caller).await?;
    assert_eq!(told.credentials(), [(account, None)]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn tokens_are_the_accounts_own() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let id = admin.create_token(&caller, TokenSpec::default()).await?.token.id;
    let (other, _) = admin.create_account("second", None).await?;
    let other = Caller::for_account(other.id);
    assert_eq!(admin.tokens(&other).await?, []);
    let update = admin.update_token(&other, id, TokenSpec::default()).await;
    assert_eq!(kind(update), ErrorKind::NotFound);
    assert_eq!(kind(admin.delete_token(&other, id).await), ErrorKind::NotFound);
    assert_eq!(admin.tokens(&caller).await?.len(), 1);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn tokens_are_bounded_and_refusals_name_the_field() -> Result<(), Error> {
    let options =
        AdminOptions { max_tokens_per_account: 1, max_token_scopes: 2, ..AdminOptions::default() };
    let House { admin, caller, .. } = house_with(options).await;
    for (spec, field) in [
        (scoped(&["a", "b", "c"]), "scopes.buckets: "),
        (scoped(&["a", ""]), "scopes.buckets[1]: "),
        (TokenSpec { description: "x".repeat(5_000), ..TokenSpec::default() }, "description: "),
    ] {
        let error = admin.create_token(&caller, spec).await.expect_err("it is refused");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().starts_with(field), "{error}");
    }
    admin.create_token(&caller, TokenSpec::default()).await?;
    let second = admin.create_token(&caller, TokenSpec::default()).await;
    assert_eq!(kind(second), ErrorKind::Conflict);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_login_is_noted_once_a_minute() -> Result<(), Error> {
    let house = house().await;
    let new = house.admin.create_token(&house.caller, TokenSpec::default()).await?;
    let (key, secret) = (new.token.id.to_string(), new.secret.expose().to_owned());
    let noted = async || {
        // What is noted is noted beside the request.
        tokio::task::yield_now().await;
        let token = house.stores.tokens.token(new.token.id).await?.expect("it is there");
        Ok::<_, Error>(token.last_login)
    };
    assert_eq!(noted().await?, None);
    assert!(house.admin.is_credential(&key, &secret).await?);
    assert_eq!(noted().await?, None, "a look is no login");
    house.admin.authenticate(&key, &secret).await?;
    let first = noted().await?.expect("noted");
    assert_eq!(first, house.admin.now());
    for _ in 0..59 {
        tokio::time::advance(Duration::from_secs(1)).await;
        house.admin.authenticate(&key, &secret).await?;
        house.admin.authenticate(&key, "wrong").await.expect_err("it is wrong");
        assert_eq!(noted().await?, Some(first));
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    house.admin.authenticate(&key, "wrong").await.expect_err("it is wrong");
    assert_eq!(noted().await?, Some(first));
    house.admin.authenticate(&key, &secret).await?;
    assert_eq!(noted().await?, Some(house.admin.now()));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn api_access_is_enabled_unless_said_otherwise() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let mut token = admin.create_token(&caller, TokenSpec::default()).await?.token;
    assert_eq!(token.spec.api_access, ApiAccess::Enabled);
    for (said, meant) in [
        (ApiAccess::Disabled, ApiAccess::Disabled),
        (ApiAccess::None, ApiAccess::Enabled),
        (ApiAccess::Enabled, ApiAccess::Enabled),
    ] {
        let spec = TokenSpec { api_access: said, ..TokenSpec::default() };
        token = admin.update_token(&caller, token.id, spec).await?;
        assert_eq!(token.spec.api_access, meant);
        assert_eq!(admin.tokens(&caller).await?, std::slice::from_ref(&token));
    }
    Ok(())
}
