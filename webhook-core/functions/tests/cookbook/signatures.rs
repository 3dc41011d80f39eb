//! The signatures were made by other programs: those of GitHub and Slack stand in
//! their documentation, the rest is from Python's `hmac`.

use crate::scenario::{Given, NOW, Scenario, post, scenario};

const GITHUB: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
const SLACK: &str = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
const SLACK_AT: i64 = 1_531_420_618;
const SLACK_BODY: &str = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow\
&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner\
&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J\
%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
const STRIPE: &str = "54219e81cf5a255b40bcd2a8697cafbea6954f68fc5eb684b7237bd851571db9";
const STRIPE_BODY: &str = r#"{"id":"evt_1","object":"event","type":"charge.succeeded"}"#;
const SHOPIFY: &str = "sKSbZv8L+dRZeQJ/0VYS9YXaccl2oF1A51oji4bh2w0=";
const SHOPIFY_BODY: &str = r#"{"id":820982911946154508,"email":"jon@example.com","note":"ä"}"#;
const MAILGUN: &str = "71519a64ceebcac886ac24bd64b46b80222a8beb21c1789240bdad440569cc91";
const MAILGUN_TOKEN: &str = "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0";
const TOKEN: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJzaG9wLTciLCJhdWQiOiJvcmRlcnMiLCJleHAiOjE3MDkyOTQ0NjB9.2PBBGYVrklaeampeWV_ShHj2SlSkDb41b2DBkfwNt58";
const EXPIRED: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJzaG9wLTciLCJhdWQiOiJvcmRlcnMiLCJleHAiOjE3MDkyOTA4MDB9.bpmBmizxY6f5KC4_Va1yu8xXFYr-_NbJH3gq2ih8OSo";
const OTHER_AUDIENCE: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJzaG9wLTciLCJhdWQiOiJpbnZvaWNlcyIsImV4cCI6MTcwOTI5NDQ2MH0._qR5UonBNQDmDJF1fbM4eM25G2tLTynAkbtREXAiURg";
const FORGED: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJzaG9wLTciLCJhdWQiOiJvcmRlcnMiLCJleHAiOjE3MDkyOTQ0NjB9.fwm7y1KqubAdohWWcX_T3Lsauij4z3KkwBtHAMzjp0c";
const UNSIGNED: &str =
    "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiAic2hvcC03IiwgImF1ZCI6ICJvcmRlcnMifQ.";

fn github(body: &str, signature: &str) -> Given {
    let given = post(body).config("SECRET", "It's a Secret to Everybody");
    given.header("x-hub-signature-256", signature)
}

fn stripe(body: &str, header: &str) -> Given {
    post(body).config("SECRET", "whsec_test").header("stripe-signature", header)
}

fn slack(body: &str, now: i64) -> Given {
    let given = post(body).config("SECRET", "8f742231b10e8888abcd99yyyzzz85a5").at(now);
    given
        .header("content-type", "application/x-www-form-urlencoded")
        .header("x-slack-request-timestamp", &SLACK_AT.to_string())
        .header("x-slack-signature", SLACK)
}

fn shopify(body: &str, signature: &str) -> Given {
    post(body).config("SECRET", "hush").header("x-shopify-hmac-sha256", signature)
}

fn mailgun(timestamp: i64, token: &str, signature: &str) -> Given {
    let body = format!(
        r#"{{"signature":{{"timestamp":"{timestamp}","token":"{token}","signature":"{signature}"}},"event-data":{{}}}}"#
    );
    post(&body).config("SECRET", "key-mailgun")
}

fn bearer(token: &str) -> Given {
    let header = format!("Bearer {token}");
    post("{}").config("SECRET", "jwt secret").header("authorization", &header)
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    vec![
        github_cases(),
        stripe_cases(),
        slack_cases(),
        shopify_cases(),
        mailgun_cases(),
        token_cases(),
    ]
}

fn github_cases() -> Scenario {
    let body = "Hello, World!";
    scenario("Verify a GitHub signature")
        .case("valid", github(body, GITHUB), |left| left)
        .case("another body", github("Hello, World?", GITHUB), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .case("a line more", github("Hello, World!\n", GITHUB), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .case("cut off", github(body, &GITHUB[..60]), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .case("without its prefix", github(body, &GITHUB[7..]), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .case("another secret", github(body, GITHUB).config("SECRET", "x"), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .case("unsigned", post(body).config("SECRET", "x"), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .fails("no secret", post(body), "expected")
}

fn stripe_cases() -> Scenario {
    let valid = format!("t={NOW},v1={STRIPE},v0={}", "0".repeat(64));
    let rolled = format!("t={NOW},v1={},v1={STRIPE}", "0".repeat(64));
    let moved = format!("t={},v1={STRIPE}", NOW + 1);
    let old_scheme = format!("t={NOW},v0={STRIPE}");
    let bare = format!("v1={STRIPE}");
    scenario("Verify a Stripe signature")
        .case("valid", stripe(STRIPE_BODY, &valid), |left| left)
        .case("while the secret is rolled", stripe(STRIPE_BODY, &rolled), |left| left)
        .case("at the edge", stripe(STRIPE_BODY, &valid).at(NOW + 300), |left| left)
        .case("stale", stripe(STRIPE_BODY, &valid).at(NOW + 301), |left| {
            left.answers(400, "too old").stopped()
        })
        .case("from the future", stripe(STRIPE_BODY, &valid).at(NOW - 301), |left| {
            left.answers(400, "too old").stopped()
        })
        .case("another body", stripe("{}", &valid), |left| {
            left.answers(400, "bad signature").stopped()
        })
        .case("another time", stripe(STRIPE_BODY, &moved), |left| {
            left.answers(400, "bad signature").stopped()
        })
        .case("the old scheme only", stripe(STRIPE_BODY, &old_scheme), |left| {
            left.answers(400, "bad signature").stopped()
        })
        .case("no time", stripe(STRIPE_BODY, &bare), |left| {
            left.answers(400, "no timestamp").stopped()
        })
        .case("unsigned", post(STRIPE_BODY).config("SECRET", "x"), |left| {
            left.answers(400, "no timestamp").stopped()
        })
}

fn slack_cases() -> Scenario {
    let unsigned = post(SLACK_BODY).config("SECRET", "x").at(SLACK_AT);
    scenario("Verify a Slack signature")
        .case("valid", slack(SLACK_BODY, SLACK_AT + 30), |left| left)
        .case("stale", slack(SLACK_BODY, SLACK_AT + 301), |left| {
            left.answers(401, "too old").stopped()
        })
        .case("another body", slack("token=x", SLACK_AT), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .case(
            "another time",
            slack(SLACK_BODY, SLACK_AT).header("x-slack-request-timestamp", "1531420619"),
            |left| left.answers(401, "bad signature").stopped(),
        )
        .case(
            "no time at all",
            slack(SLACK_BODY, SLACK_AT).header("x-slack-request-timestamp", "now"),
            |left| left.answers(401, "too old").stopped(),
        )
        .case("unsigned", unsigned, |left| left.answers(401, "too old").stopped())
}

fn shopify_cases() -> Scenario {
    scenario("Verify a Shopify signature")
        .case("valid", shopify(SHOPIFY_BODY, SHOPIFY), |left| left)
        .case("another body", shopify(r#"{"id":1}"#, SHOPIFY), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .case("another case", shopify(SHOPIFY_BODY, &SHOPIFY.to_ascii_lowercase()), |left| {
            left.answers(401, "bad signature").stopped()
        })
        .case("an empty one", shopify(SHOPIFY_BODY, ""), |left| {
            left.answers(401, "bad signature").stopped()
        })
}

fn mailgun_cases() -> Scenario {
    let valid = || mailgun(NOW, MAILGUN_TOKEN, MAILGUN);
    scenario("Verify a Mailgun signature")
        .case("valid", valid(), |left| left)
        .case("stale", valid().at(NOW + 301), |left| left.answers(406, "too old").stopped())
        .case("another token", mailgun(NOW, "b", MAILGUN), |left| {
            left.answers(406, "bad signature").stopped()
        })
        .case("another time", mailgun(NOW + 1, MAILGUN_TOKEN, MAILGUN), |left| {
            left.answers(406, "bad signature").stopped()
        })
        .case("unsigned", post("{}").config("SECRET", "x"), |left| {
            left.answers(406, "no signature").stopped()
        })
        .case("no JSON", post("event=failed").config("SECRET", "x"), |left| {
            left.answers(406, "no signature").stopped()
        })
}

fn token_cases() -> Scenario {
    let mut cases = scenario("Check a bearer token").case("valid", bearer(TOKEN), |left| {
        left.header("x-sender", "shop-7").without("authorization")
    });
    for (name, given) in [
        ("expired", bearer(EXPIRED)),
        ("for somebody else", bearer(OTHER_AUDIENCE)),
        ("forged", bearer(FORGED)),
        ("not signed", bearer(UNSIGNED)),
        ("no token", bearer("")),
        ("no header", post("{}").config("SECRET", "jwt secret")),
        ("another scheme", bearer(TOKEN).header("authorization", "Basic dTpw")),
    ] {
        cases = cases.case(name, given, |left| {
            left.answers(401, "").answer_header("www-authenticate", "Bearer").stopped()
        });
    }
    cases
}
