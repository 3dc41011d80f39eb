//! Who may call.

use std::time::{Duration, Instant};

use super::harness::{Answer, Server};

/// `whr:` and a key in base64, made by the standard tool.
async fn basic(user: &str, key: &str) -> String {
    let script = "printf %s \"$0\" | base64 -w0";
    let output = tokio::process::Command::new("sh")
        .args(["-c", script, &format!("{user}:{key}")])
        .output()
        .await
        .expect("sh starts");
    format!("Basic {}", String::from_utf8(output.stdout).expect("base64 is text"))
}

#[tokio::test]
async fn a_key_comes_as_bearer_or_basic() {
    let server = Server::start().await;
    let basic = basic("whr", &server.key).await;
    for value in [format!("Bearer {}", server.key), format!("bearer {}", server.key), basic] {
        let request = server.anonymous("GET", "/v1/buckets").header("authorization", &value);
        request.send().await.expect(200);
    }
}

#[tokio::test]
async fn everything_else_is_401_on_every_operation() {
    let server = Server::start().await;
    let wrong_user = basic("someone", &server.key).await;
    let cut = format!("Bearer {}", &server.key[..server.key.len() - 1]);
    let longer = format!("Bearer {}x", server.key);
    let upper = format!("Bearer {}", server.key.to_uppercase());
    let bare = server.key.clone();
    let values =
        ["", "Bearer", "Bearer sk-", "Basic %%", &bare, &cut, &longer, &upper, &wrong_user];
    for value in values {
        let request = server.anonymous("GET", "/v1/buckets").header("authorization", value);
        let answer = request.send().await.expect_error(401, "unauthorized");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    for (method, path) in [
        ("GET", "/v1/buckets"),
        ("POST", "/v1/buckets"),
        ("GET", "/v1/buckets/x"),
        ("PUT", "/v1/buckets/x"),
        ("DELETE", "/v1/buckets/x"),
        ("POST", "/v1/buckets/x/inputs"),
        ("PUT", "/v1/buckets/x/inputs/y"),
        ("DELETE", "/v1/buckets/x/inputs/y"),
        ("POST", "/v1/buckets/x/outputs"),
        ("PUT", "/v1/buckets/x/outputs/y"),
        ("DELETE", "/v1/buckets/x/outputs/y"),
        ("PUT", "/v1/buckets/x/outputs/y/rules"),
        ("DELETE", "/v1/buckets/x/outputs/y/rules"),
        ("GET", "/v1/config"),
    ] {
        server.anonymous(method, path).send().await.expect_error(401, "unauthorized");
    }
}

#[tokio::test]
async fn secrets_are_not_logged() {
    let server = Server::start_with(&[("WEBHOOK_LOG", "trace")]).await;
    let spec = serde_json::json!({"name": "b", "auth": {"type": "token", "token": "s3cret-t0ken"}});
    server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201);
    let wrong = server.anonymous("GET", "/v1/buckets").header("authorization", "Bearer sk-wr0ng");
    wrong.send().await.expect(401);
    let log = server.log();
    assert!(log.contains("listening"), "there is a log");
    for secret in [server.key.as_str(), "s3cret-t0ken", "sk-wr0ng"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

/// A request with a wrong key, which somebody behind a proxy sends.
async fn wrong(server: &Server, from: &str) -> (Answer, Duration) {
    let started = Instant::now();
    let request = server.anonymous("GET", "/v1/buckets").header("x-forwarded-for", from);
    let answer = request.header("authorization", "Bearer sk-wrong").send().await;
    (answer, started.elapsed())
}

async fn right(server: &Server, from: &str) -> Duration {
    let started = Instant::now();
    server.request("GET", "/v1/buckets").header("x-forwarded-for", from).send().await.expect(200);
    started.elapsed()
}

#[tokio::test]
async fn wrong_credentials_are_slowed_down_and_right_ones_are_not() {
    const DELAY: Duration = Duration::from_secs(4);
    let server = Server::start_with(&[
        ("WEBHOOK_WRONG_CREDENTIALS", "3"),
        ("WEBHOOK_WRONG_CREDENTIALS_DELAY", "4s"),
        ("WEBHOOK_TRUSTED_PROXIES", "127.0.0.1"),
    ])
    .await;
    let (here, elsewhere) = ("203.0.113.1", "203.0.113.2");
    for _ in 0..3 {
        let (answer, took) = wrong(&server, here).await;
        answer.expect_error(401, "unknown API key");
        assert!(took < DELAY, "{took:?}");
    }
    let (answer, took) = wrong(&server, here).await;
    answer.expect_error(401, "unknown API key");
    assert!(took >= DELAY, "{took:?}");
    // A key that was never shown before.
    let took = right(&server, here).await;
    assert!(took < DELAY, "{took:?}");

    let many = futures_util::future::join_all((0..10).map(|_| wrong(&server, here)));
    let others = async {
        tokio::time::sleep(DELAY / 4).await;
        let (answer, took) = wrong(&server, elsewhere).await;
        answer.expect_error(401, "unknown API key");
        (took, right(&server, here).await)
    };
    let (many, (elsewhere, right)) = tokio::join!(many, others);
    assert!(elsewhere < DELAY && right < DELAY, "{elsewhere:?} {right:?}");
    let (refused, held_back): (Vec<_>, Vec<_>) =
        many.into_iter().partition(|(answer, _)| answer.status == 429);
    assert_eq!((refused.len(), held_back.len()), (6, 4));
    for (answer, took) in refused {
        let answer = answer.expect_error(429, "too many wrong credentials");
        let after: u64 = answer.header("retry-after").parse().expect("seconds");
        assert!((1..=4).contains(&after) && took < DELAY, "{after} {took:?}");
    }
    for (answer, took) in held_back {
        assert!(answer.status == 401 && took >= DELAY, "{answer:?} {took:?}");
    }
    // Who shows nothing guesses nothing.
    let nothing = server.anonymous("GET", "/v1/buckets").header("x-forwarded-for", here);
    nothing.send().await.expect_error(401, "no Authorization header");
}
