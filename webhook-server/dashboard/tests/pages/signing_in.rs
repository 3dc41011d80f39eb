//! Signing in and out.

use webhook_core::{
    Error,
    model::{ApiAccess, TokenSpec},
};

use crate::harness::House;

#[tokio::test]
async fn a_key_or_a_token_signs_in_and_leads_back() -> Result<(), Error> {
    let house = House::build().await?;
    let form = [("key", house.key.as_str()), ("next", "/dashboard/buckets?q=a")];
    let answer = house.post_as("", "/dashboard/sign-in", &form).await.expect(303);
    assert_eq!(answer.header("location"), "/dashboard/buckets?q=a");
    let cookie = answer.header("set-cookie");
    for part in ["webhook-session=", "Path=/dashboard", "HttpOnly", "SameSite=Strict"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure") && !cookie.contains(&house.key), "{cookie}");
    let form = [("key", house.key.as_str()), ("next", "https://elsewhere")];
    let answer = house.post_as("", "/dashboard/sign-in", &form).await.expect(303);
    assert_eq!(answer.header("location"), "/dashboard");
    let cookie = house.token_for(&[]).await;
    assert!(house.get_as(&cookie, "/dashboard").await.expect(200).text.contains("token "));
    let answer = house.post("/dashboard/sign-out", &[]).await.expect(303);
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
    Ok(())
}

#[tokio::test]
async fn wrong_credentials_are_told_so_ten_times_a_minute() -> Result<(), Error> {
    // The house itself has signed in once.
    let house = House::build().await?;
    for _ in 0..9 {
        let answer = house.post_as("", "/dashboard/sign-in", &[("key", "sk-wrong")]).await;
        let answer = answer.expect(401);
        assert!(answer.texts("[role=alert]").concat().contains("no API key"), "{}", answer.text);
    }
    let form = [("key", house.key.as_str())];
    let answer = house.post_as("", "/dashboard/sign-in", &form).await.expect(429);
    assert!(answer.texts("[role=alert]").concat().contains("too many tries"));
    Ok(())
}

#[tokio::test]
async fn a_token_that_may_only_subscribe_is_refused() -> Result<(), Error> {
    let house = House::build().await?;
    let mut spec = TokenSpec::default();
    spec.api_access = ApiAccess::Disabled;
    let made = house.webhooks.admin().create_token(&house.me, spec).await?;
    let id = made.token.id.to_string();
    let form = [("key", id.as_str()), ("secret", made.secret.expose())];
    let answer = house.post_as("", "/dashboard/sign-in", &form).await.expect(403);
    assert!(answer.texts("[role=alert]").concat().contains("may only subscribe"));
    Ok(())
}

#[tokio::test]
async fn a_link_signs_its_first_visitor_in() -> Result<(), Error> {
    let house = House::build().await?;
    let link = house.dashboard.sign_in_link(house.me.account_id())?;
    let cookie = house.get_as("", &link).await.expect(303).cookie();
    house.get_as(&cookie, "/dashboard").await.expect(200);
    house.get_as("", &link).await.expect(404);
    house.get_as("", "/dashboard/sign-in/guessed").await.expect(404);
    Ok(())
}
