//! What webhooks carry is only ever text.

use std::time::{Duration, Instant};

use axum::http::Request;
use proptest::prelude::*;
use webhook_core::Error;

use crate::harness::{House, select};

/// What elements and attributes a page is made of, in their order.
fn shape(html: &str) -> Vec<String> {
    let html = scraper::Html::parse_document(html);
    let all = select("*");
    let elements = html.select(&all).map(|element| {
        // A body that is no text checks the box that says so.
        let names = element.value().attrs().map(|(name, _)| name).filter(|it| *it != "checked");
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        format!("{} {}", element.value().name(), names.join(" "))
    });
    elements.collect()
}

async fn shapes(house: &House, value: &str, body: Vec<u8>) -> Vec<Vec<String>> {
    let query: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let path = format!("/v1/webhooks/{}/{query}?{query}", house.bucket.inputs[0].id);
    let value = axum::http::HeaderValue::from_bytes(value.as_bytes());
    let value = value.unwrap_or(axum::http::HeaderValue::from_static("x"));
    let log = house.receive(Request::post(path).header("x-hostile", value), body).await;
    let id = log.delivery.id;
    let mut shapes = Vec::new();
    for path in [format!("/{id}?view=raw"), format!("/{id}?view=hex"), format!("/{id}/edit")] {
        let answer = house.get(&format!("/dashboard/webhooks{path}")).await.expect(200);
        shapes.push(shape(&answer.text));
    }
    shapes
}

const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</textarea><script>alert(1)</script>",
    "</pre></code></title></style><svg onload=alert(1)>",
    "{{ 7 * 7 }} {% x %} &lt;b&gt; &#x3c;script&#x3e;",
    "<!-- --> ]]> <![CDATA[<b>]]>",
    "javascript:alert(1)",
    "\" hx-get=\"/dashboard/sign-out\" hx-trigger=\"load",
];

#[tokio::test]
async fn hostile_content_makes_no_element_and_no_attribute() -> Result<(), Error> {
    let house = House::build().await?;
    let plain = shapes(&house, "plain", b"plain".to_vec()).await;
    for text in HOSTILE {
        assert_eq!(shapes(&house, text, text.as_bytes().to_vec()).await, plain, "{text}");
    }
    let list = house.get("/dashboard/webhooks?live=off").await.expect(200);
    let html = list.html();
    assert_eq!(html.select(&select("tbody img, tbody svg, tbody script")).count(), 0);
    Ok(())
}

#[tokio::test]
async fn hostile_names_make_none_either() -> Result<(), Error> {
    let house = House::build().await?;
    let bucket = house.bucket.id;
    for text in HOSTILE {
        let form = [("name", *text), ("description", *text), ("stream", "true")];
        let answer = house.post(&format!("/dashboard/buckets/{bucket}/settings"), &form).await;
        assert!(answer.status == 303 || answer.status == 400, "{}", answer.text);
        for path in [String::new(), format!("/{bucket}"), format!("/{bucket}/settings")] {
            let page = house.get(&format!("/dashboard/buckets{path}")).await.expect(200);
            let html = page.html();
            let made = select("img, svg[onload], [onmouseover], [onerror], [hx-get]");
            assert_eq!(html.select(&made).count(), 0, "{text}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn hostile_rules_tried_on_hostile_webhooks_make_none() -> Result<(), Error> {
    let house = House::build().await?;
    let (bucket, input, output) =
        (house.bucket.id, house.bucket.inputs[0].id, house.bucket.outputs[0].id);
    let signature = format!("/dashboard/buckets/{bucket}/inputs/{input}/signature");
    let form = [
        ("signature.enabled", "true"),
        ("signature.secrets.0.secret", "hidden"),
        ("signature.on_failure", "mark"),
    ];
    house.post(&format!("{signature}?provider=github"), &form).await.expect(303);
    for text in HOSTILE {
        let value = axum::http::HeaderValue::from_str(text).expect("a header");
        let path = format!("/v1/webhooks/{input}");
        let request = Request::post(path).header("x-hostile", &value);
        let request = request.header("x-hub-signature-256", &value);
        let log = house.receive(request, text.as_bytes().to_vec()).await.delivery.id;
        let rules = serde_json::json!({"and": [
            {"match": {"type": "value", "value": text,
                "parameter": {"source": "header", "name": "X-Hostile"}}},
            {"match": {"type": "contains", "substring": text, "parameter": {"source": "body"}}},
            {"match": {"type": "value", "value": "x", "parameter": {"source": "query", "name": text}}},
        ]});
        let rules = rules.to_string();
        let path = format!("/dashboard/buckets/{bucket}/outputs/{output}/rules");
        for word in ["try", "count", "save"] {
            let form = [("json", &*rules), ("sample", &log.to_string()), ("do", word)];
            house.post(&path, &form).await.expect(if word == "save" { 303 } else { 200 });
        }
        let pages = [
            format!("{path}?sample={log}"),
            path.trim_end_matches("/rules").to_owned(),
            format!("{signature}?log={log}"),
        ];
        for page in pages {
            let page = house.get(&page).await.expect(200);
            let made = select("img, svg, script:not([src]), [onmouseover], [onerror], [hx-get]");
            assert_eq!(page.html().select(&made).count(), 0, "{text}");
            assert_eq!(page.html().select(&select("main")).count(), 1);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_content_makes_an_element_or_an_attribute(
        value in "\\PC{0,40}",
        body in prop::collection::vec(any::<u8>(), 1..200),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let house = House::build().await.expect("a house");
            let plain = shapes(&house, "plain", b"plain".to_vec()).await;
            let found = shapes(&house, &value, body.clone()).await;
            // A command line is offered for text only, in which no argument has a NUL.
            if std::str::from_utf8(&body).is_ok_and(|text| !text.contains('\0')) {
                prop_assert_eq!(found, plain);
            } else {
                for shape in found.iter().flatten() {
                    prop_assert!(plain.iter().flatten().any(|known| known == shape), "{}", shape);
                }
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn large_and_broken_content_is_shown_in_part_and_fast() -> Result<(), Error> {
    let house = House::build().await?;
    let fields: Vec<String> = (0..100_000).map(|number| format!("\"f{number}\":1")).collect();
    let many = format!("{{{}}}", fields.join(",")).into_bytes();
    let long_header = "x".repeat(60 << 10);
    let input = house.bucket.inputs[0].id;
    let mut spec = house.bucket.spec.clone();
    spec.large_webhooks = true;
    house.webhooks.admin().update_bucket(&house.me, house.bucket.id, spec).await?;
    for body in [many, vec![0xff; 25 << 20], b"\xed\xa0\x80".to_vec(), Vec::new()] {
        let length = body.len();
        let path = format!("/v1/webhooks/{input}");
        let request = Request::post(path).header("x-long", &long_header);
        let id = house.receive(request, body).await.delivery.id;
        let others = [
            format!("compare?a={id}&b={id}"),
            format!("functions/generate?log={id}"),
            format!("webhooks/{id}/edit"),
        ];
        let views = ["", "?view=pretty", "?view=raw", "?view=hex"];
        let pages = views.map(|view| format!("webhooks/{id}{view}"));
        for page in pages.iter().chain(&others) {
            let begun = Instant::now();
            let answer = house.get(&format!("/dashboard/{page}")).await;
            // What is too long to be edited in a page says so.
            let status = if length > 1 << 20 && page.ends_with("edit") { 400 } else { 200 };
            let text = answer.expect(status).text;
            assert!(text.len() < 500_000, "{page}: {}", text.len());
            assert!(begun.elapsed() < Duration::from_secs(20), "{page}: {:?}", begun.elapsed());
        }
        let file = house.get(&format!("/dashboard/webhooks/{id}/body")).await.expect(200);
        assert_eq!(file.header("content-type"), "application/octet-stream");
        assert!(file.header("content-disposition").starts_with("attachment"));
        assert_eq!(file.header("content-length"), length.to_string());
    }
    Ok(())
}
