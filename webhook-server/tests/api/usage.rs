//! `/v1/usage`, and that plans hold.

use serde_json::{Value, json};

use super::{
    harness::{Answer, Server, default_input, id},
    send,
    stripe::{PLANS, Shop, subscription},
    token,
};

const PATH: &str = "/v1/usage";

async fn limited() -> Server {
    Server::start_with(&[("WEBHOOK_PLANS", PLANS)]).await
}

async fn post(server: &Server, path: &str, body: Value) -> Answer {
    server.request("POST", path).json(&body).send().await
}

async fn output(server: &Server, bucket: &Value, name: &str) -> Answer {
    let spec = json!({"name": name, "destination": "https://example.com/"});
    post(server, &format!("/v1/buckets/{}/outputs", id(bucket)), spec).await
}

#[tokio::test]
async fn usage_counts_what_there_is() {
    let server = Server::start().await;
    let before = server.get(PATH).await.expect(200).json();
    let counts = |usage: &Value| {
        ["agents", "buckets", "inputs", "outputs", "tokens", "tunnels", "webhooks"]
            .map(|field| usage["usage"][field].as_u64().expect(field))
    };
    assert_eq!(counts(&before), [0; 7]);
    assert_eq!(before["plan_meta"], json!({"name": "unlimited"}));
    let created_at = before["usage"]["created_at"].as_str().expect("text");
    assert!(created_at.ends_with("-01T00:00:00Z"), "{created_at}");

    let first = server.bucket("first").await;
    let second = server.bucket("second").await;
    output(&server, &first, "a").await.expect(201);
    output(&server, &first, "b").await.expect(201);
    output(&server, &second, "a").await.expect(201);
    token(&server, json!({})).await;
    // With two outputs it makes two logs, but is one webhook.
    send(&server, &first, "x").await;
    let spare = server.bucket("spare").await;
    send(&server, &spare, "x").await;
    server
        .request("DELETE", &format!("/v1/buckets/{}?force=true", id(&spare)))
        .send()
        .await
        .expect(200);
    let after = server.get(PATH).await.expect(200).json();
    assert_eq!(counts(&after), [0, 2, 2, 3, 1, 0, 2]);
    assert_eq!(after["usage"]["account_id"], first["account_id"]);
}

#[tokio::test]
async fn what_the_plan_includes_is_shown() {
    let server = limited().await;
    let usage = server.get(PATH).await.expect(200).json();
    let expected = json!({
        "name": "free", "agents": 1, "buckets": 2, "inputs": 2, "outputs": 1,
        "reserved_domains": -1, "tokens": 1, "webhooks": 3,
    });
    assert_eq!(usage["plan_meta"], expected);
}

#[tokio::test]
async fn used_up_outputs_are_a_402_and_everything_else_a_412() {
    let server = limited().await;
    let first = server.bucket("first").await;
    let output_a = output(&server, &first, "a").await.expect(201).json();
    let said = "the plan \"free\" includes 1 outputs, and all are in use";
    output(&server, &first, "b").await.expect_error(402, said);

    let second = server.bucket("second").await;
    output(&server, &second, "a").await.expect_error(402, said);
    let third = post(&server, "/v1/buckets", json!({"name": "third"})).await;
    third.expect_error(412, "includes 2 buckets");
    let inputs = format!("/v1/buckets/{}/inputs", id(&first));
    post(&server, &inputs, json!({"name": "a"})).await.expect_error(412, "includes 2 inputs");
    token(&server, json!({})).await;
    post(&server, "/v1/tokens", json!({})).await.expect_error(412, "includes 1 access tokens");

    // What there is can be changed, and room that is made can be used.
    let path = format!("/v1/buckets/{}/outputs/{}", id(&first), id(&output_a));
    let spec = json!({"destination": "https://example.com/b"});
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    server.request("DELETE", &path).send().await.expect(200);
    output(&server, &second, "a").await.expect(201);
}

#[tokio::test]
async fn many_at_once_stay_within_the_plan() {
    let server = limited().await;
    let (first, second) = (server.bucket("first").await, server.bucket("second").await);
    let (server, first, second) = (&server, &first, &second);
    let names: Vec<_> = (0..8).map(|number| number.to_string()).collect();
    let requests = names.iter().flat_map(|name| [first, second].map(|bucket| (bucket, name)));
    let answers = futures_util::future::join_all(
        requests.map(|(bucket, name)| async move { output(server, bucket, name).await.status }),
    );
    let answers = answers.await;
    assert_eq!(answers.iter().filter(|status| status.as_u16() == 201).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|status| [201, 402].contains(&status.as_u16())));
}

#[tokio::test]
async fn used_up_webhooks_are_a_429_until_the_plan_changes() {
    let shop = Shop::open().await;
    let server = &shop.server;
    let details = json!({"email": "jo@example.com"});
    shop.send("PUT", "/v1/billing-details", details).await.expect(200);
    let bucket = server.bucket("b").await;
    for _ in 0..3 {
        send(server, &bucket, "x").await;
    }
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    let refused = server.anonymous("POST", &path).body("x").send().await;
    let refused = refused.expect_error(429, "includes 3 webhooks a month");
    let after: u64 = refused.header("retry-after").parse().expect("seconds");
    assert!((1..=3600).contains(&after), "{after}");
    assert_eq!(server.get(PATH).await.json()["usage"]["webhooks"], 3);

    shop.subscribed(subscription("sub_1", "active", "price_pro", 1), "evt_1").await.expect(200);
    send(server, &bucket, "x").await;
    assert_eq!(server.get(PATH).await.json()["usage"]["webhooks"], 4);
    shop.subscribed(subscription("sub_1", "unpaid", "price_pro", 1), "evt_2").await.expect(200);
    server.anonymous("POST", &path).body("x").send().await.expect(429);
}

/// Whoever knows an address could use up the month otherwise.
#[tokio::test]
async fn refused_webhooks_use_up_nothing_and_few_are_kept() {
    for (kept, most) in [(0, "0"), (2, "2")] {
        let options = [("WEBHOOK_PLANS", PLANS), ("WEBHOOK_REFUSED_LOGS_PER_HOUR", most)];
        let server = Server::start_with(&options).await;
        let bucket = server.bucket("b").await;
        let secrets = json!([{"secret": "a-token-of-ours"}]);
        let signature = json!({"provider": "gitlab", "secrets": secrets});
        server.set_default_input(&bucket, json!({"signature": signature})).await;
        let path = format!("/v1/webhooks/{}", default_input(&bucket));
        let post = async |token: &str| {
            let request = server.anonymous("POST", &path).header("x-gitlab-token", token);
            request.body("{}").send().await
        };
        for _ in 0..5 {
            post("a-token-of-theirs").await.expect(401);
        }
        assert_eq!(server.get(PATH).await.json()["usage"]["webhooks"], 0);
        for _ in 0..3 {
            post("a-token-of-ours").await.expect(200);
        }
        post("a-token-of-ours").await.expect(429);
        let usage = server.get(PATH).await.json();
        assert_eq!(usage["usage"]["webhooks"], 3, "{usage}");
        let refused = server.get("/v1/logs?reason=signature").await.expect(200).json();
        assert_eq!(refused["data"].as_array().map(Vec::len), Some(kept));
        let verified = server.get("/v1/logs?verified=true").await.expect(200).json();
        assert_eq!(verified["data"].as_array().map(Vec::len), Some(3));
    }
}

#[tokio::test]
async fn the_count_of_webhooks_outlives_the_server_and_the_logs() {
    let mut server = limited().await;
    let bucket = server.bucket("b").await;
    for _ in 0..3 {
        send(&server, &bucket, "x").await;
    }
    assert!(server.terminate().await.success());
    let server = server.restart().await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    server.anonymous("POST", &path).body("x").send().await.expect(429);
    assert_eq!(server.get(PATH).await.json()["usage"]["webhooks"], 3);
}

#[tokio::test]
async fn the_account_as_a_whole_is_wanted() {
    let server = Server::start().await;
    server.anonymous("GET", PATH).send().await.expect_error(401, "");
    server.bucket("b").await;
    let scoped = token(&server, json!({"scopes": {"buckets": ["b"]}})).await;
    let request = server.anonymous("GET", PATH).header("authorization", &scoped);
    request.send().await.expect_error(403, "not the account");
}
