//! Crons, domains, agents, and what the account has in use.

use std::{sync::Arc, time::Duration};

use webhook_core::{
    Clock, Error, SystemClock, Timestamp,
    model::{CronSpec, DomainSpec},
};

use crate::harness::House;

/// A cron that has not run, and a domain.
pub(crate) async fn made(house: &House) -> webhook_core::CronId {
    let admin = house.webhooks.admin();
    let mut spec = CronSpec::new("30 2 * * *", "https://example.com/nightly");
    spec.name = "nightly".to_owned();
    let made = admin.create_cron(&house.me, spec).await.expect("a cron");
    let domain = DomainSpec::new("hooks.example.com");
    if admin.domains(&house.me).await.expect("domains").is_empty() {
        admin.reserve_domain(&house.me, domain).await.expect("a domain");
    }
    made.cron.id
}

#[tokio::test]
async fn a_cron_is_made_paused_changed_and_deleted() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let form = [
        ("name", "report"),
        ("schedule", "0 9 * * 1-5"),
        ("timezone", ""),
        ("destination", "https://example.com/report"),
        ("payload", "{}"),
        ("enabled", "true"),
        ("recurring", "true"),
        ("method", "PUT"),
        ("headers", "X-A: 1"),
        ("starts_at", ""),
        ("ends_at", ""),
    ];
    let answer = house.post("/dashboard/crons/new", &form).await.expect(303);
    let path = answer.header("location").replace("?done=created", "");
    let page = house.get(&path).await.expect(200);
    assert_eq!(page.texts(".sentence"), ["Mondays to Fridays at 09:00 (0 9 * * 1-5), UTC"]);
    let next = page.texts("ol.plain-list li");
    assert_eq!(next.len(), 5);
    for run in next {
        assert!(run.ends_with("09:00:00 UTC") && !run.starts_with('S'), "{run}");
    }
    // Saving what is shown changes nothing but what was typed.
    let before = admin.crons(&house.me).await?.remove(0).cron;
    house.post(&path, &form).await.expect(303);
    let after = admin.crons(&house.me).await?.remove(0).cron;
    assert_eq!((after.spec.clone(), after.next_run), (before.spec, before.next_run));

    house.post(&format!("{path}/pause"), &[("enabled", "false")]).await.expect(303);
    let page = house.get(&path).await.expect(200);
    assert!(page.texts(".head .mark")[0].contains("paused"));
    assert!(page.texts("ol.plain-list li").is_empty());
    house.post(&format!("{path}/pause"), &[("enabled", "true")]).await.expect(303);
    assert!(admin.crons(&house.me).await?[0].cron.spec.enabled);
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert!(admin.crons(&house.me).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_cron_runs_now_also_while_it_is_paused() -> Result<(), Error> {
    let house = House::build().await?;
    let mut spec = CronSpec::new("30 2 * * *", "https://example.com/nightly");
    (spec.payload, spec.method) = ("{\"night\": 1}".to_owned(), axum::http::Method::PUT);
    let cron = house.webhooks.admin().create_cron(&house.me, spec).await?.cron;
    let path = format!("/dashboard/crons/{}", cron.id);
    let before = house.get(&path).await.expect(200).texts("ol.plain-list li");
    house.post(&format!("{path}/pause"), &[("enabled", "false")]).await.expect(303);
    house.post(&format!("{path}/run"), &[]).await.expect(303);
    let log = house.latest().await;
    assert_eq!(log.webhook.bucket_id, cron.bucket_id);
    let request = &log.webhook.request;
    assert_eq!((request.method.as_str(), &*request.body), ("PUT", &b"{\"night\": 1}"[..]));
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.headers["x-webhook-cron-id"], cron.id.to_string());
    let page = house.get(&path).await.expect(200);
    assert!(page.texts(".head .mark")[0].contains("paused"), "it stays so");
    assert_eq!(page.texts("tbody tr").len(), 1);
    house.post(&format!("{path}/pause"), &[("enabled", "true")]).await.expect(303);
    assert_eq!(house.get(&path).await.texts("ol.plain-list li"), before, "the schedule as well");
    house.post(&format!("/dashboard/crons/{}/run", log.delivery.id), &[]).await.expect(404);
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_with_a_cron_is_said_at_its_field() -> Result<(), Error> {
    let house = House::build().await?;
    let cron = made(&house).await;
    for path in ["/dashboard/crons/new".to_owned(), format!("/dashboard/crons/{cron}")] {
        for (name, text) in [
            ("schedule", "61 * * * *"),
            ("timezone", "Europe/Nowhere"),
            ("destination", "ftp://example.com"),
            ("starts_at", "tomorrow"),
            ("method", "NO SUCH"),
        ] {
            let form: Vec<_> = [
                ("schedule", "@daily"),
                ("destination", "https://example.com"),
                ("enabled", "true"),
            ]
            .into_iter()
            .filter(|(known, _)| *known != name)
            .chain([(name, text)])
            .collect();
            let page = house.post(&path, &form).await.expect(400);
            assert_eq!(page.texts(&format!("#field-{name}-error")).len(), 1, "{path} {name}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn domains_are_reserved_and_given_back_and_say_why_not() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let path = "/dashboard/domains";
    house.post(path, &[("domain", "Hooks.Example.com")]).await.expect(303);
    let page = house.get(path).await.expect(200);
    assert_eq!(page.texts("th[scope=row]"), ["hooks.example.com"]);
    let page = house.post(path, &[("domain", "hooks.example.com")]).await.expect(412);
    assert_eq!(page.texts("#field-domain-error"), ["✕ hooks.example.com is taken"]);
    let page = house.post(path, &[("domain", "not a name")]).await.expect(400);
    assert_eq!(page.texts("#field-domain-error").len(), 1);
    // What the operator keeps back.
    let page = house.post(path, &[("domain", "kept.example.org")]).await.expect(451);
    assert!(page.texts("#field-domain-error")[0].contains("cannot be reserved"));

    let mut spec = house.bucket.inputs[0].spec.clone();
    spec.custom_domain = "hooks.example.com".to_owned();
    let (bucket, input) = (house.bucket.id, house.bucket.inputs[0].id);
    admin.update_input(&house.me, bucket, input, spec.clone()).await?;
    let page = house.get(path).await.expect(200);
    assert!(page.texts("td a")[0].starts_with("orders › "));
    let id = admin.domains(&house.me).await?[0].id;
    let delete = format!("{path}/{id}/delete");
    let page = house.post(&delete, &[]).await.expect(412);
    assert!(page.texts("[role=alert]")[0].contains("is used by an input"));
    spec.custom_domain.clear();
    admin.update_input(&house.me, bucket, input, spec).await?;
    house.post(&delete, &[]).await.expect(303);
    assert!(admin.domains(&house.me).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn domains_say_until_when_their_certificates_are_valid() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    for name in ["good.example.com", "soon.example.com", "over.example.com", "none.example.com"] {
        admin.reserve_domain(&house.me, DomainSpec::new(name)).await?;
    }
    let path = "/dashboard/domains";
    let page = house.get(path).await.expect(200);
    assert!(!page.text.contains("Certificate"), "nobody said that there are any");
    let now = SystemClock.now();
    house.dashboard.show_certificates(Arc::new(move |domain| match domain {
        "good.example.com" => Some(now + Duration::from_secs(60 * 86_400)),
        "soon.example.com" => Some(now + Duration::from_secs(86_400)),
        "over.example.com" => Some(Timestamp::from_secs(1_700_000_000)),
        _ => None,
    }));
    let rows = house.get(path).await.expect(200).texts("tbody tr");
    for (name, said) in [
        ("good", "✓ valid until"),
        ("soon", "! ends soon until"),
        ("over", "✕ over until 2023-11-14 22:13:20 UTC"),
        ("none", "the server's own"),
    ] {
        let found = rows.iter().find(|row| row.starts_with(name)).expect("a row");
        assert!(found.contains(said), "{found}");
    }
    Ok(())
}

#[tokio::test]
async fn the_command_of_an_agent_names_the_bucket() -> Result<(), Error> {
    let house = House::build().await?;
    let spec = webhook_core::model::BucketSpec::new("second");
    house.webhooks.admin().create_bucket(&house.me, spec).await?;
    let command = |bucket: &str| {
        format!(
            "webhook-server forward --server-url 'http://hooks.test' --bucket '{bucket}' \
             http://localhost:3000"
        )
    };
    for (path, bucket) in [
        ("/dashboard/agents", "orders"),
        ("/dashboard/agents?bucket=second", "second"),
        ("/dashboard/agents?bucket=%27%3B+rm", "orders"),
    ] {
        let page = house.get(path).await.expect(200);
        assert_eq!(page.texts("pre"), [command(bucket)], "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn usage_counts_what_there_is() -> Result<(), Error> {
    let house = House::build().await?;
    made(&house).await;
    let page = house.get("/dashboard/usage").await.expect(200);
    let rows = page.texts("tbody tr");
    for row in ["Buckets2unlimited", "Crons1unlimited", "Domains1unlimited"] {
        assert!(rows.iter().any(|it| it == row), "{row} is not in {rows:?}");
    }
    let path = "/dashboard/usage/billing-details";
    let form = [("name", "Ada"), ("email", "ada@example.com"), ("country", "de")];
    let page = house.post(path, &[("name", "Ada"), ("country", "Germany")]).await.expect(400);
    assert_eq!(page.texts(".wrong .error").len(), 1, "{}", page.text);
    house.post(path, &form).await.expect(303);
    let (known, _) = house.webhooks.admin().billing_details(&house.me).await?;
    assert_eq!((known.name.as_str(), known.country.as_str()), ("Ada", "DE"));
    Ok(())
}
