//! The scripts of docs/cookbook, run as they stand there, in the languages in which they are written.

mod bodies;
mod filtering;
mod handshakes;
mod messages;
mod other_services;
mod page;
mod requests;
mod runtimes;
mod scenario;
mod signatures;

use std::collections::BTreeSet;

use self::{page::Page, runtimes::Runtimes, scenario::Scenario};

/// Runs what is known of a page, and whether that is all of the page.
async fn page_keeps_its_word(name: &str, scenarios: Vec<Scenario>) {
    let page = Page::read(name);
    let tested: BTreeSet<_> = scenarios.iter().map(|scenario| scenario.title.to_owned()).collect();
    assert_eq!(page.titles(), tested, "scenarios on the page, and those with a test");
    let runtimes = Runtimes::start();
    let mut failures = Vec::new();
    for scenario in scenarios {
        assert!(!scenario.cases.is_empty(), "{} has no cases", scenario.title);
        let scripts = page.scripts(scenario.title);
        for case in scenario.cases {
            failures.extend(runtimes.differences(&scripts, scenario.title, case).await);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[tokio::test]
async fn filtering() {
    page_keeps_its_word("filtering", filtering::scenarios()).await;
}

#[tokio::test]
async fn signatures() {
    page_keeps_its_word("signatures", signatures::scenarios()).await;
}

#[tokio::test]
async fn handshakes() {
    page_keeps_its_word("handshakes", handshakes::scenarios()).await;
}

#[tokio::test]
async fn messages() {
    page_keeps_its_word("messages", messages::scenarios()).await;
}

#[tokio::test]
async fn bodies() {
    page_keeps_its_word("bodies", bodies::scenarios()).await;
}

#[tokio::test]
async fn requests() {
    page_keeps_its_word("requests", requests::scenarios()).await;
}

#[tokio::test]
async fn other_services() {
    page_keeps_its_word("other-services", other_services::scenarios()).await;
}

#[test]
fn the_index_names_every_page() {
    let index = page::text("../cookbook.md");
    let mut pages = page::names();
    pages.retain(|name| !index.contains(&format!("(cookbook/{name})")));
    assert!(pages.is_empty(), "not in the index: {pages:?}");
    assert_eq!(page::names().len(), 7, "a page without a test");
}
