//! What forms change, and what they say when they cannot.

use std::time::Duration;

use webhook_core::{
    Error, Timestamp,
    model::{AuthType, LogRetention},
};

use crate::harness::{House, select};

#[tokio::test]
async fn a_bucket_is_made_changed_and_deleted() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let form = [
        ("name", "made"),
        ("stream", "true"),
        ("auth.type", "basic"),
        ("auth.username", "u"),
        ("auth.password", "pass word"),
        ("retention.logs", ""),
        ("retention.failed", ""),
    ];
    let answer = house.post("/dashboard/buckets/new", &form).await.expect(303);
    let path = answer.header("location").replace("?done=created", "");
    let made = admin.buckets(&house.me).await?.pop().expect("it is there");
    assert_eq!((made.spec.name.as_str(), made.spec.auth.kind), ("made", AuthType::Basic));
    assert!(made.spec.retention.is_unset());
    let settings = house.get(&format!("{path}/settings")).await.expect(200);
    assert!(!settings.text.contains("pass word"), "what is set is not shown again");
    // The mask that is shown keeps it.
    let form = [
        ("name", "renamed"),
        ("auth.type", "basic"),
        ("auth.username", "u"),
        ("auth.password", "********"),
        ("auth.token", ""),
    ];
    house.post(&format!("{path}/settings"), &form).await.expect(303);
    let saved = admin.bucket(&house.me, made.id).await?;
    assert_eq!(saved.spec.name, "renamed");
    assert!(saved.spec.auth.password.matches(b"pass word") && !saved.spec.stream);
    // How long logs are kept.
    let day = Duration::from_secs(86_400);
    let said = |logs: &'static str, failed: &'static str| {
        [("name", "renamed"), ("retention.logs", logs), ("retention.failed", failed)]
    };
    house.post(&format!("{path}/settings"), &said("1d", "7d")).await.expect(303);
    let saved = admin.bucket(&house.me, made.id).await?;
    assert_eq!(saved.spec.retention.set(), Some(&LogRetention::new(day, day * 7)));
    let settings = house.get(&format!("{path}/settings")).await.expect(200);
    assert!(settings.text.contains("value=\"7d\""), "it is shown as it was typed");
    let refused = house.post(&format!("{path}/settings"), &said("1d", "1ms")).await.expect(400);
    assert_eq!(refused.texts("#field-retention-failed-error").len(), 1);
    house.post(&format!("{path}/settings"), &said("", "")).await.expect(303);
    assert!(admin.bucket(&house.me, made.id).await?.spec.retention.is_unset());
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert_eq!(admin.buckets(&house.me).await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_bucket_that_is_not_empty_is_deleted_when_that_is_said() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("/dashboard/buckets/{}/delete", house.bucket.id);
    let answer = house.post(&path, &[]).await.expect(412);
    assert_eq!(answer.texts("[role=alert]").len(), 1);
    house.post(&path, &[("force", "true")]).await.expect(303);
    Ok(())
}

#[tokio::test]
async fn the_form_of_a_new_output_suggests_a_schedule() -> Result<(), Error> {
    let house = House::build().await?;
    let page = house.get(&format!("/dashboard/buckets/{}/outputs/new", house.bucket.id)).await;
    let html = page.expect(200).html();
    let chosen = select("[name='durability.schedule'] [value=medium][selected]");
    assert_eq!(html.select(&chosen).count(), 1);
    assert_eq!(html.select(&select("[name='durability.enabled'][checked]")).count(), 1);
    Ok(())
}

#[tokio::test]
async fn outputs_take_every_field_and_say_what_is_wrong_at_it() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let new = format!("/dashboard/buckets/{}/outputs/new", house.bucket.id);
    let form = [
        ("name", "second"),
        ("destination", "https://example.com/b"),
        ("headers", "X-A: 1\r\nX-A: 2\r\nAuthorization: Bearer t"),
        ("tls_verification", "true"),
        ("timeout", "7"),
        ("throttle.enabled", "true"),
        ("throttle.rate", "5"),
        ("throttle.interval", "minute"),
        ("throttle.deadline", "90s"),
        ("durability.enabled", "true"),
        ("durability.schedule", "custom"),
        ("durability.custom_delays", "10s, 1m"),
        ("durability.deadline", "1h"),
    ];
    house.post(&new, &form).await.expect(303);
    let bucket = admin.bucket(&house.me, house.bucket.id).await?;
    let spec = &bucket.outputs[1].spec;
    let json = serde_json::to_value(spec).expect("JSON");
    assert_eq!(json["headers"]["X-A"], serde_json::json!(["1", "2"]));
    assert_eq!(json["timeout"], 7);
    assert_eq!(json["throttle"]["deadline"], 90_000_000_000_i64);
    assert_eq!(json["durability"]["custom_delays"][1], 60_000_000_000_i64);
    // Saving what is shown changes nothing.
    let path = format!("/dashboard/buckets/{}/outputs/{}", bucket.id, bucket.outputs[1].id);
    house.post(&path, &form).await.expect(303);
    assert_eq!(admin.bucket(&house.me, bucket.id).await?.outputs[1].spec, *spec);

    for (field, typed, status) in [
        ("destination", "not a url", 400),
        ("timeout", "999", 400),
        ("timeout", "soon", 400),
        ("headers", "a b: c", 400),
        ("throttle.deadline", "later", 400),
    ] {
        let mut form = vec![("name", "third"), ("destination", "https://example.com/c")];
        form.retain(|(name, _)| *name != field);
        form.push((field, typed));
        let answer = house.post(&new, &form).await.expect(status);
        let id = format!("#field-{}-error", field.replace('.', "-"));
        assert_eq!(answer.texts(&id).len(), 1, "{field}: {}", answer.text);
        assert!(answer.text.contains(typed), "{field} keeps what was typed");
        assert!(answer.text.contains("third"), "and so do the others");
    }
    let answer = house.post(&new, &[("name", "shop"), ("destination", "https://a.b")]).await;
    assert_eq!(answer.expect(412).texts(".error").len(), 1, "the name is taken");
    Ok(())
}

#[tokio::test]
async fn an_output_is_switched_off_and_on_and_inputs_are_edited() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let (bucket, output) = (house.bucket.id, house.bucket.outputs[0].id);
    for disabled in [true, false] {
        let path = format!("/dashboard/buckets/{bucket}/outputs/{output}/switch");
        house.post(&path, &[]).await.expect(303);
        let found = admin.bucket(&house.me, bucket).await?;
        assert_eq!(found.outputs[0].spec.disabled, disabled);
    }
    for paused in [true, false] {
        let path = format!("/dashboard/buckets/{bucket}/outputs/{output}/pause");
        house.post(&path, &[]).await.expect(303);
        let found = admin.bucket(&house.me, bucket).await?;
        assert_eq!(found.outputs[0].paused_until(Timestamp::default()).is_some(), paused);
        let word = if paused { "Resume" } else { "Pause" };
        let page = house.get(&format!("/dashboard/buckets/{bucket}")).await.expect(200);
        assert!(page.texts("button").iter().any(|text| text.starts_with(word)), "{word}");
    }
    let new = format!("/dashboard/buckets/{bucket}/inputs/new");
    let form = [
        ("name", "in"),
        ("status_code", "202"),
        ("body", "ok"),
        ("response_from_output", "anyOutput"),
    ];
    house.post(&new, &form).await.expect(303);
    let input = admin.bucket(&house.me, bucket).await?.inputs.remove(1);
    assert_eq!((input.spec.status_code, input.spec.body.as_str()), (202, "ok"));
    let path = format!("/dashboard/buckets/{bucket}/inputs/{}", input.id);
    let answer = house.post(&path, &[("status_code", "1000")]).await.expect(400);
    assert_eq!(answer.texts("#field-status_code-error").len(), 1);
    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert_eq!(admin.bucket(&house.me, bucket).await?.inputs.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_webhook_is_sent_edited_and_sent_again() -> Result<(), Error> {
    let house = House::build().await?;
    let input = house.bucket.inputs[0].id.to_string();
    let path = format!("/dashboard/buckets/{}/test", house.bucket.id);
    house.post(&path, &[("input", &input), ("body", r#"{"a":1}"#)]).await.expect(303);
    let sent = house.latest().await;
    assert_eq!(&sent.webhook.request.body[..], br#"{"a":1}"#);
    let path = format!("/dashboard/webhooks/{}", sent.delivery.id);
    let form = [
        ("method", "PUT"),
        ("path", "/x"),
        ("query", "q=1"),
        ("headers", "X-A: b"),
        ("body", "AAECAw=="),
        ("base64", "true"),
    ];
    house.post(&format!("{path}/edit"), &form).await.expect(303);
    let edited = house.latest().await.webhook.request;
    assert_eq!((edited.method.as_str(), &edited.body[..]), ("PUT", &[0, 1, 2, 3][..]));
    assert_eq!((edited.extra_path.as_str(), edited.raw_query.as_str()), ("/x", "q=1"));
    assert_eq!(edited.headers["x-a"], "b");
    for (field, typed) in [
        ("method", "a b"),
        ("path", "no-slash"),
        ("path", "/a b"),
        ("body", "%%"),
        ("headers", "x"),
    ] {
        let form: Vec<_> =
            form.iter().map(|(n, v)| (*n, if *n == field { typed } else { *v })).collect();
        let answer = house.post(&format!("{path}/edit"), &form).await;
        assert!(answer.status == 400, "{field} {typed}: {}", answer.status);
        assert_eq!(answer.texts(&format!("#field-{field}-error")).len(), 1, "{field}");
    }
    let before = house.latest().await.delivery.id;
    house.post(&format!("{path}/resend"), &[]).await.expect(303);
    assert_ne!(house.latest().await.delivery.id, before);
    Ok(())
}

#[tokio::test]
async fn a_webhook_is_erased_when_that_is_said() -> Result<(), Error> {
    let house = House::build().await?;
    let log = house.webhook().await.delivery.id;
    let path = format!("/dashboard/webhooks/{log}");
    let page = house.get(&path).await.expect(200);
    assert_eq!(page.texts("#erase"), ["Erase this webhook"]);
    let refused = house.post(&format!("{path}/erase"), &[]).await.expect(400);
    assert!(refused.texts(".lead")[0].starts_with("sure: must be ticked"));
    house.get(&path).await.expect(200);
    let answer = house.post(&format!("{path}/erase"), &[("sure", "true")]).await.expect(303);
    assert_eq!(answer.header("location"), "/dashboard/webhooks?done=erased");
    house.get(&path).await.expect(404);
    house.post(&format!("{path}/erase"), &[("sure", "true")]).await.expect(404);
    Ok(())
}

#[tokio::test]
async fn an_output_is_paused_until_a_moment_and_resumed_at_a_rate() -> Result<(), Error> {
    let house = House::build().await?;
    let (bucket, output) = (house.bucket.id, house.bucket.outputs[0].id);
    let path = format!("/dashboard/buckets/{bucket}/outputs/{output}/pausing");
    let wrong = house.post(&path, &[("reason", ""), ("until", "2020-01-01")]).await.expect(400);
    assert!(wrong.texts("#field-until-error")[0].contains("has passed"));
    let form = [("reason", "<b>moving</b>"), ("until", "2999-01-01")];
    house.post(&path, &form).await.expect(303);
    let page = house.get(&path).await.expect(200);
    let lead = &page.texts(".lead")[0];
    assert!(lead.ends_with(", until 2999-01-01 00:00:00 UTC: <b>moving</b>"), "{lead}");
    let resume = format!("{path}/resume");
    let wrong = house.post(&resume, &[("rate", "many"), ("interval", "minute")]).await.expect(400);
    assert_eq!(wrong.texts("#field-rate-error").len(), 1);
    let ahead = [("rate", "5"), ("interval", "minute"), ("discard_before", "2998-01-01")];
    let wrong = house.post(&resume, &ahead).await.expect(400);
    assert_eq!(wrong.texts("#field-discard_before-error").len(), 1);
    let early = [("rate", "5"), ("interval", "minute"), ("discard_before", "2020-01-01")];
    house.post(&resume, &early).await.expect(303);
    let shop = &house.webhooks.admin().bucket(&house.me, bucket).await?.outputs[0];
    assert!(shop.pauses.current(Timestamp::from_secs(1_700_000_000)).is_none());
    let kept = format!("{:?}", shop.pauses);
    assert!(kept.contains("discard_before: Some(Timestamp { millis: 1577836800000 })"), "{kept}");
    let page = house.get(&path).await.expect(200);
    assert_eq!(page.texts("form.edit button"), ["Pause"]);
    Ok(())
}
