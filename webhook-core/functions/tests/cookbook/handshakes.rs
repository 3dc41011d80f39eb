use http::Method;

use crate::scenario::{Given, Scenario, post, scenario};

fn verification(query: &str) -> Given {
    post("").method(Method::GET).url("", query).config("VERIFY_TOKEN", "chosen")
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let zoom = |body| post(body).config("SECRET", "zoom secret");
    vec![
        scenario("Answer hub.challenge")
            .case(
                "the right token",
                verification("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=chosen"),
                |left| {
                    left.answers(200, "1158201444")
                        .answer_header("content-type", "text/plain")
                        .stopped()
                },
            )
            .case(
                "another token",
                verification("hub.challenge=1158201444&hub.verify_token=guessed"),
                |left| left.answers(403, "").stopped(),
            )
            .case("no token", verification("hub.challenge=1158201444"), |left| {
                left.answers(403, "").stopped()
            })
            .case("another GET", verification("a=b"), |left| left)
            .case("an event", post(r#"{"object":"page","entry":[]}"#), |left| left),
        scenario("Answer Slack's url_verification")
            .case(
                "the challenge",
                post(r#"{"token":"Jhj5dZrVaK7ZwHHjRyZWjbDl","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}"#),
                |left| {
                    left.answers(200, "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P")
                        .answer_header("content-type", "text/plain")
                        .stopped()
                },
            )
            .case(
                "an event",
                post(r#"{"type":"event_callback","event":{"type":"app_mention"}}"#),
                |left| left,
            )
            .case("a slash command", post("command=%2Fdeploy&text=now"), |left| left),
        scenario("Answer Zoom's endpoint.url_validation")
            .case(
                "the validation",
                zoom(r#"{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1654503849680,"event":"endpoint.url_validation"}"#),
                |left| {
                    left.answers(
                        200,
                        r#"{"encryptedToken":"33c87763eeee7760422d82e566d46fe8b5eaca6c3da5abf7923e6e8765c76a26","plainToken":"qgg8vlvZRS6UYooatFL8Aw"}"#,
                    )
                    .answer_header("content-type", "application/json")
                    .stopped()
                },
            )
            .case("an event", zoom(r#"{"event":"meeting.started","payload":{}}"#), |left| left),
        scenario("Answer a CORS preflight")
            .case("the question of a browser", post("").method(Method::OPTIONS), |left| {
                // A server answers 200 where no status is set.
                left.answers(0, "")
                    .answer_header("access-control-allow-origin", "https://shop.example.com")
                    .answer_header("access-control-allow-headers", "content-type")
                    .stopped()
            })
            .case("an event", post("{}"), |left| left),
    ]
}
