//! Verifying the webhooks of an input, and finding duplicates of them.

use axum::{body::Body, http::Request};
use webhook_core::{Error, model::InputSpec};

use crate::harness::{House, select};

/// An input as it is stored.
async fn input(house: &House) -> Result<InputSpec, Error> {
    let bucket = house.webhooks.admin().bucket(&house.me, house.bucket.id).await?;
    Ok(bucket.inputs[0].spec.clone())
}

fn base(house: &House) -> String {
    format!("/dashboard/buckets/{}/inputs/{}", house.bucket.id, house.bucket.inputs[0].id)
}

/// Sends what GitLab sends, with this token; answers the status.
async fn send(house: &House, token: &str, body: &str) -> u16 {
    let path = format!("/v1/webhooks/{}", house.bucket.inputs[0].id);
    let request = Request::post(path)
        .header("x-gitlab-token", token)
        .header("x-gitlab-event", "Push Hook")
        .body(Body::from(body.to_owned()));
    let answer = house.webhooks.ingest().receive(request.expect("a request")).await;
    answer.status().as_u16()
}

const FIRST: [(&str, &str); 4] = [
    ("signature.enabled", "true"),
    ("signature.secrets.0.secret", "the-first-token-of-all"),
    ("signature.secrets.0.expires_at", ""),
    ("signature.on_failure", "reject"),
];

#[tokio::test]
async fn a_provider_is_chosen_and_its_fields_are_there() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("{}/signature", base(&house));
    let answer = house.get(&path).await.expect(200);
    assert!(answer.texts("form[method=post] .actions").is_empty(), "nothing is chosen yet");
    assert!(answer.html().select(&select("#choice option")).count() > 80);
    for (provider, field) in [
        ("paypal", "signature.parameters.webhook_id"),
        ("square", "signature.url"),
        ("stripe", "signature.tolerance"),
        ("slack", "signature.challenge"),
        ("hmac", "signature.header"),
        ("custom", "signature.scheme"),
    ] {
        let answer = house.get(&format!("{path}?provider={provider}")).await.expect(200);
        let name = select(&format!("[name=\"{field}\"]"));
        assert_eq!(answer.html().select(&name).count(), 1, "{provider}: {field}");
    }
    let answer = house.get(&format!("{path}?provider=nobody")).await.expect(200);
    assert!(answer.texts("form.edit .actions").is_empty(), "nobody has no fields");
    house.post(&format!("{path}?provider=nobody"), &FIRST).await.expect(404);
    Ok(())
}

#[tokio::test]
async fn what_is_not_signed_is_refused_and_said_why() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("{}/signature", base(&house));
    house.post(&format!("{path}?provider=gitlab"), &FIRST).await.expect(303);
    let page = house.get(&base(&house)).await.expect(200);
    assert!(page.texts(".parts-of").concat().contains("GitLab, others are refused"));
    assert_eq!(send(&house, "another", "{}").await, 401);
    let refused = house.latest().await.delivery.id;
    assert_eq!(send(&house, "the-first-token-of-all", "{}").await, 200);
    let signed = house.latest().await.delivery.id;
    let list = house.get("/dashboard/webhooks").await.expect(200);
    let [accepted, forged] = &list.texts("tbody tr")[..] else { panic!("{}", list.text) };
    assert!(accepted.contains("✓ verified"), "{accepted}");
    for said in ["rejected signature", "✕ not verified"] {
        assert!(forged.contains(said), "{forged}");
    }
    for (query, found) in [
        ("reason=signature", 1),
        ("verified=true", 1),
        ("verified=false&reason=signature", 1),
        ("reason=rules", 0),
        ("search=the-first-token", 1),
    ] {
        let list = house.get(&format!("/dashboard/webhooks?{query}")).await.expect(200);
        assert_eq!(list.texts("tbody tr").len(), found, "{query}: {}", list.text);
        assert!(!list.text.contains("hx-sse:connect"), "a search is not live");
        house.get(&format!("/dashboard/webhooks/live?{query}")).await.expect(400);
    }
    let facts = house.get(&format!("/dashboard/webhooks/{refused}")).await.expect(200);
    let link = format!("{path}?log={refused}#test");
    assert!(
        facts.text.contains(&link) && facts.texts(".facts").concat().contains("Reasonsignature")
    );
    let facts = house.get(&format!("/dashboard/webhooks/{signed}")).await.expect(200);
    assert!(facts.texts(".facts").concat().contains("EventPush Hook"), "{}", facts.text);
    for (log, said) in [(refused, "✕ not verified no match"), (signed, "✓ verified The first")]
    {
        let test = house.get(&format!("{path}?log={log}")).await.expect(200);
        assert!(test.texts("[role=status]").concat().contains(said), "{}", test.text);
    }
    house.get(&format!("{path}?log=nothing")).await.expect(404);
    Ok(())
}

#[tokio::test]
async fn a_secret_that_is_set_is_masked_kept_replaced_and_taken_away() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("{}/signature", base(&house));
    house.post(&format!("{path}?provider=gitlab"), &FIRST).await.expect(303);
    let page = house.get(&path).await.expect(200);
    assert!(!page.text.contains("the-first-token-of-all"), "it is not shown again");
    let html = page.html();
    let field = select("[name=\"signature.secrets.0.secret\"]");
    let mask = html.select(&field).next().and_then(|it| it.value().attr("value"));
    assert_eq!(mask, Some("********-all"));
    // What is left as it is shown stays.
    let mut form = FIRST;
    form[1].1 = "********-all";
    form[3].1 = "mark";
    house.post(&format!("{path}?provider=gitlab"), &form).await.expect(303);
    assert_eq!(send(&house, "the-first-token-of-all", "1").await, 200);
    assert_eq!(house.latest().await.webhook.checks.verified, Some(true));
    // A new one beside it.
    let rotate = format!("{path}/rotate");
    for (typed, until, field) in
        [("", "2100-01-01", "new_secret"), ("x", "2001-01-01", "until"), ("x", "soon", "until")]
    {
        let form = [("new_secret", typed), ("until", until)];
        let answer = house.post(&rotate, &form).await.expect(400);
        assert_eq!(answer.texts(&format!("#field-{field}-error")).len(), 1, "{}", answer.text);
    }
    let form = [("new_secret", "the-second-token-of-all"), ("until", "2100-01-01")];
    house.post(&rotate, &form).await.expect(303);
    for token in ["the-first-token-of-all", "the-second-token-of-all"] {
        assert_eq!(send(&house, token, token).await, 200);
        assert_eq!(house.latest().await.webhook.checks.verified, Some(true), "{token}");
    }
    let page = house.get(&path).await.expect(200);
    assert!(page.text.contains("2100-01-01T00:00:00Z"), "{}", page.text);
    assert_eq!(send(&house, "a third", "3").await, 200, "others are marked");
    assert_eq!(house.latest().await.webhook.checks.verified, Some(false));
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert!(input(&house).await?.signature.is_unset());
    house.post(&rotate, &form_of_nothing()).await.expect(404);
    Ok(())
}

fn form_of_nothing() -> [(&'static str, &'static str); 1] {
    [("new_secret", "x")]
}

#[tokio::test]
async fn what_is_wrong_with_a_signature_is_said_at_its_field() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("{}/signature", base(&house));
    for (provider, field, typed) in [
        ("stripe", "signature.tolerance", "5000d"),
        ("stripe", "signature.tolerance", "later"),
        ("gitlab", "signature.secrets.0.expires_at", "2001-01-01"),
        ("gitlab", "signature.secrets.0.expires_at", "soon"),
        ("paypal", "signature.parameters.webhook_id", ""),
        ("custom", "signature.scheme", "{"),
    ] {
        let mut form: Vec<_> = FIRST.into_iter().filter(|(name, _)| *name != field).collect();
        form.push((field, typed));
        let answer = house.post(&format!("{path}?provider={provider}"), &form).await;
        assert_eq!(answer.status, 400, "{provider} {field}: {}", answer.text);
        let shown = answer.texts(".error").concat();
        assert!(!shown.is_empty(), "{provider} {field}: {}", answer.text);
        assert!(!answer.text.contains("the-first-token-of-all"), "{provider} {field}");
    }
    assert!(input(&house).await?.signature.is_unset());
    Ok(())
}

#[tokio::test]
async fn duplicates_are_told_from_others_and_shown() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("{}/deduplication", base(&house));
    let form = [
        ("deduplication.enabled", "true"),
        ("deduplication.window", "1h"),
        ("deduplication.key", "payload id\r\nheader X-Gitlab-Token"),
        ("deduplication.answer", "208"),
    ];
    house.post(&path, &form).await.expect(303);
    let page = house.get(&path).await.expect(200);
    assert!(page.text.contains("payload id\nheader X-Gitlab-Token"), "{}", page.text);
    let first = (send(&house, "t", r#"{"id": 1}"#).await, house.latest().await.delivery.id);
    assert_eq!(first.0, 200);
    assert_eq!(send(&house, "t", r#"{"id": 1, "again": true}"#).await, 208);
    let second = house.latest().await;
    assert_eq!(second.webhook.checks.duplicate_of, Some(first.1));
    let shown = house.get(&format!("/dashboard/webhooks/{}", second.delivery.id)).await;
    assert!(shown.expect(200).texts(".facts").concat().contains(&first.1.to_string()));
    let list = house.get("/dashboard/webhooks").await.expect(200);
    assert!(list.texts("tbody tr")[0].contains("duplicate"), "{}", list.text);
    for (field, typed) in [
        ("window", "400d"),
        ("window", "x"),
        ("key", "cookie a"),
        ("key", "header"),
        ("answer", "999"),
        ("answer", "another"),
        ("exclude", "body"),
    ] {
        let name = format!("deduplication.{field}");
        let answer = house.post(&path, &[(&name, typed)]).await.expect(400);
        let id = format!("#field-deduplication-{field}-error");
        assert_eq!(answer.texts(&id).len(), 1, "{field} {typed}: {}", answer.text);
        assert!(answer.text.contains(typed));
    }
    // The input's own form leaves both as they are.
    house.post(&base(&house), &[("name", "renamed")]).await.expect(303);
    let stored = input(&house).await?;
    assert_eq!((stored.name.as_str(), stored.deduplication.is_unset()), ("renamed", false));
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert!(input(&house).await?.deduplication.is_unset());
    Ok(())
}
