use serde_json::{Value, json};

use crate::scenario::{Given, Scenario, payload, payload_with, post, scenario};

fn card(title: &str, text: &str) -> Value {
    json!({"type": "message", "attachments": [{
        "contentType": "application/vnd.microsoft.card.adaptive",
        "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "body": [
                {"type": "TextBlock", "text": title, "weight": "Bolder", "size": "Medium"},
                {"type": "TextBlock", "text": text, "wrap": true},
            ],
        },
    }]})
}

fn docker(tag: &str) -> Given {
    post(&payload_with("docker_hub.json", "/push_data/tag", tag))
}

fn mailgun(event: &str) -> Given {
    post(&payload_with("mailgun_failed.json", "/event-data/event", event))
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut all = docker_hub();
    all.extend(mailgun_events());
    all.extend(github());
    all
}

fn docker_hub() -> Vec<Scenario> {
    let url = "https://registry.hub.docker.com/u/svendowideit/testhook/";
    let embed = |tag: &str| {
        json!({"username": "Docker Hub", "embeds": [{
            "title": format!("svendowideit/testhook:{tag}"),
            "url": url,
            "description": "Pushed by trustedbuilder",
            "timestamp": "2014-12-03T00:22:41Z",
            "color": 2_397_933,
        }]})
    };
    let slack = json!({"text": format!("<{url}|svendowideit/testhook>: *latest* was pushed by trustedbuilder")});
    let teams =
        card("New image of svendowideit/testhook", &format!("[latest]({url}) by trustedbuilder"));
    vec![
        scenario("Docker Hub to Slack")
            .case("latest", post(&payload("docker_hub.json")), |left| left.json(slack)),
        scenario("Docker Hub to Discord")
            .case("latest", docker("latest"), |left| left.json(embed("latest")))
            .case("a version", docker("v1.2.3"), |left| left.json(embed("v1.2.3")))
            .case("a branch", docker("main"), |left| left.stopped()),
        scenario("Docker Hub to Teams").case("latest", docker("latest"), |left| left.json(teams)),
    ]
}

fn mailgun_events() -> Vec<Scenario> {
    let for_now = payload_with("mailgun_failed.json", "/event-data/severity", "temporary");
    vec![
        scenario("Mailgun to Slack")
            .case("failed", mailgun("failed"), |left| {
                left.json(json!({"text": "Mail to alice@example.com failed: Q&amp;A for you\n\
                    > 605 5.1.1 &lt;alice@example.com&gt; is unknown"}))
            })
            .case("failed for now", post(&for_now), |left| left.stopped())
            .case("delivered", mailgun("delivered"), |left| left.stopped()),
        scenario("Mailgun to Discord")
            .case("complained", mailgun("complained"), |left| {
                left.json(json!({
                    "content": "a***@example.com marked a mail as spam on 16 March at 20:46",
                    "allowed_mentions": {"parse": []},
                }))
            })
            .case("failed", mailgun("failed"), |left| left.stopped()),
        scenario("Mailgun to Teams")
            .case("failed", mailgun("failed"), |left| {
                left.json(card("Mail failed", "alice@example.com (bounce)"))
            })
            .case("unsubscribed", mailgun("unsubscribed"), |left| {
                left.json(card("Unsubscribed", "alice@example.com (bounce)"))
            })
            .case("opened", mailgun("opened"), |left| left.stopped()),
    ]
}

fn github() -> Vec<Scenario> {
    let push = |body: &str| post(body).header("x-github-event", "push");
    let commits: Vec<_> = (1..=7)
        .map(|n| json!({"id": format!("{n:040}"), "url": format!("https://c/{n}"), "message": format!("change {n}")}))
        .collect();
    let many = payload_with("github_push.json", "/commits", commits);
    let compare = "https://github.com/octo/repo/compare/6113728f27ae...0d1a26e67d8f";
    let first = format!("<{compare}|octo/repo/fix/a&amp;b>");
    let mut lines = vec![format!("*octocat* pushed 7 commits to {first}")];
    lines.extend((1..=5).map(|n| format!("<https://c/{n}|`0000000`> change {n}")));
    lines.push("… and 2 more".to_owned());
    let commit = "https://github.com/octo/repo/commit";
    let two = format!(
        "*octocat* pushed 2 commits to {first}\n\
         <{commit}/0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c|`0d1a26e`> Compare with &lt;, not &lt;=\n\
         <{commit}/9b2e3c1f7d8f5eaf1f6ba5c57fc3c7d91ac0fd1c|`9b2e3c1`> Ümlaute"
    );
    let pull = |pointer, value| payload_with("github_pull_request.json", pointer, value);
    let release = |pointer, value| payload_with("github_release.json", pointer, value);
    let url = "https://github.com/octo/repo/releases/tag/v1.2.0";
    vec![
        scenario("GitHub pushes to Slack")
            .case("two commits", push(&payload("github_push.json")), |left| {
                left.json(json!({ "text": two }))
            })
            .case("many commits", push(&many), |left| {
                left.json(json!({ "text": lines.join("\n") }))
            })
            .case(
                "a branch is deleted",
                push(&payload_with("github_push.json", "/deleted", true)),
                |left| left.stopped(),
            )
            .case("a ping", post(r#"{"zen":"Design for failure."}"#), |left| left.stopped()),
        scenario("GitHub pull requests to Discord")
            .case("merged", post(&payload("github_pull_request.json")), |left| {
                left.json(json!({"embeds": [{
                    "title": "#17 Compare with <, not <=",
                    "url": "https://github.com/octo/repo/pull/17",
                    "description": "merged into `main` by hubot: +12 −3",
                    "timestamp": "2024-03-01T11:59:59Z",
                    "color": 9_000_933,
                }]}))
            })
            .case("closed only", post(&pull("/pull_request/merged", json!(false))), |left| {
                left.stopped()
            })
            .case("opened", post(&pull("/action", json!("opened"))), |left| left.stopped())
            .case("an issue", post(r#"{"action":"closed","issue":{}}"#), |left| left.stopped()),
        scenario("GitHub releases to Teams")
            .case("without a name", post(&payload("github_release.json")), |left| {
                left.json(card("octo/repo v1.2.0", &format!("[v1.2.0]({url}) by octocat")))
            })
            .case("with a name", post(&release("/release/name", json!("Spring"))), |left| {
                left.json(card("octo/repo v1.2.0", &format!("[Spring]({url}) by octocat")))
            })
            .case("a preview", post(&release("/release/prerelease", json!(true))), |left| {
                left.stopped()
            })
            .case("a draft", post(&release("/action", json!("created"))), |left| left.stopped()),
    ]
}
