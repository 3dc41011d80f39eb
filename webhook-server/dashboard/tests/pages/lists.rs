//! What lists lead to: chosen webhooks, kept filters, samples, and what needs a look.

use axum::http;
use serde_json::json;
use webhook_core::{
    Error,
    model::{BucketSpec, InputSpec, OutputSpec},
};

use crate::{
    functions,
    harness::{House, select},
};

#[tokio::test]
async fn chosen_webhooks_are_sent_again() -> Result<(), Error> {
    let house = House::build().await?;
    let (first, second) = (house.webhook().await.delivery.id, house.webhook().await.delivery.id);
    house.webhook().await;
    let list = house.get("/dashboard/webhooks").await.expect(200);
    let boxes = select("form[action='/dashboard/replays/new'] tbody input[name=log]");
    assert_eq!(list.html().select(&boxes).count(), 3);
    let path = format!("/dashboard/replays/new?log={first}&log={second}");
    let form = house.get(&path).await.expect(200);
    assert_eq!(form.texts("#field-filter-ids"), [format!("{first} {second}")]);
    let ids = format!("{first}\r\n{second}");
    let fields = [("filter.ids", &*ids), ("rate", "7"), ("interval", "minute")];
    let plan = house.post("/dashboard/replays/new", &fields).await.expect(200);
    assert!(plan.texts("[role=status] p")[0].starts_with("2 logs of 2 webhooks"), "{}", plan.text);
    let fields = [("filter.ids", "nobody"), ("rate", "7"), ("interval", "minute")];
    let wrong = house.post("/dashboard/replays/new", &fields).await.expect(400);
    assert_eq!(wrong.texts("#field-filter-ids-error").len(), 1, "{}", wrong.text);
    Ok(())
}

#[tokio::test]
async fn filters_are_kept_under_names_and_forgotten() -> Result<(), Error> {
    let house = House::build().await?;
    let path = "/dashboard/webhooks";
    let list = house.get(path).await.expect(200);
    let ready = list.texts("nav[aria-label=Filters] a");
    assert_eq!(ready, ["failed", "waiting", "stopped by rules", "not verified"]);
    assert!(list.texts("nav[aria-label=Filters] summary").is_empty(), "there is nothing to keep");
    let list = house.get("/dashboard/webhooks?status=failed&cursor=").await.expect(200);
    assert_eq!(list.texts("nav[aria-label=Filters] summary"), ["Keep this filter"]);
    let keep = "/dashboard/webhooks/filters";
    let form = [("name", "<b>lost</b>"), ("filter", "status=failed&search=a%26b")];
    let answer = house.post(keep, &form).await.expect(303);
    assert!(answer.header("location").starts_with("/dashboard/webhooks?status=failed&"));
    let cookie = format!("{}; {}", house.cookie, answer.cookie());
    let list = house.get_as(&cookie, path).await.expect(200);
    assert_eq!(list.texts("nav[aria-label=Filters] a")[4], "<b>lost</b>");
    let link = select("nav[aria-label=Filters] a[href$='?status=failed&search=a%26b']");
    assert_eq!(list.html().select(&link).count(), 1, "{}", list.text);
    let long = "x".repeat(300);
    for wrong in [
        [("name", ""), ("filter", "a=b")],
        [("name", &*long), ("filter", "a=b")],
        [("name", "a"), ("filter", &*long)],
    ] {
        house.post(keep, &wrong).await.expect(400);
    }
    let forget = [("name", "<b>lost</b>"), ("filter", "")];
    let answer = house.post_as(&cookie, &format!("{keep}/forget"), &forget).await.expect(303);
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
    Ok(())
}

#[tokio::test]
async fn a_webhook_is_a_sample_for_functions_and_rules() -> Result<(), Error> {
    let house = House::build().await?;
    let (function, _) = functions::made(&house).await;
    let log = house.webhook().await.delivery.id;
    let page = house.get(&format!("/dashboard/webhooks/{log}")).await.expect(200);
    assert_eq!(page.texts("#on option"), ["rules of shop", "function shout"]);
    let (bucket, output) = (house.bucket.id, house.bucket.outputs[0].id);
    for (on, leads) in [
        (format!("function:{function}"), format!("/dashboard/functions/{function}?log={log}")),
        (
            format!("rules:{bucket}:{output}"),
            format!("/dashboard/buckets/{bucket}/outputs/{output}/rules?sample={log}"),
        ),
    ] {
        let path = format!("/dashboard/webhooks/{log}/try?on={on}");
        let answer = house.get(&path).await.expect(303);
        assert_eq!(answer.header("location"), leads);
        house.get(&leads).await.expect(200);
    }
    house.get(&format!("/dashboard/webhooks/{log}/try?on=//evil")).await.expect(404);
    Ok(())
}

#[tokio::test]
async fn a_test_webhook_lights_the_way_that_it_took() -> Result<(), Error> {
    let house = House::build().await?;
    let (bucket, input) = (house.bucket.id, house.bucket.inputs[0].id.to_string());
    let path = format!("/dashboard/buckets/{bucket}");
    let page = house.get(&path).await.expect(200);
    assert!(page.texts(".lit").is_empty());
    let copied = select("button[data-copy^='curl -i']");
    assert_eq!(page.html().select(&copied).count(), 1);
    let form = [("input", &*input), ("body", "{\"test\": 1}")];
    let answer = house.post(&format!("{path}/test"), &form).await.expect(303);
    let log = house.latest().await;
    let lit = answer.header("location").to_owned();
    assert!(lit.contains(&format!("webhook={}", log.webhook.id)), "{lit}");
    let page = house.get(&lit).await.expect(200);
    assert_eq!(page.texts(".lane-in .lit h3").len(), 1);
    assert_eq!(page.texts(".lane-out .lit .arrival .mark"), ["◷ waiting"]);
    let link = select(&format!(".lit a[href='/dashboard/webhooks/{}']", log.delivery.id));
    assert_eq!(page.html().select(&link).count(), 1);
    // What an address makes up lights nothing.
    for query in ["webhook=x&stored=y", "webhook=00000000-0000-7000-8000-000000000001&stored=1"] {
        let page = house.get(&format!("{path}?input={input}&{query}")).await.expect(200);
        assert!(page.texts(".lit").is_empty(), "{query}");
    }
    Ok(())
}

#[tokio::test]
async fn the_overview_names_what_needs_a_look() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let page = house.get("/dashboard").await.expect(200);
    assert_eq!(page.texts(".tiles a")[3], "◷ waiting 0 now");
    assert_eq!(page.texts("#troubled ~ .empty").len(), 1);
    house.webhook().await;
    let (bucket, output) = (house.bucket.id, house.bucket.outputs[0].id);
    admin.pause_output(&house.me, bucket, output, Default::default()).await?;
    let page = house.get("/dashboard").await.expect(200);
    assert!(
        page.texts(".tiles a")[3].starts_with("◷ waiting 1 the oldest since "),
        "{}",
        page.text
    );
    let troubled = page.texts("#troubled ~ ul li");
    assert!(troubled[0].starts_with("‖ paused shop in orders"), "{troubled:?}");
    Ok(())
}

#[tokio::test]
async fn buckets_say_when_their_last_webhook_came_and_come_in_pages() -> Result<(), Error> {
    let house = House::build().await?;
    let path = "/dashboard/buckets";
    assert!(house.get(path).await.texts("tbody td")[3].contains("none yet"));
    let log = house.webhook().await;
    let year = &house.get(path).await.expect(200).texts("tbody td")[3];
    assert!(year.ends_with("UTC"), "{year} of {log:?}");
    for number in 0..50 {
        let spec = BucketSpec::new(format!("more {number}"));
        house.webhooks.admin().create_bucket(&house.me, spec).await?;
    }
    let first = house.get(path).await.expect(200);
    assert_eq!(first.texts("tbody tr").len(), 50);
    let html = first.html();
    let next = html.select(&select("a[rel=next]")).next().and_then(|it| it.value().attr("href"));
    let second = house.get(next.expect("a further page")).await.expect(200);
    assert_eq!((second.texts("tbody tr").len(), second.texts("a[rel=next]").len()), (1, 0));
    let far = format!("{path}?from={}", usize::MAX);
    house.get(&far).await.expect(200);
    Ok(())
}

#[tokio::test]
async fn a_bucket_says_how_much_comes_in_at_each_input_and_passes() -> Result<(), Error> {
    let house = House::build().await?;
    let (admin, bucket) = (house.webhooks.admin(), house.bucket.id);
    let github =
        json!({"provider": "github", "secrets": [{"secret": "It's a Secret to Everybody"}]});
    let spec = json!({"name": "guarded", "signature": github});
    let spec: InputSpec = serde_json::from_value(spec).expect("an input");
    let guarded = admin.create_input(&house.me, bucket, spec).await?.id;
    // A webhook with two deliveries came in once.
    admin
        .create_output(&house.me, bucket, OutputSpec::new("copy", "https://example.com/b"))
        .await?;
    let path = format!("/dashboard/buckets/{bucket}");
    let page = house.get(&path).await.expect(200);
    assert_eq!(page.texts(".lane-in .rates"), ["no webhook in 24 hours"; 2]);
    assert_eq!(page.texts(".lane-in h3 .mark"), ["○ quiet"; 2]);
    for _ in 0..3 {
        house.webhook().await;
    }
    let unsigned = http::Request::post(format!("/v1/webhooks/{guarded}"));
    let unsigned = unsigned.body(http_body_util::Full::from("{}")).expect("a request");
    assert_eq!(house.webhooks.ingest().receive(unsigned).await.status(), 401);
    let page = house.get(&path).await.expect(200);
    assert_eq!(
        page.texts(".lane-in .rates"),
        [
            "3/day · 3 of the latest 4 · 100 % passed 100 %",
            "1/day · 1 of the latest 4 · 1 refused · 0 % passed 0 %"
        ]
    );
    assert_eq!(page.texts(".lane-in h3 .mark"), ["✓ receiving", "! refusing"]);
    assert_eq!(page.texts(".lane-out .rates b")[0], "3/h");
    assert!(page.texts(".lane-out .steps")[0].contains("100 % passed"), "{}", page.text);
    Ok(())
}

#[tokio::test]
async fn more_filters_are_in_the_address_and_go_along_to_a_replay() -> Result<(), Error> {
    let house = House::build().await?;
    let (admin, bucket) = (house.webhooks.admin(), house.bucket.id);
    let spec = OutputSpec::new("copy", "https://example.com/b");
    let copy = admin.create_output(&house.me, bucket, spec).await?.id;
    house.webhook().await;
    let list = house.get("/dashboard/webhooks").await.expect(200);
    assert_eq!(list.texts("#output option"), ["all", "orders › shop", "orders › copy"]);
    assert_eq!(list.html().select(&select("details.more[open]")).count(), 0);
    for (query, found) in [
        (format!("output={copy}"), 1),
        ("method=post".to_owned(), 2),
        ("method=PUT".to_owned(), 0),
        ("status_code=5xx".to_owned(), 0),
        ("header=content-type%3Ajson".to_owned(), 2),
        ("payload=order%3A17".to_owned(), 2),
        ("payload=order%3A18".to_owned(), 0),
        (format!("output={copy}&payload=order%3A17&min_duration=1s"), 0),
    ] {
        let list = house.get(&format!("/dashboard/webhooks?{query}")).await.expect(200);
        assert_eq!(list.texts("#rows tbody tr").len(), found, "{query}: {}", list.text);
        assert_eq!(list.html().select(&select("details.more[open]")).count(), 1, "it is seen");
        assert!(!list.text.contains("hx-sse:connect"), "a search is not live");
        // Exactly these are sent again.
        let html = list.html();
        let again = select("a[href^='/dashboard/replays/new?']");
        let again = html.select(&again).next().and_then(|it| it.value().attr("href"));
        let form = house.get(again.expect("a link")).await.expect(200);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let id = select(&format!("#field-filter-{name}"));
            let html = form.html();
            let field = html.select(&id).next().unwrap_or_else(|| panic!("no field for {name}"));
            assert_eq!(field.value().attr("value"), Some(&*value), "{name}");
        }
    }
    for wrong in ["output=shop", "status_code=all", "replay=last", "header=%3A"] {
        let list = house.get(&format!("/dashboard/webhooks?{wrong}")).await.expect(400);
        let name = wrong.split('=').next().expect("a name");
        assert!(list.texts("[role=alert]")[0].contains(name), "{wrong}");
    }
    let none = "replay=00000000-0000-7000-8000-000000000001";
    let list = house.get(&format!("/dashboard/webhooks?{none}")).await.expect(200);
    assert!(list.texts("#rows tbody tr").is_empty());
    assert_eq!(list.html().select(&select("a[href^='/dashboard/replays/new?']")).count(), 0);
    Ok(())
}
