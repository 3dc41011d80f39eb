//! `/openapi.json`

use super::harness::Server;

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn it_is_served_printed_and_committed_the_same() {
    let server = Server::start().await;
    let served = server.anonymous("GET", "/openapi.json").send().await.expect(200);
    served.json();
    let printed = server.command(&["openapi"]).await;
    assert!(printed.status.success());
    let printed = String::from_utf8(printed.stdout).expect("the document is text");
    assert_eq!(printed.trim_end(), served.text().trim_end());

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &printed).expect("docs/openapi.json is writable");
    }
    let committed = std::fs::read_to_string(path).expect("docs/openapi.json is there");
    assert_eq!(committed, printed, "run the test again with UPDATE_DOCS=1");
}
