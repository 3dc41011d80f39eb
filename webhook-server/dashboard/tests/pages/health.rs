//! How an output judges answers, and what becomes of it while its destination fails and while it is
//! disabled.

use std::time::Duration;

use webhook_core::{
    Error,
    model::{Health, OnDisabled, OutputSpec},
};

use crate::harness::House;

async fn spec(house: &House) -> Result<OutputSpec, Error> {
    let bucket = house.webhooks.admin().bucket(&house.me, house.bucket.id).await?;
    Ok(bucket.outputs.into_iter().next().expect("an output").spec)
}

#[tokio::test]
async fn a_destination_is_looked_after_and_left_alone() -> Result<(), Error> {
    let house = House::build().await?;
    let (bucket, output) = (house.bucket.id, house.bucket.outputs[0].id);
    let output = format!("/dashboard/buckets/{bucket}/outputs/{output}");
    let path = format!("{output}/health");
    let page = house.get(&path).await.expect(200);
    assert!(page.texts("section.danger").is_empty(), "there is nothing to take away");
    assert!(page.text.contains("value=\"5d\"") && page.text.contains("value=\"0.7\""));
    let form = |notify: &'static str, ratio: &'static str| {
        [
            ("health.enabled", "true"),
            ("health.notify_after", notify),
            ("health.pause_after", "2d"),
            ("health.circuit.enabled", "true"),
            ("health.circuit.failures", "7"),
            ("health.circuit.ratio", ratio),
            ("health.circuit.window", ""),
            ("health.circuit.open_for", "10s"),
            ("health.circuit.max_open_for", "1m"),
        ]
    };
    house.post(&path, &form("never", "0.25")).await.expect(303);
    let saved = spec(&house).await?;
    let health = saved.health.set().expect("it is stored");
    assert_eq!((health.notify_after, health.pause_after), (Duration::ZERO, 2 * DAY));
    assert!(health.enabled && !health.pause_on_gone, "what is not chosen is off");
    assert_eq!((health.circuit.failures, health.circuit.ratio), (7, 0.25));
    let standard = Health::default().circuit;
    assert_eq!(health.circuit.window, standard.window, "what is empty is as without it");
    let page = house.get(&path).await.expect(200);
    assert!(page.text.contains("value=\"never\""), "0 is not shown as the default");
    let page = house.get(&output).await.expect(200);
    assert!(page.text.contains("it is looked after"), "{}", page.text);

    for (form, field) in [
        (form("1s", "0.5"), "notify_after"),
        (form("soon", "0.5"), "notify_after"),
        (form("1h", "2"), "circuit-ratio"),
        (form("1h", "half"), "circuit-ratio"),
    ] {
        let wrong = house.post(&path, &form).await.expect(400);
        let error = format!("#field-health-{field}-error");
        assert_eq!(wrong.texts(&error).len(), 1, "{field}: {}", wrong.text);
    }
    assert_eq!(spec(&house).await?, saved, "nothing of it is stored");

    // Other forms of the output leave it as it is.
    let form = [("name", "shop"), ("destination", "https://example.com/orders")];
    house.post(&output, &form).await.expect(303);
    assert_eq!(spec(&house).await?.health, saved.health);
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert!(spec(&house).await?.health.is_unset());
    Ok(())
}

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn what_comes_for_a_disabled_output_waits_when_that_is_chosen() -> Result<(), Error> {
    let house = House::build().await?;
    let (bucket, output) = (house.bucket.id, house.bucket.outputs[0].id);
    let path = format!("/dashboard/buckets/{bucket}/outputs/{output}");
    let form = |on_disabled: &'static str| {
        [
            ("name", "shop"),
            ("destination", "https://example.com/orders"),
            ("disabled", "true"),
            ("on_disabled", on_disabled),
        ]
    };
    for (word, stored, waits) in [("park", Some(OnDisabled::Park), true), ("skip", None, false)] {
        house.post(&path, &form(word)).await.expect(303);
        assert_eq!(spec(&house).await?.on_disabled, stored);
        let chosen = house.get(&path).await.expect(200).texts("#field-on_disabled [selected]");
        assert_eq!(chosen.len(), usize::from(waits), "{chosen:?}");
        let log = house.webhook().await;
        assert_eq!(log.delivery.output_id.is_some(), waits, "{word}");
    }
    house.post(&path, &form("drop")).await.expect(400);
    Ok(())
}

#[tokio::test]
async fn answers_are_judged_by_lists_and_rules_of_an_output() -> Result<(), Error> {
    let house = House::build().await?;
    let (bucket, output) = (house.bucket.id, house.bucket.outputs[0].id);
    let output = format!("/dashboard/buckets/{bucket}/outputs/{output}");
    let path = format!("{output}/outcomes");
    let page = house.get(&path).await.expect(200);
    assert!(page.texts("section.danger").is_empty(), "there is nothing to take away");
    let rules = r#"{"match": {"type": "value", "value": "true", "parameter": {"source": "payload", "name": "ok"}}}"#;
    let form = |retry: &'static str, rules: &'static str| {
        [
            ("outcomes.success", "2xx\n409"),
            ("outcomes.retry", retry),
            ("outcomes.final", ""),
            ("success_when", rules),
        ]
    };
    house.post(&path, &form("404", rules)).await.expect(303);
    let saved = spec(&house).await?;
    let json = serde_json::to_value(&saved.outcomes).expect("JSON");
    let expected = serde_json::json!({"success": ["2xx", "409"], "retry": ["404"], "final": []});
    assert_eq!(json, expected);
    assert_eq!(serde_json::to_value(&saved.success_when).expect("JSON")["match"]["value"], "true");
    let page = house.get(&path).await.expect(200);
    assert!(page.text.contains("2xx\n409"), "{}", page.text);
    assert!(page.texts("#field-success_when")[0].contains("\"ok\""), "{}", page.text);
    let page = house.get(&output).await.expect(200);
    assert!(page.text.contains("judged by lists or rules of its own"), "{}", page.text);

    for (form, field) in [
        (form("409", rules), "outcomes-retry"),
        (form("soon", rules), "outcomes-retry"),
        (form("404", "{"), "success_when"),
        (form("404", r#"{"match": {"type": "value"}}"#), "success_when"),
    ] {
        let wrong = house.post(&path, &form).await.expect(400);
        let error = format!("#field-{field}-error");
        assert_eq!(wrong.texts(&error).len(), 1, "{field}: {}", wrong.text);
    }
    assert_eq!(spec(&house).await?, saved, "nothing of it is stored");

    house.post(&path, &form("404", "")).await.expect(303);
    assert_eq!(spec(&house).await?.success_when, None, "an empty text takes the rules away");
    house.post(&path, &form("404", rules)).await.expect(303);
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    let spec = spec(&house).await?;
    assert!(spec.outcomes.is_unset() && spec.success_when.is_none());
    Ok(())
}
