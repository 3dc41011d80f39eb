//! What nobody may do with the pages.

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use webhook_core::{
    Error,
    admin::Caller,
    model::{BucketSpec, OutputSpec},
};

use crate::harness::House;

#[tokio::test]
async fn every_answer_carries_the_policy_and_is_kept_nowhere() -> Result<(), Error> {
    let house = House::build().await?;
    let mut paths = house.all_pages().await;
    paths.extend(["/dashboard/sign-in", "/dashboard/nothing"].map(str::to_owned));
    for path in paths {
        let answer = house.get(&path).await;
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}");
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    }
    let page = house.get("/dashboard").await.text;
    let at = page.find("/dashboard/assets/").expect("a file");
    let file: String = page[at..].chars().take_while(|c| *c != '"').collect();
    let answer = house.get_as("", &file).await.expect(200);
    assert!(answer.header("cache-control").ends_with("immutable"));
    Ok(())
}

#[tokio::test]
async fn only_its_own_pages_may_change_something() -> Result<(), Error> {
    let house = House::build().await?;
    let paths = ["/dashboard/buckets/new", "/dashboard/sign-in", "/dashboard/sign-out"];
    for path in paths {
        for (site, origin, passes) in [
            (Some("same-origin"), None, true),
            (Some("none"), None, true),
            (Some("same-site"), None, false),
            (Some("cross-site"), None, false),
            (Some("cross-site"), Some("http://here"), false),
            (None, Some("http://here"), true),
            (None, Some("http://here:81"), false),
            (None, Some("null"), false),
            (None, None, false),
        ] {
            let mut request = house.request(Method::POST, path, &house.cookie);
            let given = [("sec-fetch-site", site), ("origin", origin)];
            for (name, value) in given.into_iter().filter_map(|(n, v)| Some((n, v?))) {
                request = request.header(name, value);
            }
            let request = request.body(Body::from("name=made&stream=true"));
            let answer = house.send(request.expect("a request")).await;
            assert_eq!(answer.status != 403, passes, "{path} {site:?} {origin:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn another_accounts_things_are_not_there() -> Result<(), Error> {
    let house = House::build().await?;
    let paths = house.all_pages().await;
    let admin = house.webhooks.admin();
    let (_, key) = admin.create_account("other", None).await?;
    let other = house.signed_in(key.key.expose(), "").await;
    let mut hidden = 0;
    for path in paths {
        let answer = house.get_as(&other, &path).await;
        let names_something = path.matches('-').count() >= 4;
        assert_eq!(answer.status, if names_something { 404 } else { 200 }, "{path}");
        assert!(!answer.text.contains("orders"), "{path}");
        hidden += usize::from(names_something);
    }
    assert!(hidden >= 10);
    let bucket = house.bucket.id;
    for path in ["settings", "delete", "test", "inputs/new", "outputs/new"] {
        let path = format!("/dashboard/buckets/{bucket}/{path}");
        house.post_as(&other, &path, &[("name", "mine")]).await.expect(404);
    }
    let (input, output) = (house.bucket.inputs[0].id, house.bucket.outputs[0].id);
    for path in [
        format!("inputs/{input}/signature?provider=gitlab"),
        format!("inputs/{input}/signature/rotate"),
        format!("inputs/{input}/signature/delete"),
        format!("inputs/{input}/deduplication"),
        format!("inputs/{input}/deduplication/delete"),
        format!("outputs/{output}/rules"),
        format!("outputs/{output}/signing"),
        format!("outputs/{output}/signing/rotate"),
        format!("outputs/{output}/signing/delete"),
        format!("outputs/{output}/auth?type=bearer"),
        format!("outputs/{output}/auth/delete"),
        format!("outputs/{output}/health"),
        format!("outputs/{output}/health/delete"),
    ] {
        let path = format!("/dashboard/buckets/{bucket}/{path}");
        house.post_as(&other, &path, &[("do", "save"), ("rule", "or")]).await.expect(404);
    }
    let path = format!("/dashboard/webhooks/{}/resend", house.latest().await.delivery.id);
    house.post_as(&other, &path, &[]).await.expect(404);
    Ok(())
}

#[tokio::test]
async fn a_token_shows_what_it_reaches() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let hidden = admin.create_bucket(&house.me, BucketSpec::new("hidden")).await?;
    let spec = OutputSpec::new("secret-output", "https://example.com");
    admin.create_output(&house.me, hidden.id, spec).await?;
    let (paths, account) = (house.pages().await, house.account_pages().await);
    let token = house.token_for(&["orders"]).await;
    for path in paths {
        let answer = house.get_as(&token, &path).await.expect(200);
        assert!(!answer.text.contains("hidden-bucket") && !answer.text.contains("secret-output"));
        let links = answer.texts("nav[aria-label=Main] a");
        assert_eq!(links, ["Overview", "Buckets", "Webhooks", "Replays"], "{path}");
    }
    for path in account {
        house.get_as(&token, &path).await.expect(403);
    }
    for path in ["", "/settings", "/inputs/new", "/outputs/new"] {
        let path = format!("/dashboard/buckets/{}{path}", hidden.id);
        house.get_as(&token, &path).await.expect(404);
    }
    let several = house.token_for(&["orders", "hidden"]).await;
    for path in ["/dashboard", "/dashboard/webhooks", "/dashboard/buckets"] {
        house.get_as(&several, path).await.expect(200);
    }
    Ok(())
}

#[tokio::test]
async fn a_session_ends_with_its_credential() -> Result<(), Error> {
    let house = House::build().await?;
    house.get("/dashboard").await.expect(200);
    let other = Caller::for_account(house.me.account_id());
    house.webhooks.admin().regenerate_api_key(&other).await?;
    let answer = house.get("/dashboard/buckets?q=a").await.expect(303);
    assert_eq!(answer.header("location"), "/dashboard/sign-in?next=%2Fdashboard%2Fbuckets%3Fq%3Da");
    Ok(())
}

#[tokio::test]
async fn without_a_session_every_page_leads_to_signing_in() -> Result<(), Error> {
    let house = House::build().await?;
    for path in house.all_pages().await {
        for cookie in ["", "webhook-session=forged", "webhook-session="] {
            let answer = house.get_as(cookie, &path).await.expect(303);
            assert!(answer.header("location").starts_with("/dashboard/sign-in?next="), "{path}");
        }
    }
    let live = Request::get("/dashboard/webhooks/live").header("hx-request", "true");
    let live = live.header(header::HOST, "here").body(Body::empty()).expect("a request");
    house.send(live).await.expect(401);
    Ok(())
}
