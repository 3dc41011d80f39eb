//! Signing in and out.

use std::{convert::Infallible, net::IpAddr, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{Method, Request},
};
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::time::Instant;
use webhook_core::{
    Error,
    model::{ApiAccess, TokenSpec},
    relay::ClientAddr,
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
async fn signing_out_ends_the_session_on_the_server() -> Result<(), Error> {
    let house = House::build().await?;
    let other = house.signed_in(&house.key, "").await;
    house.post("/dashboard/sign-out", &[]).await.expect(303);
    let answer = house.get("/dashboard").await.expect(303);
    assert_eq!(answer.header("location"), "/dashboard/sign-in?next=%2Fdashboard");
    house.get_as(&other, "/dashboard").await.expect(200);
    Ok(())
}

#[tokio::test]
async fn over_tls_the_cookie_is_of_this_host_and_the_plain_one_is_ignored() -> Result<(), Error> {
    let house = House::build().await?;
    let over_tls = async |mut request: Request<Body>| {
        let client = ClientAddr { ip: IpAddr::from([203, 0, 113, 7]), secure: true };
        request.extensions_mut().insert(client);
        house.send(request).await
    };
    let sign_in = house.request(Method::POST, "/dashboard/sign-in", "");
    let sign_in = sign_in.header("content-type", "application/x-www-form-urlencoded");
    let sign_in = sign_in.header("sec-fetch-site", "same-origin");
    let form = format!("key={}", house.key);
    let answer = over_tls(sign_in.body(form.into()).expect("a request")).await.expect(303);
    let set = answer.header("set-cookie");
    assert!(set.starts_with("__Host-webhook-session="), "{set}");
    for part in ["; Path=/;", "; Secure", "; HttpOnly", "; SameSite=Strict"] {
        assert!(set.contains(part), "{part} is not in {set}");
    }
    let plain = answer.cookie().replace("__Host-", "");
    for (cookie, status) in [(answer.cookie(), 200), (plain, 303)] {
        let page = house.request(Method::GET, "/dashboard", &cookie).body(Body::empty());
        over_tls(page.expect("a request")).await.expect(status);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn wrong_credentials_are_slow_after_ten_and_keep_no_right_ones_out() -> Result<(), Error> {
    let house = House::build().await?;
    let wrong = async || {
        let begun = Instant::now();
        let answer = house.post_as("", "/dashboard/sign-in", &[("key", "sk-wrong")]).await;
        let answer = answer.expect(401);
        assert!(answer.texts("[role=alert]").concat().contains("no API key"), "{}", answer.text);
        begun.elapsed()
    };
    for _ in 0..10 {
        assert_eq!(wrong().await, Duration::ZERO);
    }
    for _ in 0..5 {
        assert_eq!(wrong().await, Duration::from_secs(1));
    }
    let begun = Instant::now();
    house.signed_in(&house.key, "").await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
    Ok(())
}

/// A form of a client that sends one byte and no more.
fn unfinished(house: &House) -> Request<Body> {
    let first = futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"k"))]);
    let body = Body::from_stream(first.chain(futures_util::stream::pending()));
    let request = house.request(Method::POST, "/dashboard/sign-in", "");
    request.header("sec-fetch-site", "same-origin").body(body).expect("a request")
}

#[tokio::test(start_paused = true)]
async fn forms_that_do_not_arrive_keep_nobody_out() -> Result<(), Error> {
    let house = House::build().await?;
    let mut slow = FuturesUnordered::new();
    for _ in 0..200 {
        let mut sending = Box::pin(house.send(unfinished(&house)));
        assert!(futures_util::poll!(&mut sending).is_pending());
        slow.push(sending);
    }
    let begun = Instant::now();
    let cookie = house.signed_in(&house.key, "").await;
    house.get_as(&cookie, "/dashboard").await.expect(200);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    while let Some(answer) = slow.next().await {
        assert!(answer.expect(400).text.contains("body: did not arrive within 30s"));
    }
    assert!(begun.elapsed() < Duration::from_secs(31), "{:?}", begun.elapsed());
    Ok(())
}

#[tokio::test]
async fn the_form_of_a_client_without_a_session_is_short() -> Result<(), Error> {
    let house = House::build().await?;
    let long = "x".repeat(16 << 10);
    for path in ["/dashboard/sign-in", "/dashboard/buckets/new"] {
        let answer = house.post_as("", path, &[("key", &long)]).await.expect(413);
        assert!(answer.text.contains("at most 16384 bytes"), "{}", answer.text);
    }
    let form = [("name", "long"), ("description", &long)];
    assert_ne!(house.post("/dashboard/buckets/new", &form).await.status, 413);
    let long = "x".repeat(4 << 20);
    house.post("/dashboard/buckets/new", &[("name", &long)]).await.expect(413);
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
