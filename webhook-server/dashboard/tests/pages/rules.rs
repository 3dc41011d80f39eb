//! The rules of an output as a tree.

use axum::http::Request;
use serde_json::{Value, json};
use webhook_core::Error;

use crate::harness::{Answer, House, select};

fn path(house: &House) -> String {
    let output = house.bucket.outputs[0].id;
    format!("/dashboard/buckets/{}/outputs/{output}/rules", house.bucket.id)
}

/// The rules as they are stored.
async fn stored(house: &House) -> Result<Value, Error> {
    let bucket = house.webhooks.admin().bucket(&house.me, house.bucket.id).await?;
    Ok(serde_json::to_value(&bucket.outputs[0].spec.rules).expect("JSON"))
}

/// The value of an option, which is its text where it has none.
fn option_value(option: scraper::ElementRef<'_>) -> String {
    let value = option.value().attr("value").map(str::to_owned);
    value.unwrap_or_else(|| option.text().collect::<String>().trim().to_owned())
}

/// What a browser would send of the tree, without its buttons.
fn typed(page: &Answer) -> Vec<(String, String)> {
    let html = page.html();
    let (all, one) = (select("form.builder input, form.builder select"), select("option"));
    let fields = html.select(&all);
    let value = |field: scraper::ElementRef<'_>| {
        let name = field.value().attr("name")?.to_owned();
        let chosen = field.select(&select("option[selected]")).next();
        let first = field.select(&one).next();
        let value = match chosen.or(first) {
            Some(option) => return Some((name, option_value(option))),
            None if field.value().attr("type") == Some("checkbox") => {
                field.value().attr("checked").and(field.value().attr("value"))
            }
            None => field.value().attr("value"),
        };
        Some((name, value?.to_owned()))
    };
    fields.filter_map(value).collect()
}

/// Presses a button after changing some fields, as a browser without script does.
async fn press(house: &House, page: &Answer, changes: &[(&str, &str)], button: &str) -> Answer {
    let mut form = typed(page);
    for (name, value) in changes {
        form.retain(|(known, _)| known != name);
        form.push(((*name).to_owned(), (*value).to_owned()));
    }
    let there = format!("form.builder button[value=\"{button}\"]");
    assert_eq!(page.html().select(&select(&there)).count(), 1, "{button} is on the page");
    form.push(("do".to_owned(), button.to_owned()));
    let form: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    house.post(&path(house), &form).await
}

#[tokio::test]
async fn rules_are_built_button_by_button_and_saved() -> Result<(), Error> {
    let house = House::build().await?;
    house.webhook().await;
    let page = house.get(&path(&house)).await.expect(200);
    assert_eq!(page.texts(".sentence"), ["Every webhook passes."]);
    let page = press(&house, &page, &[], "match:").await.expect(200);
    assert_eq!(page.texts("[role=alert]").len(), 0, "what is not whole yet is no failure");
    assert_eq!(page.texts("#rule-0-error"), ["✕ name: must not be empty"]);
    assert_eq!(page.html().select(&select("#rule-0-source[autofocus]")).count(), 1);
    let first = [("rule.0.name", "order"), ("rule.0.operand", "17")];
    let page = press(&house, &page, &first, "group:").await.expect(200);
    let second = [
        ("rule.1", "not"),
        ("rule.1.0.source", "header"),
        ("rule.1.0.name", "Content-Type"),
        ("rule.1.0.type", "contains"),
        ("rule.1.0.operand", "xml"),
    ];
    let page = press(&house, &page, &second, "try").await.expect(200);
    assert_eq!(
        page.texts(".sentence"),
        [
            "A webhook passes when payload order is “17” and not (header Content-Type contains “xml”)."
        ]
    );
    assert_eq!(page.texts("#rule-0 > .verdict"), ["✓ true it is “17”"]);
    assert_eq!(page.texts("#rule-1 > .verdict"), ["✓ true"]);
    assert_eq!(page.texts("#rule-1-0 > .verdict"), ["✕ false it is “application/json”"]);
    assert!(page.texts("[role=status]")[0].starts_with("✓ passes payload order is \"17\""));
    assert_eq!(stored(&house).await?, json!({}), "nothing is stored yet");
    let page = press(&house, &page, &[], "up:1").await.expect(200);
    let page = press(&house, &page, &[], "nest:1").await.expect(200);
    let page = press(&house, &page, &[], "out:1.0").await.expect(200);
    let page = press(&house, &page, &[], "remove:1").await.expect(200);
    press(&house, &page, &[], "save").await.expect(303);
    let content_type = json!({"type": "contains", "substring": "xml",
        "parameter": {"source": "header", "name": "Content-Type"}});
    let order = json!({"type": "value", "value": "17",
        "parameter": {"source": "payload", "name": "order"}});
    let built = json!({"and": [{"not": [{"match": content_type}]}, {"match": order}]});
    assert_eq!(stored(&house).await?, built);
    // What is shown of them is what they are.
    let page = house.get(&path(&house)).await.expect(200);
    press(&house, &page, &[], "save").await.expect(303);
    assert_eq!(stored(&house).await?, built);
    let output = house.get(path(&house).trim_end_matches("/rules")).await.expect(200);
    assert!(output.texts(".parts-of").concat().contains("A webhook passes when"));
    Ok(())
}

#[tokio::test]
async fn what_was_found_out_about_a_webhook_is_a_parameter() -> Result<(), Error> {
    let house = House::build().await?;
    house.webhook().await;
    let page = house.get(&path(&house)).await.expect(200);
    let page = press(&house, &page, &[], "match:").await.expect(200);
    let verified =
        [("rule.0.source", "webhook"), ("rule.0.name", "verified"), ("rule.0.operand", "true")];
    let page = press(&house, &page, &verified, "try").await.expect(200);
    let said = "A webhook passes when webhook verified is “true”.";
    assert_eq!(page.texts(".sentence"), [said]);
    // The input does not verify.
    let status = page.texts("[role=status]");
    assert!(status[0].contains("webhook verified is missing"), "{status:?}");
    press(&house, &page, &[], "save").await.expect(303);
    let parameter = json!({"source": "webhook", "name": "verified"});
    let rule = json!({"match": {"type": "value", "value": "true", "parameter": parameter}});
    assert_eq!(stored(&house).await?, rule);
    Ok(())
}

#[tokio::test]
async fn webhooks_are_chosen_and_counted() -> Result<(), Error> {
    let house = House::build().await?;
    let send = |body: &'static str| {
        let path = format!("/v1/webhooks/{}", house.bucket.inputs[0].id);
        let request = Request::post(path).header("content-type", "application/json");
        house.receive(request, body.as_bytes().to_vec())
    };
    let old = send(r#"{"kind": "a"}"#).await.delivery.id.to_string();
    for _ in 0..60 {
        send(r#"{"kind": "b"}"#).await;
    }
    let page = house.get(&path(&house)).await.expect(200);
    let page = press(&house, &page, &[], "match:").await.expect(200);
    let rule = [("rule.0.name", "kind"), ("rule.0.operand", "a")];
    let page = press(&house, &page, &rule, "count").await.expect(200);
    assert!(page.texts(".notice").concat().starts_with("1 of the last 61 webhooks would pass."));
    assert!(page.texts("[role=status]").concat().contains("does not pass"));
    let page = house.get(&format!("{}?sample={old}", path(&house))).await.expect(200);
    assert_eq!(page.html().select(&select("#sample option[selected]")).count(), 1, "it is older");
    let page = press(&house, &page, &[], "match:").await.expect(200);
    let page = press(&house, &page, &rule, "save").await.expect(303);
    assert!(page.header("location").ends_with("/rules?done=saved"));
    let webhook = house.get(&format!("/dashboard/webhooks/{old}")).await.expect(200);
    let link = format!("{}?sample={old}", path(&house));
    assert!(webhook.text.contains(&link), "{}", webhook.text);
    let page = house.get(&link).await.expect(200);
    assert!(page.texts("[role=status]")[0].contains("✓ passes"));
    let nobody = uuid_of_nobody();
    let page = house.get(&format!("{}?sample={nobody}", path(&house))).await.expect(200);
    assert!(page.text.contains("is not there"), "{}", page.text);
    Ok(())
}

fn uuid_of_nobody() -> &'static str {
    "00000000-0000-4000-8000-000000000000"
}

#[tokio::test]
async fn json_becomes_a_tree_and_what_is_wrong_stays_there() -> Result<(), Error> {
    let house = House::build().await?;
    let network = r#"{"not": {"match": {"type": "ip-whitelist", "ip-range": "10.0.0.0/8"}}}"#;
    let page = house.post(&path(&house), &[("json", network), ("do", "try")]).await.expect(200);
    assert_eq!(
        page.texts(".sentence").concat(),
        "A webhook passes when not (the sender's address is in 10.0.0.0/8)."
    );
    assert_eq!(stored(&house).await?, json!({}));
    house.post(&path(&house), &[("json", network), ("do", "save")]).await.expect(303);
    let saved = json!({"not": [{"match": {"type": "ip-whitelist", "ip-range": "10.0.0.0/8"}}]});
    assert_eq!(stored(&house).await?, saved);
    let asked = json!({"match": {"type": "value", "value": "true",
        "parameter": {"source": "webhook", "name": "verified"}}});
    house.webhook().await;
    let form = [("json", &*asked.to_string()), ("do", "try")];
    let page = house.post(&path(&house), &form).await.expect(200);
    assert_eq!(page.texts("#rule-0 > .verdict"), ["✕ false it is missing"], "nobody verifies it");
    for (wrong, said) in [
        ("{", "rules: are no JSON"),
        (r#"{"and": [{"match": {"type": "exact"}}]}"#, "unknown type"),
        ("[]", "rules"),
    ] {
        let page = house.post(&path(&house), &[("json", wrong), ("do", "save")]).await.expect(400);
        assert!(page.texts("[role=alert]").concat().contains(said), "{}", page.text);
        assert!(page.texts("#json").concat().contains(wrong), "{}", page.text);
    }
    // A tree with something wrong says so at its rule.
    let page = house.get(&path(&house)).await.expect(200);
    let wrong = [("rule.0.type", "regex"), ("rule.0.source", "body"), ("rule.0.operand", "(")];
    let page = press(&house, &page, &wrong, "save").await.expect(400);
    assert_eq!(page.texts("#rule-0-error").len(), 1, "{}", page.text);
    assert_eq!(page.texts("[role=alert]").len(), 1);
    for forged in [
        vec![("rule", "match"), ("do", "save")],
        vec![("rule", "and"), ("do", "remove:7.7"), ("rule.0", "x")],
        vec![("rule", "and"), ("do", "up:")],
        vec![("rule", "and"), ("do", "nothing:x")],
    ] {
        let answer = house.post(&path(&house), &forged).await;
        assert!([200, 400].contains(&answer.status.as_u16()), "{forged:?}: {}", answer.text);
    }
    assert_eq!(stored(&house).await?, saved);
    let one = json!({"match": {"type": "regex", "regex": "^[a-z]+ and some more of it$",
        "parameter": {"source": "payload", "name": "customer.address.street"}}});
    let most = json!({"or": vec![&one; 39]}).to_string();
    let page = house.post(&path(&house), &[("json", &most), ("do", "try")]).await.expect(200);
    assert!(page.texts("#rule-38 > .verdict")[0].starts_with("✕ false"), "all are there");
    assert!(page.text.len() < 110_000, "{} bytes", page.text.len());
    let long = json!({"or": vec![&saved; 80]}).to_string();
    let page = house.post(&path(&house), &[("json", &long), ("do", "try")]).await.expect(200);
    assert!(page.text.contains("too many rules for a tree"));
    Ok(())
}
