//! What an output signs and authenticates with.

use webhook_core::{
    Error,
    model::{Described, OutputSpec},
};

use crate::harness::{House, select};

/// Names and values of a form.
type Typed<'a> = &'a [(&'a str, &'a str)];

async fn output(house: &House) -> Result<OutputSpec, Error> {
    let bucket = house.webhooks.admin().bucket(&house.me, house.bucket.id).await?;
    Ok(bucket.outputs[0].spec.clone())
}

fn base(house: &House) -> String {
    format!("/dashboard/buckets/{}/outputs/{}", house.bucket.id, house.bucket.outputs[0].id)
}

/// What a field is filled with.
async fn value(house: &House, path: &str, name: &str) -> String {
    let page = house.get(path).await.expect(200);
    let html = page.html();
    let field = html.select(&select(&format!("[name=\"{name}\"]"))).next().expect(name);
    field.value().attr("value").unwrap_or_default().to_owned()
}

#[tokio::test]
async fn webhooks_are_signed_and_the_secret_is_replaced() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("{}/signing", base(&house));
    let form = |secret: &'static str, format: &'static str| {
        [
            ("signing.enabled", "true"),
            ("signing.format", format),
            ("signing.prefix", "x-shop-"),
            ("signing.secrets.0.secret", secret),
            ("signing.secrets.0.expires_at", ""),
            ("signing.secrets.1.secret", ""),
        ]
    };
    for (secret, format) in [("short", "standard_webhooks"), ("", "hmac_body")] {
        let answer = house.post(&path, &form(secret, format)).await.expect(400);
        assert!(!answer.texts(".error").is_empty(), "{}", answer.text);
    }
    house.post(&path, &form("the-first-secret-of-all", "hmac_body")).await.expect(303);
    let page = house.get(&base(&house)).await.expect(200);
    assert!(page.texts(".parts-of").concat().contains("Signing signed"), "{}", page.text);
    let mask = value(&house, &path, "signing.secrets.0.secret").await;
    assert_eq!(mask, "********-all");
    house.post(&path, &form("********-all", "hmac_timestamp_body")).await.expect(303);
    let stored = output(&house).await?;
    let signing = stored.signing.set().expect("it is there");
    assert_eq!(signing.secrets[0].secret.expose(), "the-first-secret-of-all");
    assert_eq!(signing.prefix, "x-shop-");
    let new = [("new_secret", "the-second-secret-of-all"), ("until", "2100-01-01T00:00:00Z")];
    house.post(&format!("{path}/rotate"), &new).await.expect(303);
    let stored = output(&house).await?;
    let secrets = &stored.signing.set().expect("it is there").secrets;
    assert_eq!(secrets[0].secret.expose(), "the-second-secret-of-all");
    assert_eq!((secrets[1].expires_at.as_secs(), secrets.len()), (4_102_444_800, 2));
    // A third one is one too many while the first has not ended.
    let answer = house.post(&format!("{path}/rotate"), &new).await.expect(400);
    assert!(!answer.texts(".error").is_empty(), "{}", answer.text);
    // The output's own form leaves it.
    let form = [("name", "renamed"), ("destination", "https://example.com/x")];
    house.post(&base(&house), &form).await.expect(303);
    assert_eq!(output(&house).await?.signing.set().map(|it| it.secrets.len()), Some(2));
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert!(output(&house).await?.signing.is_unset());
    Ok(())
}

#[tokio::test]
async fn credentials_are_chosen_filled_in_masked_and_taken_away() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("{}/auth", base(&house));
    let secret = "what-nobody-may-see";
    let kinds: [(&str, &str, Typed<'_>); 5] = [
        ("basic", "auth.password", &[("auth.username", "u")]),
        ("bearer", "auth.token", &[]),
        ("api_key", "auth.value", &[("auth.name", "X-Key"), ("auth.in", "query")]),
        (
            "oauth2_client_credentials",
            "auth.client_secret",
            &[
                ("auth.token_url", "https://id.example.com/token"),
                ("auth.client_id", "c"),
                ("auth.client_auth", "client_secret_post"),
            ],
        ),
        (
            "aws_sigv4",
            "auth.secret_access_key",
            &[
                ("auth.access_key_id", "AKIA"),
                ("auth.region", "eu-central-1"),
                ("auth.service", "sqs"),
            ],
        ),
    ];
    for (kind, field, others) in kinds {
        let of_kind = format!("{path}?type={kind}");
        house.get(&of_kind).await.expect(200);
        let mut form = others.to_vec();
        form.push((field, secret));
        house.post(&of_kind, &form).await.expect(303);
        let stored = output(&house).await?;
        let auth = stored.auth.set().expect(kind);
        assert_eq!(auth.kind(), kind);
        let page = house.get(&path).await.expect(200);
        assert!(!page.text.contains(secret), "{kind} is masked");
        let mask = value(&house, &path, field).await;
        assert_eq!(mask, "********-see", "{kind}");
        // What is shown is what is stored.
        let mut form = others.to_vec();
        form.push((field, &mask));
        house.post(&of_kind, &form).await.expect(303);
        assert_eq!(output(&house).await?.auth, stored.auth, "{kind}");
    }
    for (kind, field, typed) in [
        ("bearer", "token", "a b"),
        ("api_key", "name", "a b"),
        ("oauth2_client_credentials", "token_url", "ftp://x"),
        ("gcp_service_account", "service_account", "{}"),
        ("gcp_service_account", "service_account", ""),
    ] {
        let name = format!("auth.{field}");
        let mut form =
            vec![("auth.value", "x"), ("auth.client_id", "x"), ("auth.client_secret", "x")];
        form.push((&name, typed));
        let answer = house.post(&format!("{path}?type={kind}"), &form).await.expect(400);
        let id = format!("#field-auth-{field}-error");
        assert_eq!(answer.texts(&id).len(), 1, "{kind} {field}: {}", answer.text);
    }
    house.post(&format!("{path}?type=nothing"), &[]).await.expect(404);
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert!(output(&house).await?.auth.is_unset());
    Ok(())
}

#[tokio::test]
async fn what_clients_missed_is_limited() -> Result<(), Error> {
    let house = House::build().await?;
    let form = [
        ("name", "shop"),
        ("internal", "true"),
        ("replay_missing.enabled", "true"),
        ("replay_missing.lookback", "1h"),
        ("replay_missing.limit", "7"),
    ];
    house.post(&base(&house), &form).await.expect(303);
    let missed = output(&house).await?.replay_missing;
    assert_eq!((missed.enabled, missed.limit, missed.lookback.as_secs()), (true, 7, 3600));
    Ok(())
}
