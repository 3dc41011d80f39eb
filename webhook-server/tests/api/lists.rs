//! `limit` and `offset` of lists, and how fast a list grows.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    harness::{Answer, Server, id},
    token,
};

async fn make(server: &Server, path: &str, spec: Value) -> Value {
    server.request("POST", path).json(&spec).send().await.expect(201).json()
}

/// The queries of a list of six members, and the members that each finds.
const PAGES: [(&str, Range<usize>); 8] = [
    ("limit=2", 0..2),
    ("offset=4", 4..6),
    ("limit=2&offset=1", 1..3),
    ("offset=5&limit=9", 5..6),
    ("offset=6", 6..6),
    ("limit=100000&offset=1000000000", 6..6),
    ("limit=100000", 0..6),
    ("limit=&offset=&page=2", 0..6),
];

/// Pages of the list at `path` are its parts, and anything else is refused by its name.
async fn expect_pages(server: &Server, path: &str) {
    let all = server.get(path).await.expect(200).json();
    let all = all.as_array().expect("a list");
    assert_eq!(all.len(), 6, "{path}");
    let get = async |query: &str| server.get(&format!("{path}?{query}")).await;
    for (query, part) in PAGES {
        let page = get(query).await.expect(200).json();
        assert_eq!(page.as_array().expect("a list"), &all[part], "{path}?{query}");
    }
    for wrong in ["0", "-1", "ten", "1.5", "100001", "99999999999999999999"] {
        let said = "limit: must be a whole number from 1 to 100000";
        get(&format!("limit={wrong}")).await.expect_error(400, said);
    }
    for wrong in ["-1", "x", "1000000001"] {
        let said = "offset: must be a whole number from 0 to 1000000000";
        get(&format!("offset={wrong}")).await.expect_error(400, said);
    }
    get("limit=1&limit=2").await.expect_error(400, "query: ");
}

#[tokio::test]
async fn every_list_has_pages() {
    let server = Server::start().await;
    for number in 0..6 {
        let name = format!("n{number}");
        let bucket = make(&server, "/v1/buckets", json!({ "name": name })).await;
        let output = json!({ "name": name, "destination": "http://127.0.0.1:9" });
        server.output(&bucket, output).await;
    }
    expect_pages(&server, "/v1/buckets").await;
    let first = server.get("/v1/buckets?limit=1").await.expect(200).json();
    assert_eq!(first[0]["inputs"].as_array().map(Vec::len), Some(1));
    assert_eq!(first[0]["outputs"][0]["name"], "n0");

    let mut function = json!(null);
    for number in 0..6 {
        let name = format!("n{number}");
        function =
            make(&server, "/v1/functions", json!({ "name": name, "payload": "local a = 1" })).await;
        make(&server, "/v1/domains", json!({ "domain": format!("{name}.example.com") })).await;
        make(&server, "/v1/tokens", json!({ "description": name })).await;
        let told = json!({ "events": ["delivery.failed"], "to_bucket": "n0" });
        make(&server, "/v1/notifications", told).await;
        let destination = "http://127.0.0.1:9";
        let cron = json!({ "name": name, "schedule": "@daily", "destination": destination });
        // The bucket of its name is there already, so that it gets another one.
        make(&server, "/v1/crons", cron).await;
    }
    let config = format!("/v1/functions/{}/config", id(&function));
    for number in 0..6 {
        let variable = json!({ "key": format!("KEY_{number}"), "value": "v" });
        server.request("PUT", &config).json(&variable).send().await.expect(200);
    }
    for path in ["functions", "domains", "tokens", "notifications", "crons"] {
        expect_pages(&server, &format!("/v1/{path}")).await;
    }
    expect_pages(&server, &config).await;
    let page = server.get("/v1/crons?limit=2&offset=3").await.expect(200).json();
    for cron in page.as_array().expect("a list") {
        assert_eq!(cron["bucket"]["outputs"][0]["cron_id"], cron["id"], "it has its bucket");
    }
}

#[tokio::test]
async fn a_token_gets_pages_of_its_scope() {
    let server = Server::start().await;
    let mut made = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        made.push(server.bucket(name).await);
    }
    // By name and by ID, in another order, one bucket twice, and one name that no bucket has.
    let scope = json!(["e", id(&made[1]), "c", "b", "nobody's"]);
    let token = token(&server, json!({ "scopes": { "buckets": scope } })).await;
    let get = async |query: &str| -> Answer {
        let path = format!("/v1/buckets{query}");
        server.anonymous("GET", &path).header("authorization", &token).send().await
    };
    let reached = json!([made[1], made[2], made[4]]);
    assert_eq!(get("").await.expect(200).json(), reached);
    assert_eq!(get("?limit=2").await.expect(200).json(), json!([made[1], made[2]]));
    assert_eq!(get("?offset=1").await.expect(200).json(), json!([made[2], made[4]]));
    assert_eq!(get("?limit=1&offset=2").await.expect(200).json(), json!([made[4]]));
    assert_eq!(get("?offset=3").await.expect(200).json(), json!([]));
}

/// How many buckets a test makes, one after the other.
const MANY: usize = 3_000;
/// How many of them are timed together.
const BATCH: usize = 50;

#[tokio::test]
async fn the_last_of_many_buckets_is_made_as_fast_as_the_first() {
    let server = Server::start_with(&[("WEBHOOK_MAX_BUCKETS", "3000")]).await;
    let mut took = Vec::new();
    for batch in 0..MANY / BATCH {
        let began = Instant::now();
        for number in 0..BATCH {
            server.bucket(&format!("bucket {batch}-{number}")).await;
        }
        took.push(began.elapsed());
    }
    // Other tests run concurrently: the fastest of several batches says what one costs.
    let fastest = |some: &[Duration]| some.iter().min().copied().expect("batches");
    let (first, last) = (fastest(&took[..20]), fastest(&took[took.len() - 20..]));
    assert!(last < 2 * first, "{first:?} for {BATCH} of the first, {last:?} of the last");
    let page = server.get("/v1/buckets?offset=2999").await.expect(200).json();
    assert_eq!(page[0]["name"], format!("bucket {}-{}", MANY / BATCH - 1, BATCH - 1));
}
