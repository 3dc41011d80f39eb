use http::Method;

use crate::scenario::{Scenario, post, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let event = |name| post("{}").header("x-github-event", name);
    let push = |branch: &str| post(&format!(r#"{{"ref":"refs/heads/{branch}"}}"#));
    let refused = r#"{"error":"the body is not a JSON object"}"#;
    vec![
        scenario("Only POST passes")
            .case("a POST", post("{}"), |left| left)
            .case("a GET", post("").method(Method::GET), |left| left.stopped())
            .case("a PUT", post("{}").method(Method::PUT), |left| left.stopped()),
        scenario("Only paid orders above an amount")
            .case("paid", post(r#"{"status":"paid","total":100}"#), |left| left)
            .case("paid, as text", post(r#"{"status":"paid","total":"149.90"}"#), |left| left)
            .case("too small", post(r#"{"status":"paid","total":99.99}"#), |l| l.stopped())
            .case("open", post(r#"{"status":"open","total":500}"#), |left| left.stopped())
            .case("without a total", post(r#"{"status":"paid"}"#), |left| left.stopped())
            .case("a list", post("[1]"), |left| left.stopped())
            .case("no JSON", post("status=paid"), |left| left.stopped()),
        scenario("Only some events, by header")
            .case("a push", event("push"), |left| left)
            .case("a release", event("release"), |left| left)
            .case("a star", event("star"), |left| left.stopped())
            .case("a name of every object", event("constructor"), |left| left.stopped())
            .case("no event", post("{}"), |left| left.stopped()),
        scenario("Only pushes to release branches")
            .case("a release", push("release/1.10"), |left| left.header("x-release", "1.10"))
            .case("main", push("main"), |left| left.stopped())
            .case("a longer name", push("release/1.10-rc"), |left| left.stopped())
            .case("no branch", post("{}"), |left| left.stopped()),
        scenario("Refuse what is not JSON")
            .case("an object", post(r#"{"a":1}"#), |left| left)
            .case("cut off", post(r#"{"a":1"#), |left| {
                left.answers(400, refused)
                    .answer_header("content-type", "application/json")
                    .stopped()
            })
            .case("a number", post("7"), |left| {
                left.answers(400, refused)
                    .answer_header("content-type", "application/json")
                    .stopped()
            })
            .case("nothing", post(""), |left| {
                left.answers(400, refused)
                    .answer_header("content-type", "application/json")
                    .stopped()
            }),
    ]
}
