//! The API key and access tokens.

use webhook_core::{Error, model::ApiAccess};

use crate::harness::House;

#[tokio::test]
async fn the_key_is_masked_until_it_is_asked_for() -> Result<(), Error> {
    let house = House::build().await?;
    let page = house.get("/dashboard/keys").await.expect(200);
    assert!(!page.text.contains(&house.key));
    assert_eq!(page.texts("dd code"), [format!("sk-…{}", &house.key[house.key.len() - 4..])]);
    let page = house.post("/dashboard/keys/reveal", &[]).await.expect(200);
    assert_eq!(page.texts("dd code"), [house.key.as_str()]);
    assert_eq!(page.header("cache-control"), "no-store");
    Ok(())
}

#[tokio::test]
async fn a_key_is_replaced_and_this_browser_stays_signed_in() -> Result<(), Error> {
    let house = House::build().await?;
    let elsewhere = house.signed_in(&house.key, "").await;
    let token = house.token_for(&[]).await;
    let page = house.post("/dashboard/keys/rotate", &[]).await.expect(200);
    let key = house.webhooks.admin().api_key(&house.me).await?;
    assert_eq!(page.texts("dd code"), [key.key.expose()]);
    assert_ne!(key.key.expose(), house.key);
    house.get_as(&page.cookie(), "/dashboard/keys").await.expect(200);
    house.get_as(&elsewhere, "/dashboard/keys").await.expect(303);
    // Who is signed in with a token stays who they are.
    let page = house.post_as(&token, "/dashboard/keys/rotate", &[]).await.expect(200);
    assert_eq!(page.cookie(), "");
    house.get_as(&token, "/dashboard/keys").await.expect(200);
    Ok(())
}

#[tokio::test]
async fn a_key_is_disabled_and_a_token_enables_it_again() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let token = house.token_for(&[]).await;
    let path = "/dashboard/keys/switch";
    // Who is signed in with it has to say that there is another way in.
    house.post(path, &[("enabled", "false")]).await.expect(400);
    assert!(admin.api_key(&house.me).await?.enabled);
    house.post(path, &[("enabled", "false"), ("sure", "true")]).await.expect(303);
    assert!(!admin.api_key(&house.me).await?.enabled);
    house.get("/dashboard/keys").await.expect(303);
    let page = house.get_as(&token, "/dashboard/keys").await.expect(200);
    assert_eq!(page.texts("dd .mark"), ["‖ disabled"]);
    assert!(page.texts("#disable").is_empty());
    house.post_as(&token, path, &[("enabled", "true")]).await.expect(303);
    house.get("/dashboard/keys").await.expect(200);
    // A token has nothing to lose by it.
    house.post_as(&token, path, &[("enabled", "false")]).await.expect(303);
    let scoped = house.token_for(&["orders"]).await;
    house.post_as(&scoped, path, &[("enabled", "true")]).await.expect(403);
    Ok(())
}

#[tokio::test]
async fn a_token_shows_its_secret_once_and_is_changed_disabled_and_deleted() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let new = "/dashboard/keys/tokens/new";
    let form =
        [("description", "for CI"), ("scopes.buckets", "orders\r\n"), ("api_access", "true")];
    let page = house.post(new, &form).await.expect(200);
    let shown = page.texts("dd code");
    let cookie = house.signed_in(&shown[0], &shown[1]).await;
    house.get_as(&cookie, "/dashboard/buckets").await.expect(200);
    let list = house.get("/dashboard/keys").await.expect(200);
    assert!(!list.text.contains(&shown[1]));
    assert_eq!(list.texts("th a.row"), ["for CI"]);

    let path = format!("/dashboard/keys/tokens/{}", shown[0]);
    assert_eq!(house.get(&path).await.expect(200).texts("textarea"), ["orders"]);
    house.post(&path, &[("description", "only listens")]).await.expect(303);
    let token = admin.tokens(&house.me).await?.pop().expect("it is there");
    assert_eq!(token.spec.api_access, ApiAccess::Disabled);
    assert!(token.spec.scopes.buckets.is_empty());
    house.get_as(&cookie, "/dashboard/buckets").await.expect(403);
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert!(admin.tokens(&house.me).await?.is_empty());
    house.get_as(&cookie, "/dashboard/buckets").await.expect(303);
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_with_a_token_is_said_and_what_was_typed_stays() -> Result<(), Error> {
    let house = House::build().await?;
    let long = "x".repeat(100_000);
    let form = [("description", long.as_str()), ("scopes.buckets", "orders")];
    let page = house.post("/dashboard/keys/tokens/new", &form).await.expect(400);
    assert_eq!(page.texts(".error").len(), 1);
    assert_eq!(page.texts("textarea"), ["orders"]);
    let (_, other) = house.webhooks.admin().create_account("other", None).await?;
    let other = house.signed_in(other.key.expose(), "").await;
    house.token_for(&[]).await;
    let token = house.webhooks.admin().tokens(&house.me).await?[0].id;
    let path = format!("/dashboard/keys/tokens/{token}");
    house.get_as(&other, &path).await.expect(404);
    house.post_as(&other, &format!("{path}/delete"), &[]).await.expect(404);
    Ok(())
}
