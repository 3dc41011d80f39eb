//! What every page has, and has not.

use std::collections::HashSet;

use webhook_core::Error;

use crate::harness::{Answer, House, select};

/// One heading of the first level, a name for every field, no identifier twice, and nothing
/// that the policy would have to allow.
fn check(path: &str, answer: &Answer) {
    let html = answer.html();
    assert_eq!(html.select(&select("h1")).count(), 1, "{path} has one h1");
    assert_eq!(html.select(&select("main")).count(), 1, "{path} has one main");
    assert!(!answer.texts("title").concat().is_empty(), "{path} has a title");
    let mut seen = HashSet::new();
    for element in html.select(&select("*")) {
        let value = element.value();
        for (name, text) in value.attrs() {
            assert!(name != "style" && !name.starts_with("on"), "{path}: {name}={text}");
            assert!(!text.trim().to_lowercase().starts_with("javascript:"), "{path}: {text}");
        }
        if let Some(id) = value.id() {
            assert!(seen.insert(id.to_owned()), "{path}: {id} is there twice");
        }
        if value.name() == "script" {
            assert!(value.attr("src").is_some_and(|it| it.starts_with("/dashboard/assets/")));
            assert!(element.text().collect::<String>().trim().is_empty(), "{path}: a script");
        }
        assert_ne!(value.name(), "style", "{path}");
    }
    for field in html.select(&select("input:not([type=hidden]), select, textarea")) {
        let id = field.value().id();
        let labelled = id.is_some_and(|id| {
            html.select(&select(&format!("label[for=\"{id}\"]"))).next().is_some()
        });
        let within = field
            .ancestors()
            .any(|node| node.value().as_element().is_some_and(|element| element.name() == "label"));
        assert!(labelled || within, "{path}: {} has no label", field.html());
    }
    for described in html.select(&select("[aria-describedby]")) {
        let ids = described.value().attr("aria-describedby").unwrap_or_default();
        for id in ids.split_whitespace() {
            assert!(seen.contains(id), "{path}: nothing has the identifier {id}");
        }
    }
    assert!(answer.text.len() < 100_000, "{path} has {} bytes", answer.text.len());
}

#[tokio::test]
async fn every_page_is_whole() -> Result<(), Error> {
    let house = House::build().await?;
    for path in house.all_pages().await {
        let answer = house.get(&path).await.expect(200);
        check(&path, &answer);
        assert_eq!(answer.texts("nav[aria-label=Main] [aria-current=page]").len(), 1, "{path}");
    }
    let answer = house.get_as("", "/dashboard/sign-in").await.expect(200);
    check("/dashboard/sign-in", &answer);
    let answer = house.get("/dashboard/nothing").await.expect(404);
    check("a page that is not there", &answer);
    Ok(())
}

#[tokio::test]
async fn all_links_lead_somewhere() -> Result<(), Error> {
    let house = House::build().await?;
    let mut seen = HashSet::new();
    for path in house.all_pages().await {
        let answer = house.get(&path).await;
        let html = answer.html();
        for link in html.select(&select("a[href], link[href], script[src]")) {
            let value = link.value();
            let target = value.attr("href").or(value.attr("src")).unwrap_or_default();
            if !target.starts_with('#') && seen.insert(target.to_owned()) {
                assert!(target.starts_with("/dashboard"), "{path}: {target}");
                let answer = house.get(target).await;
                assert_eq!(answer.status, 200, "{path} has a link to {target}");
            }
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
    Ok(())
}
